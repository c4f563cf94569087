import type { Slots } from './slots.ts';

const JOINING = new Set(['and', 'or', 'but']);
const ADDED_MAX = 2;
const CLAUSE_WORDS = new Set(
  `i you we they he she it is are was were do does did can could will would should must may have has had not how what when where why who which
  there this that my to if me please so then`.split(/\s+/u),
);
const HALF = '=#0.5';

/**
 * True when one text has all words of meaning of the other in their order, and beside them one more thing ("the pros", "the pros and cons"), an
 * exception ("all logs", "all logs but the last") or a half ("a marathon", "a half marathon"). Symmetric.
 */
export function additionsDiffer(a: Slots, b: Slots): boolean {
  return a.keys.length < b.keys.length ? isAdded(a, b) : b.keys.length < a.keys.length && isAdded(b, a);
}

function isAdded(shorter: Slots, longer: Slots): boolean {
  const more = longer.keys.length - shorter.keys.length;
  if (more > ADDED_MAX || shorter.keys.length === 0) return false;
  let at = 0;
  while (at < shorter.keys.length && shorter.keys[at] === longer.keys[at]) at += 1;
  for (let rest = at; rest < shorter.keys.length; rest += 1)
    if (shorter.keys[rest] !== longer.keys[rest + more]) return false;
  if (
    more === 1 &&
    longer.keys[at] === HALF &&
    (longer.slots[at + 1] ?? []).length === 0 &&
    at + 1 < longer.keys.length
  )
    return true;
  return (
    isJoined(longer, shorter, at, at) ||
    (isJoined(longer, shorter, at + more, at) && longer.slots[at + more]?.includes('but') !== true)
  );
}

/** A joining word stands in the slot of the longer text, none in that of the shorter one, and no clause follows. */
function isJoined(longer: Slots, shorter: Slots, slot: number, other: number): boolean {
  if (slot === 0) return false;
  const words = longer.slots[slot] ?? [];
  const joint = words.findLastIndex((word) => JOINING.has(word));
  if (joint < 0 || (shorter.slots[other] ?? []).some((word) => JOINING.has(word))) return false;
  return (
    !words.some((word) => CLAUSE_WORDS.has(word)) &&
    !(longer.slots[slot + 1] ?? []).some((word) => CLAUSE_WORDS.has(word) && word !== 'to')
  );
}
