import { assert } from '../../runtime/errors.ts';

/** What an `ExpiryHeap` holds: it keeps its own place, so that it is removed without a search. */
export interface Expiring {
  readonly expiresAtMs: number;
  /** -1 outside the heap. */
  heapIndex: number;
}

/** A binary heap, earliest expiry first; insertion and removal cost O(log n), insertion in order of expiry O(1). */
export class ExpiryHeap<T extends Expiring> {
  #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  get earliest(): T | undefined {
    return this.#members[0];
  }

  insert(member: T): void {
    assert(member.heapIndex === -1, 'a member is inserted once');
    this.#members.push(member);
    this.#rise(member, this.#members.length - 1);
  }

  remove(member: T): void {
    const index = member.heapIndex;
    assert(this.#members[index] === member, 'only a member is removed');
    const last = this.#members.pop() as T;
    member.heapIndex = -1;
    if (last === member) return;
    this.#sink(last, index);
    if (last.heapIndex === index) this.#rise(last, index);
  }

  clear(): void {
    this.#members = [];
  }

  #rise(member: T, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >>> 1;
      const parent = this.#members[parentIndex] as T;
      if (parent.expiresAtMs <= member.expiresAtMs) break;
      this.#place(parent, index);
      index = parentIndex;
    }
    this.#place(member, index);
  }

  #sink(member: T, from: number): void {
    const count = this.#members.length;
    let index = from;
    for (;;) {
      let childIndex = 2 * index + 1;
      if (childIndex >= count) break;
      let child = this.#members[childIndex] as T;
      const right = this.#members[childIndex + 1];
      if (right !== undefined && right.expiresAtMs < child.expiresAtMs) {
        child = right;
        childIndex += 1;
      }
      if (member.expiresAtMs <= child.expiresAtMs) break;
      this.#place(child, index);
      index = childIndex;
    }
    this.#place(member, index);
  }

  #place(member: T, index: number): void {
    this.#members[index] = member;
    member.heapIndex = index;
  }
}
