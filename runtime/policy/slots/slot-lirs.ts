import { assert } from '../../errors.ts';
import { addNewest, addOldest, oldestBut, renew, unlink } from './slot-rings.ts';
import { GONE, type SlotOwner, SlotPolicy, STATE, UNKNOWN } from './slot-policy.ts';

/** States of residents. */
const LIR = 1;
const HIR = 2;

const SHIFT = 3;
/** 1: the slot is in the stack. */
const IN_STACK = 3;
/** Where a slot's place in the stack lies: it is in one of the other lists as well. */
const STACK_PLACE = 4;
/** Heads of the lists. */
const STACK = STACK_PLACE;
const QUEUE = HIR << SHIFT;
const MEMORY = GONE << SHIFT;

export interface LirsOptions {
  /** The share of the bound for residents of high inter-reference recency. */
  readonly hirShare?: number;
  /** Bytes of what is remembered without being resident, as a multiple of the bound. */
  readonly goneBytesRatio?: number;
}

const HIR_SHARE = 0.01;
/** What published simulations allow. */
const GONE_BYTES_RATIO = 2;
/** Bounds what is remembered where keys have few bytes or none. */
const GONE_RATIO = 16;

/** LIRS over slots (see `Lirs`). */
export class SlotLirs extends SlotPolicy {
  #hirShare: number;
  readonly #goneBytesRatio: number;
  #lirBytes = 0;
  #goneBytes = 0;
  #goneSize = 0;

  constructor(bytesMax: number, owner: SlotOwner, options: LirsOptions = {}) {
    super(bytesMax, owner, SHIFT, [0, STACK_PLACE]);
    this.#hirShare = options.hirShare ?? HIR_SHARE;
    this.#goneBytesRatio = options.goneBytesRatio ?? GONE_BYTES_RATIO;
  }

