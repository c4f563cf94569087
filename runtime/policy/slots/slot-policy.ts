import { grown, ringCells, SLOTS_FIRST } from './slot-rings.ts';

/** A slot's state, for every policy: nothing is known of it. */
export const UNKNOWN = 0;
/** Remembered, not resident; the states between are the policy's own kinds of residents. */
export const GONE = 3;
/** The cell of a slot that holds its state; the two before it are its place in a list. */
export const STATE = 2;

/** Told of slots that mean nothing to a policy any more. */
export interface SlotOwner {
  /** A victim that isn't remembered, or one that was and no longer is. */
  forgotten(slot: number): void;
}

/**
 * The rules of a policy over slots, numbers that stand for keys, in arrays and without an object a key: what ghosts are
 * made of, and what policies of nodes with a memory are built on. The owner gives out slots and calls `grow` before a
 * slot passes the arrays.
 */
export abstract class SlotPolicy {
  bytesMax: number;
  /** Sum of the residents' bytes. */
  bytes = 0;
  /** Number of residents. */
  size = 0;
  /** All that is kept of a slot but its charge: `1 << shift` cells, the state at `STATE`. */
  protected cells: Int32Array;
  /** What each known slot is charged with. */
  protected charges = new Float64Array(SLOTS_FIRST);
  protected readonly owner: SlotOwner;
  readonly #shift: number;
  readonly #ringOffsets: readonly number[];

  /** `ringOffsets`: the places within a slot's cells by which it is in lists. */
  constructor(bytesMax: number, owner: SlotOwner, shift: number, ringOffsets: readonly number[]) {
    this.bytesMax = bytesMax;
    this.owner = owner;
    this.#shift = shift;
    this.#ringOffsets = ringOffsets;
    this.cells = ringCells(1 << shift, ringOffsets);
  }

  /** Slots that the arrays have room for. */
  get slots(): number {
    return this.charges.length;
  }

  /** `UNKNOWN`, `GONE`, or a kind of resident. */
  stateOf(slot: number): number {
    return this.cells[(slot << this.#shift) + STATE]!;
  }

  /** What a cache would do that asks for the key and stores it on a miss; 1: it was resident. */
  ask(slot: number, bytes: number): 0 | 1 {
    const state = this.stateOf(slot);
    if (state === UNKNOWN || state === GONE) {
      if (bytes <= this.bytesMax) this.#insert(slot, bytes, state === GONE);
      return 0;
    }
    const more = bytes - this.charges[slot]!;
    if (more === 0) {
      this.hit(slot);
    } else if (bytes > this.bytesMax) {
      this.forget(slot);
    } else {
      this.hit(slot);
      this.#makeRoom(more, slot);
      this.bytes += more;
      this.resize(slot, bytes);
    }
    return 1;
  }

  /** Forgets a slot that is known, resident or not. */
  forget(slot: number): void {
    if (this.stateOf(slot) === GONE) {
      this.recall(slot);
    } else {
      this.size -= 1;
      this.bytes -= this.charges[slot]!;
      this.unlink(slot);
    }
    this.owner.forgotten(slot);
  }

  /** A slot becomes resident; there is room for it. `isKnown`: it was remembered. */
  admit(slot: number, bytes: number, isKnown: boolean): void {
    this.size += 1;
    this.bytes += bytes;
    this.charges[slot] = bytes;
    this.place(slot, isKnown);
  }

  /** Turns one resident out, which isn't `keep`, and perhaps remembers it. */
  turnOut(keep: number): number {
    const victim = this.evict(keep);
    this.size -= 1;
    this.bytes -= this.charges[victim]!;
    return victim;
  }

  grow(slots: number): void {
    const { charges } = this;
    this.cells = grown(this.cells, slots << this.#shift);
    this.charges = new Float64Array(slots);
    this.charges.set(charges);
  }

  clear(): void {
    this.bytes = 0;
    this.size = 0;
    this.cells = ringCells(1 << this.#shift, this.#ringOffsets);
    this.charges = new Float64Array(SLOTS_FIRST);
  }

  /** A resident was asked for. */
  abstract hit(slot: number): void;

  /** What is remembered isn't any more. */
  abstract recall(slot: number): void;

  /** A resident leaves without a trace. */
  abstract unlink(slot: number): void;

  abstract resize(slot: number, bytes: number): void;

  protected abstract place(slot: number, isKnown: boolean): void;

  protected abstract evict(keep: number): number;

  #insert(slot: number, bytes: number, isKnown: boolean): void {
    if (isKnown) this.recall(slot);
    this.#makeRoom(bytes, slot);
    this.admit(slot, bytes, isKnown);
  }

  #makeRoom(bytes: number, keep: number): void {
    while (this.bytes + bytes > this.bytesMax) this.turnOut(keep);
  }
}
