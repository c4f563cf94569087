import type { Features } from '../features.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { NEGATIVE_PREFIXES, OPPOSITE_PREFIXES, SIDES_OF } from '../lexicons/opposites.ts';
import { compare } from './compare.ts';
import type { Rest } from './compare.ts';

/** Opposites that are grammar in most texts: they count only where hardly anything else differs. */
const LOOSE = new Set(
  `on off to from in into out up down over under above below before after since ago later more less most least many few first last next
  long short start begin end finish open close good bad best better worse old new same different get leave left right add time show
  with without always never see send receive question answer use used free paid day night single return cause`.split(
    /\s+/u,
  ),
);

/** How far two texts say the contrary, in [0, 1]: 1 for opposites of content, 0.5 for those that are grammar too. Symmetric. */
export function antonymConflict(a: Features, b: Features, lexicon: DomainLexicon): number {
  const { a: restA, b: restB } = compare(a, b, lexicon);
  if (restA.length === 0 || restB.length === 0 || restA.length + restB.length > REST_MAX) return 0;
  let conflict = 0;
  for (const one of restA) {
    for (const two of restB) {
      if (!areOpposite(one, two, lexicon)) continue;
      if (one.kind === 'f' && two.kind === 'f' && !inOnePlace(a, one.index, b, two.index)) continue;
      conflict = Math.max(conflict, LOOSE.has(one.word) || LOOSE.has(two.word) ? 0.5 : 1);
    }
  }
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

const OPPOSED_SHARE_MIN = 0.4;
/** Texts that differ in more words than this are no contraries. */
const REST_MAX = 30;

function areOpposite(one: Rest, two: Rest, lexicon: DomainLexicon): boolean {
  return (
    onOtherSides(sidesOf(one), sidesOf(two)) ||
    onOtherSides(lexicon.sidesOf.get(one.stem), lexicon.sidesOf.get(two.stem)) ||
    isContrary(one.base, two.base) ||
    isContrary(two.base, one.base)
  );
}

function sidesOf(rest: Rest): readonly number[] | undefined {
  return SIDES_OF.get(rest.word) ?? SIDES_OF.get(rest.base);
}

function onOtherSides(one: readonly number[] | undefined, two: readonly number[] | undefined): boolean {
  return one !== undefined && two !== undefined && one.some((side) => two.includes(-side));
}

const WORD_LENGTH_MIN = 3;

/** "lock" and "unlock", "hypertension" and "hypotension". */
function isContrary(base: string, contrary: string): boolean {
  if (base.length < WORD_LENGTH_MIN || base.at(-1) !== contrary.at(-1) || base.at(-2) !== contrary.at(-2)) return false;
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
