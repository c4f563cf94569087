import type { PolicyHints } from './eviction-policy.ts';
import type { PolicyNode } from './node-list.ts';
import { certain, NodePolicy } from './node-policy.ts';
import { PriorityHeap, RankedNode } from './priority-heap.ts';

/**
 * A policy that gives each resident a worth and turns out the least one. Worth ages as in GreedyDual: what leaves raises
 * the floor from which later worths count.
 */
export abstract class RankedPolicy<K> extends NodePolicy<K> {
  protected readonly heap = new PriorityHeap<K>();
  #floor = 0;

  protected override recall(key: K, bytes: number, hints: PolicyHints<K> | undefined): PolicyNode<K> {
    const node = new RankedNode(key, bytes);
    node.cost = hints?.cost ?? 1;
    return node;
  }

  protected hit(node: PolicyNode<K>): void {
    this.used(node as RankedNode<K>);
    this.#rank(node as RankedNode<K>);
  }

  protected place(node: PolicyNode<K>): void {
    this.came(node as RankedNode<K>);
    this.#rank(node as RankedNode<K>);
  }

  protected evict(incoming: PolicyNode<K>): PolicyNode<K> {
    const victim = certain(this.heap.leastBut(incoming)) as RankedNode<K>;
    this.#floor = Math.max(this.#floor, victim.priority);
    this.heap.remove(victim);
    return victim;
  }

  protected override unlink(node: PolicyNode<K>): void {
    this.heap.remove(node as RankedNode<K>);
  }

  protected override resize(node: PolicyNode<K>, bytes: number): void {
    node.bytes = bytes;
    this.#rank(node as RankedNode<K>);
  }

  protected forget(): void {
    this.heap.clear();
    this.#floor = 0;
  }

  /** What a resident is worth now, beside its age. */
  protected abstract worth(node: RankedNode<K>): number;

  protected abstract used(node: RankedNode<K>): void;

  protected abstract came(node: RankedNode<K>): void;

  #rank(node: RankedNode<K>): void {
    this.heap.set(node, this.#floor + this.worth(node));
  }
}
