import type { PolicyHints } from './eviction-policy.ts';
import { ListPolicy } from './list-policy.ts';
import { PolicyNode } from './node-list.ts';
import { certain, oldestBut } from './node-policy.ts';

/** A block of a chain, with the block before it. */
class ChainNode<K> extends PolicyNode<K> {
  parent: ChainNode<K> | undefined = undefined;
}

/**
 * LRU for the blocks of prefix chains, where a block is of use only with all blocks before it: a block takes its place in
 * the order of recency right behind its parent, so that of a chain the end leaves first and the beginning last (the rule
 * of the radix tree of Zheng et al., "SGLang: Efficient Execution of Structured Language Model Programs", NeurIPS 2024,
 * section 3, kept in a list). Without `parent` hints it is LRU.
 */
export class PrefixLru<K = string> extends ListPolicy<K> {
  readonly #nodes = new Map<K, ChainNode<K>>();

  protected override recall(key: K, bytes: number, hints: PolicyHints<K> | undefined): PolicyNode<K> {
    const node = new ChainNode(key, bytes);
    if (hints?.parent !== undefined) node.parent = this.#nodes.get(hints.parent);
    return node;
  }

  protected hit(node: PolicyNode<K>): void {
    this.list.remove(node);
    this.#add(node as ChainNode<K>);
  }

  protected override place(node: PolicyNode<K>): void {
    this.#nodes.set(node.key, node as ChainNode<K>);
    this.#add(node as ChainNode<K>);
  }

  protected override evict(incoming: PolicyNode<K>): PolicyNode<K> {
    // The parent of what comes in stays as long as anything else can go.
    let victim = oldestBut(this.list, incoming);
    if (victim !== undefined && victim === (incoming as ChainNode<K>).parent) {
      const next = victim.newer === incoming ? incoming.newer : victim.newer;
      victim = next ?? victim;
    }
    this.unlink(certain(victim));
    return certain(victim);
  }

  protected override unlink(node: PolicyNode<K>): void {
    super.unlink(node);
    this.#nodes.delete(node.key);
    (node as ChainNode<K>).parent = undefined;
  }

  protected override forget(): void {
    super.forget();
    this.#nodes.clear();
  }

  #add(node: ChainNode<K>): void {
    if (node.parent !== undefined && !node.parent.resident) node.parent = undefined;
    if (node.parent === undefined) this.list.addNewest(node);
    else this.list.addOlderThan(node.parent, node);
  }
}
