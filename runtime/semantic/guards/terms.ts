import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { areNearTerms } from '../lexicons/little-words.ts';
import { compare } from './compare.ts';

const RESTS_MAX = 3;

/** True when hardly anything differs but that one has a term in the place of another one of its kind: "radius", "diameter". Symmetric. */
export function termsDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const compared = compare(a, b, lexicon);
  if (!compared.near || compared.a.length > RESTS_MAX || compared.b.length > RESTS_MAX) return false;
  return compared.a.some(({ word }) => compared.b.some((other) => areNearTerms(word, other.word)));
}
