import type { PolicyKey } from './key-hash.ts';
import { SlottedPolicy } from './slotted-policy.ts';
import { SlotLirs, type LirsOptions } from './slots/slot-lirs.ts';

/**
 * LIRS (Jiang and Zhang, "LIRS: An Efficient Low Inter-reference Recency Set Replacement Policy to Improve Buffer Cache
 * Performance", SIGMETRICS 2002, section 3), with sizes in bytes. The stack orders by recency the keys of low
 * inter-reference recency (LIR), and the others (HIR), resident or not, that were asked for since the oldest LIR; a HIR
 * that is asked for while in the stack becomes LIR. Victims are the oldest of the queue of resident HIRs, 1 % of the
 * bound. What is remembered is bounded in bytes and by the number of residents.
 */
export class Lirs<K extends PolicyKey = string> extends SlottedPolicy<K, SlotLirs> {
  constructor(bytesMax: number, options?: LirsOptions) {
    super(bytesMax, (owner) => new SlotLirs(bytesMax, owner, options));
  }
}
