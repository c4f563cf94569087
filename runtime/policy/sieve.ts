import { ListPolicy } from './list-policy.ts';
import type { PolicyNode } from './node-list.ts';
import { certain } from './node-policy.ts';

/**
 * SIEVE (Zhang et al., "SIEVE is Simpler than LRU", NSDI 2024, section 3.1, algorithm 1), with sizes in bytes: a hit
 * only sets a mark; a hand walks from the oldest resident to the newest, clears the marks that it meets and evicts the
 * first resident without one. Survivors keep their place.
 */
export class Sieve<K = string> extends ListPolicy<K> {
  /** Where the next search begins; undefined: at the oldest. */
  #hand: PolicyNode<K> | undefined = undefined;

  protected hit(node: PolicyNode<K>): void {
    node.mark = 1;
  }

  /** Ends within two rounds: the first clears every mark. */
  protected override evict(incoming: PolicyNode<K>): PolicyNode<K> {
    let candidate = certain(this.#hand ?? this.list.oldest);
    while (candidate.mark !== 0 || candidate === incoming) {
      if (candidate !== incoming) candidate.mark = 0;
      candidate = certain(candidate.newer ?? this.list.oldest);
    }
    this.#hand = candidate.newer;
    this.list.remove(candidate);
    return candidate;
  }

  protected override unlink(node: PolicyNode<K>): void {
    if (this.#hand === node) this.#hand = node.newer;
    super.unlink(node);
  }

  protected override forget(): void {
    super.forget();
    this.#hand = undefined;
  }
}
