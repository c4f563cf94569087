import { textGroups } from '../pairs/text-groups.ts';
import { shuffled } from '../statistics/random.ts';

/** Two texts of a pair, as they are compared. */
export type TextPair = readonly [a: string, b: string];

/** Positions of pairs, parted so that no text is in both parts. */
export interface Split {
  readonly fit: readonly number[];
  readonly heldOut: readonly number[];
  /** Pairs with a text in each part; used by neither. */
  readonly dropped: number;
}

/** A group of pairs that share texts and is larger than this share of all is broken up, and the pairs across are dropped. */
const GROUP_SHARE_MAX = 0.2;

/**
 * Parts pairs into `heldOutShare` for testing and the rest for fitting. Pairs that share a text, directly or by way of others, stay
 * together; only where such a group holds most of the file its texts are parted one by one.
 */
export function splitByText(pairs: readonly TextPair[], heldOutShare: number, random: () => number): Split {
  const groups = textGroups(pairs);
  const sizes = new Map<number, number>();
  for (const group of groups) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const isBroken = (group: number): boolean => (sizes.get(group) ?? 0) > GROUP_SHARE_MAX * pairs.length;
  const heldOutGroups = new Set<number>();
  let held = 0;
  const whole = [...sizes.keys()].filter((group) => !isBroken(group));
  const wholePairs = whole.reduce((sum, group) => sum + (sizes.get(group) ?? 0), 0);
  for (const group of shuffled(whole, random)) {
    if (held >= heldOutShare * wholePairs) break;
    heldOutGroups.add(group);
    held += sizes.get(group) ?? 0;
  }
  const brokenTexts = new Set(pairs.flatMap((pair, at) => (isBroken(groups[at] ?? 0) ? pair : [])));
  const heldOutTexts = new Set([...brokenTexts].filter(() => random() < heldOutShare));
  const fit: number[] = [];
  const heldOut: number[] = [];
  let dropped = 0;
  for (const [at, [a, b]] of pairs.entries()) {
    const group = groups[at] ?? 0;
    const inHeldOut = isBroken(group)
      ? Number(heldOutTexts.has(a)) + Number(heldOutTexts.has(b))
      : 2 * Number(heldOutGroups.has(group));
    if (inHeldOut === 2) heldOut.push(at);
    else if (inHeldOut === 0) fit.push(at);
    else dropped += 1;
  }
  return { fit, heldOut, dropped };
}

/** Of some pairs as many as the seed's order finds of which no two share a text: what they say is independent. */
export function withoutSharedTexts(
  pairs: readonly TextPair[],
  positions: readonly number[],
  random: () => number,
): readonly number[] {
  const used = new Set<string>();
  const kept: number[] = [];
  for (const at of shuffled(positions, random)) {
    const [a, b] = pairs[at] ?? ['', ''];
    if (used.has(a) || used.has(b)) continue;
    used.add(a).add(b);
    kept.push(at);
  }
  return kept.toSorted((one, two) => one - two);
}
