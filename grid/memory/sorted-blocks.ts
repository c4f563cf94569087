const BLOCK_ITEMS_MAX = 256;

/** Negative, zero or positive, as for `Array.sort`; must tell any two members apart. */
export type Compare<P> = (left: P, right: P) => number;

/**
 * A sorted sequence of distinct members, held in blocks of bounded length: inserting, removing and seeking cost two
 * binary searches and one short move however long the sequence is. Members that come in ascending order fill blocks
 * whole. A probe `P` is the part of a member `T` by which it is ordered.
 */
export class SortedBlocks<P, T extends P = P> {
  readonly #compare: Compare<P>;
  #blocks: T[][] = [];
  #size = 0;

  constructor(compare: Compare<P>) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  insert(member: T): void {
    this.#size += 1;
    const at = this.#blockOf(member);
    const block = this.#blocks[at];
    if (block === undefined) {
      this.#blocks.push([member]);
      return;
    }
    const position = this.#positionIn(block, member);
    if (block.length < BLOCK_ITEMS_MAX) block.splice(position, 0, member);
    else if (position === block.length && at === this.#blocks.length - 1) this.#blocks.push([member]);
    else this.#split(at, block, position, member);
  }

  /** True when the member was there. */
  remove(member: T): boolean {
    const at = this.#blockOf(member);
    const block = this.#blocks[at];
    if (block === undefined) return false;
    const position = this.#positionIn(block, member);
    const found = block[position];
    if (found === undefined || this.#compare(found, member) !== 0) return false;
    block.splice(position, 1);
    this.#size -= 1;
    if (block.length <= BLOCK_ITEMS_MAX / 4) this.#shrink(at, block);
    return true;
  }

  /** Members at or after `probe`, in order. The sequence must not change during the iteration. */
  *from(probe: P): Generator<T> {
    let at = this.#blockOf(probe);
    const first = this.#blocks[at];
    if (first === undefined) return;
    let position = this.#positionIn(first, probe);
    for (; at < this.#blocks.length; at += 1, position = 0) {
      const block = this.#blocks[at] as T[];
      for (; position < block.length; position += 1) yield block[position] as T;
    }
  }

  clear(): void {
    this.#blocks = [];
    this.#size = 0;
  }

  /** Index of the last block whose first member isn't after `probe`; 0 when there is none. */
  #blockOf(probe: P): number {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#compare((this.#blocks[middle] as T[])[0] as T, probe) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Index of the first member that isn't before `probe`. */
  #positionIn(block: readonly T[], probe: P): number {
    let low = 0;
    let high = block.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(block[middle] as T, probe) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #split(at: number, block: T[], position: number, member: T): void {
    const half = BLOCK_ITEMS_MAX / 2;
    const upper = block.splice(half);
    if (position <= half) block.splice(position, 0, member);
    else upper.splice(position - half, 0, member);
    this.#blocks.splice(at + 1, 0, upper);
  }

  /** Keeps sparse blocks from adding up: one that emptied goes, one that thinned out joins a neighbour with room. */
  #shrink(at: number, block: T[]): void {
    if (block.length === 0) {
      this.#blocks.splice(at, 1);
      return;
    }
    const next = this.#blocks[at + 1];
    if (next !== undefined && next.length + block.length <= BLOCK_ITEMS_MAX / 2) {
      this.#blocks.splice(at, 2, block.concat(next));
      return;
    }
    const previous = this.#blocks[at - 1];
    if (previous !== undefined && previous.length + block.length <= BLOCK_ITEMS_MAX / 2)
      this.#blocks.splice(at - 1, 2, previous.concat(block));
  }
}
