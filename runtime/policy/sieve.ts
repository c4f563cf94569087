import type { PolicyNode } from './node-list.ts';
import { NodeList } from './node-list.ts';
import { certain, NodePolicy } from './node-policy.ts';

/**
 * SIEVE (Zhang et al., "SIEVE is Simpler than LRU", NSDI 2024, section 3.1, algorithm 1), with sizes in bytes: a hit
 * only sets a mark; a hand walks from the oldest resident to the newest, clears the marks that it meets and evicts the
 * first resident without one. Survivors keep their place.
 */
export class Sieve<K = string> extends NodePolicy<K> {
  readonly #list = new NodeList<K>();
  /** Where the next search begins; undefined: at the oldest. */
  #hand: PolicyNode<K> | undefined = undefined;

  protected hit(node: PolicyNode<K>): void {
    node.mark = 1;
  }

  protected place(node: PolicyNode<K>): void {
    this.#list.addNewest(node);
  }

  /** Ends within two rounds: the first clears every mark. */
  protected evict(incoming: PolicyNode<K>): PolicyNode<K> {
    let candidate = certain(this.#hand ?? this.#list.oldest);
    while (candidate.mark !== 0 || candidate === incoming) {
      if (candidate !== incoming) candidate.mark = 0;
      candidate = certain(candidate.newer ?? this.#list.oldest);
    }
    this.#hand = candidate.newer;
    this.#list.remove(candidate);
    return candidate;
  }

  protected unlink(node: PolicyNode<K>): void {
    if (this.#hand === node) this.#hand = node.newer;
    this.#list.remove(node);
  }

  protected residents(): PolicyNode<K>[] {
    return NodeList.nodesOf(this.#list);
  }

  protected forget(): void {
    this.#list.clear();
    this.#hand = undefined;
  }
}
