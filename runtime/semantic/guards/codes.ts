import type { Features } from '../features.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { compare } from './compare.ts';
import type { Rest } from './compare.ts';

const LETTERS = /^[a-z]+$/;

/** A word of code, an address, a version or a number of a thing: it has a digit or a sign inside. */
export function isIdentifier(word: string): boolean {
  if (LETTERS.test(word)) return false;
  return /\p{Nd}/u.test(word) || /[_@#+/:\\]|\p{L}\.\p{L}/u.test(word);
}

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
