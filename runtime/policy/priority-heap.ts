import { assert } from '../errors.ts';
import { PolicyNode } from './node-list.ts';

/** A node that a `PriorityHeap` orders; its slot is its place in the heap. */
export class RankedNode<K> extends PolicyNode<K> {
  /** The least goes first. */
  priority = 0;
  /** Of equal priorities the one that was set first goes first. */
  order = 0;
  cost = 1;
}

/** A binary heap of nodes with the least priority on top; `set` and `remove` are O(log n). */
export class PriorityHeap<K> {
  readonly #nodes: RankedNode<K>[] = [];
  #order = 0;

  get size(): number {
    return this.#nodes.length;
  }

  get least(): RankedNode<K> | undefined {
    return this.#nodes[0];
  }

  /** The least that isn't `keep`. */
  leastBut(keep: PolicyNode<K>): RankedNode<K> | undefined {
    const [least, left, right] = this.#nodes;
    if (least !== keep) return least;
    if (left === undefined || right === undefined) return left ?? right;
    return isBefore(left, right) ? left : right;
  }

  set(node: RankedNode<K>, priority: number): void {
    assert(!Number.isNaN(priority), 'a priority is a number');
    this.#order += 1;
    node.priority = priority;
    node.order = this.#order;
    if (node.slot === -1) {
      node.slot = this.#nodes.length;
      this.#nodes.push(node);
    }
    this.#rise(node);
    this.#sink(node);
  }

  remove(node: RankedNode<K>): void {
    assert(this.#nodes[node.slot] === node, 'a node leaves the heap that it is in');
    const last = this.#nodes.pop() as RankedNode<K>;
    if (last !== node) {
      last.slot = node.slot;
      this.#nodes[last.slot] = last;
      this.#rise(last);
      this.#sink(last);
    }
    node.slot = -1;
  }

  clear(): void {
    this.#nodes.length = 0;
  }

  #rise(node: RankedNode<K>): void {
    while (node.slot > 0) {
      const parent = this.#nodes[(node.slot - 1) >> 1] as RankedNode<K>;
      if (!isBefore(node, parent)) return;
      this.#swap(node, parent);
    }
  }

  #sink(node: RankedNode<K>): void {
    for (;;) {
      const left = this.#nodes[2 * node.slot + 1];
      const right = this.#nodes[2 * node.slot + 2];
      if (left === undefined) return;
      const child = right !== undefined && isBefore(right, left) ? right : left;
      if (!isBefore(child, node)) return;
      this.#swap(child, node);
    }
  }

  #swap(upper: RankedNode<K>, lower: RankedNode<K>): void {
    const { slot } = upper;
    upper.slot = lower.slot;
    lower.slot = slot;
    this.#nodes[upper.slot] = upper;
    this.#nodes[lower.slot] = lower;
  }
}

function isBefore<K>(left: RankedNode<K>, right: RankedNode<K>): boolean {
  return left.priority === right.priority ? left.order < right.order : left.priority < right.priority;
}
