import { addNewest, oldestBut, renew, unlink } from './slot-rings.ts';
import { type SlotOwner, SlotPolicy, STATE, UNKNOWN } from './slot-policy.ts';

const SHIFT = 2;
const LIST = 0;
const RESIDENT = 1;

/** LRU over slots (see `Lru`). */
export class SlotLru extends SlotPolicy {
  constructor(bytesMax: number, owner: SlotOwner) {
    super(bytesMax, owner, SHIFT, [0]);
  }

  hit(slot: number): void {
    renew(this.cells, LIST, slot << SHIFT);
  }

  recall(_slot: number): void {
    // Nothing is remembered.
  }

  unlink(slot: number): void {
    const place = slot << SHIFT;
    this.cells[place + STATE] = UNKNOWN;
    unlink(this.cells, place);
  }

  resize(slot: number, bytes: number): void {
    this.charges[slot] = bytes;
  }

  protected place(slot: number): void {
    const place = slot << SHIFT;
    this.cells[place + STATE] = RESIDENT;
    addNewest(this.cells, LIST, place);
  }

  protected evict(keep: number): number {
    const { cells } = this;
    const place = oldestBut(cells, LIST, keep << SHIFT);
    cells[place + STATE] = UNKNOWN;
    unlink(cells, place);
    const victim = place >> SHIFT;
    this.owner.forgotten(victim);
    return victim;
  }
}
