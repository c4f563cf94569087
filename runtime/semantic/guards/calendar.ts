import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { BEFORE_NUMBERS, EVEN_BEFORE_NUMBERS } from '../lexicons/little-words.ts';
import { compare } from './compare.ts';
import { remembered } from './remembered.ts';
import { slotsOf } from './slots.ts';
import type { Slots } from './slots.ts';

const WHICH: ReadonlyMap<string, string> = new Map([
  ['this', 'this'],
  ['current', 'this'],
  ['=calendar:next', 'next'],
  ['coming', 'next'],
  ['following', 'next'],
  ['=calendar:last', 'last'],
  ['past', 'last'],
  ['preceding', 'last'],
  ['every', 'every'],
  ['each', 'every'],
]);
const PERIOD =
  /^(?:=(?:unit:(?:time|month)|calendar):|quarter|semester|term|season|decade|century|fortnight|weekend|=#0\.25$)/u;
const TIMED = /^=(?:calendar|clock|date|time|month):/u;
const RELATIVE = /^=calendar:(?:last|next|ago)$/u;
const WORDS_MAX = 160;

/** Weeks, months, days and the like of a text, with which of them is meant, and numbers with what bounds them. */
interface Calendar {
  readonly which: ReadonlyMap<string, string>;
  readonly bounds: ReadonlyMap<string, string>;
}

const TWICE = '';

const calendarOf: (features: Features) => Calendar = remembered(({ words }) => {
  const which = new Map<string, string>();
  const bounds = new Map<string, string>();
  for (let at = 1; at < Math.min(words.length, WORDS_MAX); at += 1) {
    const word = words[at] ?? '';
    const before = words[at - 1] ?? '';
    const meant = WHICH.get(before);
    if (meant !== undefined && PERIOD.test(word) && !RELATIVE.test(word)) note(which, word, meant);
    if (!TIMED.test(word)) continue;
    const bound = BEFORE_NUMBERS.get(before === 'the' ? (words[at - 2] ?? '') : before);
    if (bound !== undefined) note(bounds, word, bound);
  }
  return { which, bounds };
});

function note(found: Map<string, string>, word: string, meant: string): void {
  found.set(word, found.has(word) && found.get(word) !== meant ? TWICE : meant);
}

/**
 * True when hardly anything else differs and one speaks of this week, the other of the next or the last; or of what is since May, the other of
 * what is until May. Symmetric.
 */
export function calendarsDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  if (a.numbers.length === 0 && b.numbers.length === 0) return false;
  const [one, two] = [calendarOf(a), calendarOf(b)];
  if (one.which.size > 0 || two.which.size > 0) {
    if (isApart(one.which, two.which, () => false) && compare(a, b, lexicon).near) return true;
    if (isAdded(slotsOf(a), slotsOf(b)) || isAdded(slotsOf(b), slotsOf(a))) return true;
  }
  if (one.bounds.size === 0 || two.bounds.size === 0) return false;
  return isApart(one.bounds, two.bounds, areEven) && compare(a, b, lexicon).near;
}

function areEven(one: string, two: string): boolean {
  return EVEN_BEFORE_NUMBERS.has(`${one}-${two}`);
}

function isApart(
  one: ReadonlyMap<string, string>,
  two: ReadonlyMap<string, string>,
  even: (one: string, two: string) => boolean,
): boolean {
  for (const [word, meant] of one) {
    const other = two.get(word);
    if (other !== undefined && other !== meant && other !== TWICE && meant !== TWICE && !even(meant, other))
      return true;
  }
  return false;
}

const TELLING = new Set(['i', 'my', 'me', 'we', 'our', ',', '.']);

/** "Show sales", "show sales last year": all else is the same, and nobody tells what happened to him. */
function isAdded(shorter: Slots, longer: Slots): boolean {
  const more = longer.keys.length - shorter.keys.length;
  if (more < 1 || more > 2 || shorter.keys.length < 1) return false;
  const at = longer.keys.findIndex((key, index) => key !== shorter.keys[index]);
  if (shorter.keys.slice(at).join(' ') !== longer.keys.slice(at + more).join(' ')) return false;
  if (!longer.keys.slice(at, at + more).every((key) => key.startsWith('='))) return false;
  return !longer.slots.some((slot, index) => index < longer.keys.length && slot.some((word) => TELLING.has(word)));
}
