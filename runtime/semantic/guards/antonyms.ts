import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { NEGATIVE_PREFIXES, OPPOSITE_PREFIXES } from '../lexicons/opposites.ts';
import { compare } from './compare.ts';
import type { Comparison, Rest } from './compare.ts';

/** Opposites that are grammar in most texts: they count only where hardly anything else differs. */
const LOOSE = new Set(
  `on off to from in into out up down over under above below before after since ago later more less most least many few first last next
  long short start begin end finish open close good bad best better worse old new same different get leave left right add time show
  with without always never see send receive question answer use used free paid day night single return cause once until`.split(
    /\s+/u,
  ),
);

/** The last comparison asked about, and its conflict: three guards and the signals ask for that of one candidate. */
let lastCompared: Comparison | undefined;
let lastConflict = 0;

/** How far two texts say the contrary, in [0, 1]: 1 for opposites of content, 0.5 for those that are grammar too. Symmetric. */
export function antonymConflict(a: Features, b: Features, lexicon: DomainLexicon): number {
  const compared = compare(a, b, lexicon);
  const { a: restA, b: restB } = compared;
  if (restA.length === 0 || restB.length === 0 || restA.length + restB.length > REST_MAX) return 0;
  if (lastCompared === compared) return lastConflict;
  let conflict = 0;
  for (const one of restA) {
    for (const two of restB) {
      if (
        !areOpposite(one, two, lexicon) &&
        !(isForOrAgainst(a, one) && isForOrAgainst(b, two) && one.word !== two.word)
      )
        continue;
      if (one.kind === 'f' && two.kind === 'f' && !inOnePlace(a, one.index, b, two.index)) continue;
      conflict = Math.max(conflict, LOOSE.has(one.word) || LOOSE.has(two.word) ? 0.5 : 1);
    }
  }
  lastCompared = compared;
  lastConflict = conflict;
  return conflict;
}

/** True when one text has a word and the other, in its place, the opposite. Symmetric. */
export function antonymsDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const conflict = antonymConflict(a, b, lexicon);
  if (conflict === 0) return false;
  const compared = compare(a, b, lexicon);
  if (conflict === 1 && Math.abs(a.negations.length - b.negations.length) === 1) return false;
  return compared.near || (conflict === 1 && compared.share >= OPPOSED_SHARE_MIN);
}

/** Little words are opposed only where the same word stands before or after both. */
function inOnePlace(a: Features, atA: number, b: Features, atB: number): boolean {
  return (a.stems[atA - 1] ?? '') === (b.stems[atB - 1] ?? '') || (a.stems[atA + 1] ?? '') === (b.stems[atB + 1] ?? '');
}

const SIDED = new Set(
  'argument arguments argue arguing case vote votes voting evidence reason reasons campaign points'.split(' '),
);

/** "arguments for" and "arguments against"; a vaccine for the flu is one against it. */
function isForOrAgainst(features: Features, { word, index }: Rest): boolean {
  return (word === 'for' || word === 'against') && SIDED.has(features.words[index - 1] ?? '');
}

const OPPOSED_SHARE_MIN = 0.4;
/** Texts that differ in more words than this are no contraries. */
const REST_MAX = 30;

function areOpposite(one: Rest, two: Rest, lexicon: DomainLexicon): boolean {
  if (onOtherSides(one.sides, two.sides) || haveContraryPrefixes(one.base, two.base)) return true;
  if (lexicon.sidesOf.size === 0) return false;
  return onOtherSides(lexicon.sidesOf.get(one.stem), lexicon.sidesOf.get(two.stem));
}

function onOtherSides(one: readonly number[] | undefined, two: readonly number[] | undefined): boolean {
  return one !== undefined && two !== undefined && one.some((side) => two.includes(-side));
}

const WORD_LENGTH_MIN = 3;

/** Words that end alike: "lock" and "unlock", "hypertension" and "hypotension". */
function haveContraryPrefixes(one: string, two: string): boolean {
  if (one.length < WORD_LENGTH_MIN || two.length < WORD_LENGTH_MIN) return false;
  if (one.charCodeAt(one.length - 1) !== two.charCodeAt(two.length - 1)) return false;
  if (one.charCodeAt(one.length - 2) !== two.charCodeAt(two.length - 2)) return false;
  return isContrary(one, two) || isContrary(two, one);
}

function isContrary(base: string, contrary: string): boolean {
  for (const prefix of NEGATIVE_PREFIXES) {
    if (contrary.length === base.length + prefix.length && contrary.startsWith(prefix) && contrary.endsWith(base))
      return true;
  }
  for (const [one, two] of OPPOSITE_PREFIXES) {
    if (base.length < one.length + WORD_LENGTH_MIN || !base.startsWith(one) || !contrary.startsWith(two)) continue;
    if (contrary.slice(two.length) === base.slice(one.length)) return true;
  }
  return false;
}
