import type { SlotPolicy } from './slots/slot-policy.ts';
import { SlotLirs } from './slots/slot-lirs.ts';
import { SlotLru } from './slots/slot-lru.ts';

/** A resident as it is handed over from one policy's rules to another's. */
export interface HandedOver {
  readonly slot: number;
  readonly bytes: number;
  /** When it was last asked for, in accesses. */
  readonly usedAt: number;
  /** Accesses between its last two; 0: it was asked for once. */
  readonly reuse: number;
}

/**
 * Hands residents over to rules that hold nothing yet, in the order of their last access, which is that of `residents`
 * afterwards; `accesses`: how many there were. LRU takes them as they come. LIRS makes LIR those whose reuse distance and
 * recency are the least, and as many of those asked for once as there is room for. To S3-FIFO none is a newcomer, so
 * that the next scan doesn't turn them out.
 */
export function handOver(residents: HandedOver[], rules: SlotPolicy, accesses: number): void {
  residents.sort((left, right) => left.usedAt - right.usedAt);
  if (!(rules instanceof SlotLirs)) {
    const isKnown = !(rules instanceof SlotLru);
    for (const { slot, bytes } of residents) rules.admit(slot, bytes, isKnown);
    return;
  }
  const low = lowestReuse(residents, rules.lirBytesMax, accesses);
  for (const { slot, bytes } of residents) rules.admit(slot, bytes, low.has(slot));
  rules.prune();
}

/** The slots that become LIR. */
function lowestReuse(residents: readonly HandedOver[], bytesMax: number, accesses: number): ReadonlySet<number> {
  const rank = ({ reuse, usedAt }: HandedOver): number => Math.max(reuse, accesses - usedAt);
  const again = residents.filter(({ reuse }) => reuse !== 0).sort((left, right) => rank(left) - rank(right));
  const low = new Set<number>();
  let left = bytesMax;
  for (const { slot, bytes } of [...again, ...residents.filter(({ reuse }) => reuse === 0)]) {
    if (bytes > left) continue;
    left -= bytes;
    low.add(slot);
  }
  return low;
}