  get lirBytesMax(): number {
    return this.bytesMax * (1 - this.#hirShare);
  }

  /** The share of the bound for residents of high inter-reference recency. */
  set hirShare(share: number) {
    this.#hirShare = share;
    this.prune();
    const { cells } = this;
    while (this.#lirBytes > this.lirBytesMax) {
      const oldest = cells[STACK + 1]!;
      if (oldest === STACK) break;
      const demoted = oldest >> SHIFT;
      this.#demote(demoted);
      // They make room for what is recent, so they leave first.
      unlink(cells, demoted << SHIFT);
      addOldest(cells, QUEUE, demoted << SHIFT);
    }
    for (;;) {
      const place = cells[QUEUE]!;
      const bytes = this.charges[place >> SHIFT]!;
      if (place === QUEUE || this.#lirBytes + bytes > this.lirBytesMax) return;
      unlink(cells, place);
      cells[place + STATE] = LIR;
      this.#lirBytes += bytes;
      if (cells[place + IN_STACK] === 1) continue;
      cells[place + IN_STACK] = 1;
      addOldest(cells, STACK, place + STACK_PLACE);
    }
  }

  hit(slot: number): void {
    const { cells } = this;
    const place = slot << SHIFT;
    if (cells[place + STATE] === LIR) {
      const wasOldest = cells[STACK + 1] === place + STACK_PLACE;
      renew(cells, STACK, place + STACK_PLACE);
      if (wasOldest) this.prune();
      return;
    }
    if (cells[place + IN_STACK] === 0) {
      cells[place + IN_STACK] = 1;
      addNewest(cells, STACK, place + STACK_PLACE);
      renew(cells, QUEUE, place);
      return;
    }
    unlink(cells, place);
    renew(cells, STACK, place + STACK_PLACE);
    this.#raise(slot);
  }

  recall(slot: number): void {
    const { cells } = this;
    const place = slot << SHIFT;
    cells[place + STATE] = UNKNOWN;
    unlink(cells, place);
    this.#goneBytes -= this.charges[slot]!;
    this.#goneSize -= 1;
    cells[place + IN_STACK] = 0;
    unlink(cells, place + STACK_PLACE);
  }

  unlink(slot: number): void {
    const { cells } = this;
    const place = slot << SHIFT;
    const wasLir = cells[place + STATE] === LIR;
    cells[place + STATE] = UNKNOWN;
    if (cells[place + IN_STACK] === 1) this.#leaveStack(place);
    if (wasLir) {
      this.#lirBytes -= this.charges[slot]!;
      this.prune();
    } else {
      unlink(cells, place);
    }
  }

  resize(slot: number, bytes: number): void {
    if (this.stateOf(slot) === LIR) this.#lirBytes += bytes - this.charges[slot]!;
    this.charges[slot] = bytes;
    this.#lower();
  }

  /** The oldest of the stack is a LIR, always: HIRs below it have a recency that no LIR has. */
  prune(): void {
    const { cells } = this;
    for (;;) {
      const oldest = cells[STACK + 1]!;
      if (oldest === STACK) return;
      const place = oldest - STACK_PLACE;
      const state = cells[place + STATE];
      if (state === LIR) return;
      if (state === GONE) {
        const slot = place >> SHIFT;
        this.recall(slot);
        this.owner.forgotten(slot);
      } else {
        this.#leaveStack(place);
      }
    }
  }

  override clear(): void {
    super.clear();
    this.#lirBytes = 0;
    this.#goneBytes = 0;
    this.#goneSize = 0;
  }

  protected place(slot: number, isKnown: boolean): void {
    const { cells } = this;
    const place = slot << SHIFT;
    cells[place + IN_STACK] = 1;
    addNewest(cells, STACK, place + STACK_PLACE);
    if (isKnown) {
      this.#raise(slot);
    } else if (this.#lirBytes + this.charges[slot]! <= this.lirBytesMax) {
      cells[place + STATE] = LIR;
      this.#lirBytes += this.charges[slot]!;
      this.prune();
    } else {
      cells[place + STATE] = HIR;
      addNewest(cells, QUEUE, place);
    }
  }

  protected evict(keep: number): number {
    for (;;) {
      const place = oldestBut(this.cells, QUEUE, keep << SHIFT);
      if (place !== QUEUE) {
        this.#leaveQueue(place);
        return place >> SHIFT;
      }
      this.#demoteOldest(keep << SHIFT);
    }
  }

  #raise(slot: number): void {
    this.cells[(slot << SHIFT) + STATE] = LIR;
    this.#lirBytes += this.charges[slot]!;
    this.#lower();
    this.prune();
  }

  /** Brings the LIRs back under their share. */
  #lower(): void {
    const { cells } = this;
    while (this.#lirBytes > this.lirBytesMax && this.#lirBytes > 0) {
      this.prune();
      const oldest = cells[STACK + 1]!;
      if (cells[oldest + 1] === STACK) return;
      this.#demote(oldest >> SHIFT);
    }
  }

  #demote(slot: number): void {
    const { cells } = this;
    const place = slot << SHIFT;
    this.#lirBytes -= this.charges[slot]!;
    this.#leaveStack(place);
    cells[place + STATE] = HIR;
    addNewest(cells, QUEUE, place);
    this.prune();
  }

  #demoteOldest(keep: number): void {
    const { cells } = this;
    let at = cells[STACK + 1]!;
    while (at !== STACK && (at - STACK_PLACE === keep || cells[at - STACK_PLACE + STATE] !== LIR)) at = cells[at + 1]!;
    assert(at !== STACK, 'what fits the bound fits an empty cache');
    this.#demote(at >> SHIFT);
  }

  #leaveStack(place: number): void {
    this.cells[place + IN_STACK] = 0;
    unlink(this.cells, place + STACK_PLACE);
  }

  /** A victim is remembered as long as it is in the stack. */
  #leaveQueue(place: number): void {
    const { cells } = this;
    unlink(cells, place);
    if (cells[place + IN_STACK] === 0) {
      cells[place + STATE] = UNKNOWN;
      this.owner.forgotten(place >> SHIFT);
      return;
    }
    cells[place + STATE] = GONE;
    addNewest(cells, MEMORY, place);
    this.#goneBytes += this.charges[place >> SHIFT]!;
    this.#goneSize += 1;
    const bytesMax = this.bytesMax * this.#goneBytesRatio;
    const sizeMax = this.size * GONE_RATIO;
    while (this.#goneSize > sizeMax || this.#goneBytes > bytesMax) {
      const oldest = cells[MEMORY + 1]! >> SHIFT;
      this.recall(oldest);
      this.owner.forgotten(oldest);
    }
  }
}
