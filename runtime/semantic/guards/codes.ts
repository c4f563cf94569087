import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { compare } from './compare.ts';
import type { Rest } from './compare.ts';

/** True when two texts name different identifiers, addresses or pieces of code. Symmetric. */
export function codesDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const compared = compare(a, b, lexicon);
  const inA = compared.a.some(isCode);
  const inB = compared.b.some(isCode);
  return (inA && inB) || ((inA || inB) && compared.near);
}

function isCode(rest: Rest): boolean {
  return rest.kind === 'i';
}
