import { addNewest, oldestBut, renew, unlink } from './slot-rings.ts';
import { GONE, type SlotOwner, SlotPolicy, STATE, UNKNOWN } from './slot-policy.ts';

/** States of residents. */
const SMALL = 1;
const MAIN = 2;

const SHIFT = 2;
/** Hits lately, up to `HITS_MAX`. */
const HITS = 3;
/** Heads of the lists. */
const SMALL_LIST = SMALL << SHIFT;
const MAIN_LIST = MAIN << SHIFT;
const GONE_LIST = GONE << SHIFT;

const SMALL_SHARE = 0.1;
const HITS_MAX = 3;
/** Hits that a key of the small queue needs to pass into the main one. */
const PASS_HITS = 2;

/** S3-FIFO over slots (see `S3Fifo`). */
export class SlotS3Fifo extends SlotPolicy {
  #smallBytes = 0;
  #goneBytes = 0;
  #goneSize = 0;

  constructor(bytesMax: number, owner: SlotOwner) {
    super(bytesMax, owner, SHIFT, [0]);
  }

  hit(slot: number): void {
    const at = (slot << SHIFT) + HITS;
    const hits = this.cells[at]!;
    if (hits < HITS_MAX) this.cells[at] = hits + 1;
  }

  recall(slot: number): void {
    const place = slot << SHIFT;
    this.cells[place + STATE] = UNKNOWN;
    unlink(this.cells, place);
    this.#goneBytes -= this.charges[slot]!;
    this.#goneSize -= 1;
  }

  unlink(slot: number): void {
    const place = slot << SHIFT;
    if (this.cells[place + STATE] === SMALL) this.#smallBytes -= this.charges[slot]!;
    this.cells[place + STATE] = UNKNOWN;
    unlink(this.cells, place);
  }

  resize(slot: number, bytes: number): void {
    if (this.stateOf(slot) === SMALL) this.#smallBytes += bytes - this.charges[slot]!;
    this.charges[slot] = bytes;
  }

  override clear(): void {
    super.clear();
    this.#smallBytes = 0;
    this.#goneBytes = 0;
    this.#goneSize = 0;
  }

  protected place(slot: number, isKnown: boolean): void {
    const { cells } = this;
    const place = slot << SHIFT;
    cells[place + HITS] = 0;
    if (isKnown) {
      cells[place + STATE] = MAIN;
      addNewest(cells, MAIN_LIST, place);
    } else {
      cells[place + STATE] = SMALL;
      addNewest(cells, SMALL_LIST, place);
      this.#smallBytes += this.charges[slot]!;
    }
  }

  protected evict(keep: number): number {
    const { cells } = this;
    const kept = keep << SHIFT;
    const smallBytesMax = this.bytesMax * SMALL_SHARE;
    for (;;) {
      const small = oldestBut(cells, SMALL_LIST, kept);
      const main = oldestBut(cells, MAIN_LIST, kept);
      if (small !== SMALL_LIST && (main === MAIN_LIST || this.#smallBytes >= smallBytesMax)) {
        unlink(cells, small);
        this.#smallBytes -= this.charges[small >> SHIFT]!;
        if (cells[small + HITS]! < PASS_HITS) {
          this.#remember(small);
          return small >> SHIFT;
        }
        cells[small + HITS] = 0;
        cells[small + STATE] = MAIN;
        addNewest(cells, MAIN_LIST, small);
        continue;
      }
      const left = cells[main + HITS]!;
      if (left === 0) {
        cells[main + STATE] = UNKNOWN;
        unlink(cells, main);
        this.owner.forgotten(main >> SHIFT);
        return main >> SHIFT;
      }
      cells[main + HITS] = left - 1;
      renew(cells, MAIN_LIST, main);
    }
  }

  #remember(place: number): void {
    const { cells } = this;
    cells[place + STATE] = GONE;
    addNewest(cells, GONE_LIST, place);
    this.#goneBytes += this.charges[place >> SHIFT]!;
    this.#goneSize += 1;
    // Without a bound on their number, keys without bytes would be remembered for ever.
    const sizeMax = this.size;
    const bytesMax = this.bytesMax * (1 - SMALL_SHARE);
    while (this.#goneBytes > bytesMax || this.#goneSize > sizeMax) {
      const oldest = cells[GONE_LIST + 1]! >> SHIFT;
      this.recall(oldest);
      this.owner.forgotten(oldest);
    }
  }
}
