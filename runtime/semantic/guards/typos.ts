import { distance } from 'fastest-levenshtein';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { isKnownWord } from '../lexicons/vocabulary.ts';

const LENGTH_MIN = 5;
const LENGTH_MAX = 40;
const LONG_LENGTH_MIN = 9;
const SLIPS_MAX = 2;

/** Keys beside each other on the usual keyboard, row by row. */
const ROWS = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const NEIGHBOURS = buildNeighbours();

function buildNeighbours(): ReadonlySet<string> {
  const pairs = new Set<string>();
  const add = (one: string | undefined, two: string | undefined): void => {
    if (one === undefined || two === undefined) return;
    pairs.add(one + two);
    pairs.add(two + one);
  };
  for (const [row, keys] of ROWS.entries()) {
    for (const [column, key] of keys.split('').entries()) {
      add(key, keys[column + 1]);
      add(key, ROWS[row + 1]?.[column]);
      add(key, ROWS[row + 1]?.[column - 1]);
    }
  }
  return pairs;
}

/** Letters that sound alike and are written for each other. */
const SOUND_ALIKE = new Set([
  'ie',
  'ei',
  'ae',
  'ea',
  'sz',
  'zs',
  'sc',
  'cs',
  'ck',
  'kc',
  'iy',
  'yi',
  'ao',
  'eo',
  'oe',
  'ia',
  'ai',
  'uo',
  'ou',
  'xs',
  'fv',
]);

/**
 * True when one word is likely the other mistyped. Symmetric. Two words that are both known never are; a known name and an unknown
 * spelling are when no other known name is as near; two unknown words are only after a slip of the fingers: a letter left out, doubled, swapped
 * with its neighbour or taken from the next key, past the first letter and the first syllable.
 */
export function isTypo(a: string, b: string, lexicon: DomainLexicon): boolean {
  if (a === b) return true;
  if (a.charCodeAt(0) !== b.charCodeAt(0) && a.charCodeAt(1) !== b.charCodeAt(1) && a.charCodeAt(0) !== b.charCodeAt(1))
    return false;
  const shorter = Math.min(a.length, b.length);
  if (
    shorter < LENGTH_MIN - 1 ||
    Math.max(a.length, b.length) < LENGTH_MIN ||
    Math.abs(a.length - b.length) > SLIPS_MAX ||
    Math.max(a.length, b.length) > LENGTH_MAX
  )
    return false;
  if (!/^[a-z]+$/u.test(a) || !/^[a-z]+$/u.test(b)) return false;
  const nameA = isKnownName(a, lexicon);
  const nameB = isKnownName(b, lexicon);
  if (nameA && nameB) return false;
  const knownA = nameA || isKnownWord(a);
  const knownB = nameB || isKnownWord(b);
  if (knownA && knownB) return false;
  const slip = slipOf(a, b);
  if (slip === undefined) return isMisspelledLong(a, b, (knownA || knownB) && !nameA && !nameB);
  if (nameA) return isOnlyNear(b, a, lexicon);
  if (nameB) return isOnlyNear(a, b, lexicon);
  if (a[0] !== b[0] || (shorter < LENGTH_MIN && !knownA && !knownB)) return false;
  if (knownA || knownB) return slip.kind !== 'other' || shorter >= 8;
  return slip.kind !== 'other' && slip.kind !== 'sound' && slip.at > 0;
}

/** Long common words are misspelled more often than meant otherwise. */
function isMisspelledLong(a: string, b: string, known: boolean): boolean {
  return known && a[0] === b[0] && Math.min(a.length, b.length) >= LONG_LENGTH_MIN && distance(a, b) <= SLIPS_MAX;
}

function isKnownName(word: string, lexicon: DomainLexicon): boolean {
  return lexicon.drugs.has(word) || lexicon.names.has(word);
}

/** No other known name is one slip from the spelling too. */
function isOnlyNear(spelling: string, name: string, lexicon: DomainLexicon): boolean {
  const generic = lexicon.drugs.get(name) ?? name;
  for (const [other, otherGeneric] of lexicon.drugs) {
    if (otherGeneric === generic || Math.abs(other.length - spelling.length) > 1) continue;
    if (slipOf(other, spelling) !== undefined) return false;
  }
  return true;
}

interface Slip {
  readonly kind: 'dropped' | 'doubled' | 'swapped' | 'neighbour' | 'sound' | 'other';
  /** Where the words part. */
  readonly at: number;
}

/** The one slip between two words; undefined when it takes more. */
function slipOf(a: string, b: string): Slip | undefined {
  if (Math.abs(a.length - b.length) > 1) return undefined;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  if (a.length !== b.length) {
    const [long, short] = a.length > b.length ? [a, b] : [b, a];
    if (long.slice(at + 1) !== short.slice(at)) return undefined;
    const extra = long[at];
    return { kind: extra === long[at - 1] || extra === long[at + 1] ? 'doubled' : 'dropped', at };
  }
  const one = a[at] ?? '';
  const two = b[at] ?? '';
  if (one === b[at + 1] && a[at + 1] === two && a.slice(at + 2) === b.slice(at + 2)) return { kind: 'swapped', at };
  if (a.slice(at + 1) !== b.slice(at + 1)) return undefined;
  if (NEIGHBOURS.has(one + two)) return { kind: 'neighbour', at };
  return { kind: SOUND_ALIKE.has(one + two) ? 'sound' : 'other', at };
}
