import { COURTESY_WORDS, FUNCTION_WORDS, SCOPE_WORDS, STRONG_QUESTION_WORDS } from './lexicon.ts';
import { isNegator } from './negation.ts';
import { isInflection, sameWord, stem } from './word-match.ts';

/** Words that one text has and the other lacks, up to this many on each side, are one thing put in another's place. */
const SUBSTITUTED_WORDS_MAX = 2;
/** Symbols that compute or compare; one more or less changes what is asked. */
const OPERATORS = /^[<>=+*^\\÷×±≤≥≠∑√]$/u;

/**
 * True when two texts speak of different things. Symmetric. Either
 * - a name, an identifier or an operator is in one and not in the other, or
 * - they are the same but for one or two words that neither mean the same nor are mistyped, or
 * - they are the same but for the form of one or two words ("I love you", "I loved you"), or
 * - they differ in a word of scope (all, only, each) or in who, when, where, why and how.
 * `words` as in `Features`.
 */
export function entitiesDiffer(a: readonly string[], b: readonly string[]): boolean {
  const onlyA = unmatched(a, b);
  const onlyB = unmatched(b, a);
  if (onlyA.some(isDistinctive) || onlyB.some(isDistinctive)) return true;
  const contentA = onlyA.filter(isContent);
  const contentB = onlyB.filter(isContent);
  if (onlyA.some(isPictograph) && onlyB.some(isPictograph)) return true;
  if (contentA.some(isScope) || contentB.some(isScope)) return true;
  if (questionsDiffer(onlyA, onlyB)) return true;
  if (onlyInflectionsDiffer(a, b)) return true;
  return isSubstitution(contentA, contentB) || isSubstitution(contentB, contentA);
}

function isSubstitution(a: readonly string[], b: readonly string[]): boolean {
  return a.length > 0 && b.length > 0 && a.length <= SUBSTITUTED_WORDS_MAX && b.length <= SUBSTITUTED_WORDS_MAX;
}

/** With all else equal, tense and number are what the texts differ in; among other differences they are mere wording. */
function onlyInflectionsDiffer(a: readonly string[], b: readonly string[]): boolean {
  const wordsA = a.filter(isNoStop);
  const wordsB = b.filter(isNoStop);
  if (wordsA.length !== wordsB.length) return false;
  let inflected = 0;
  for (const [index, marked] of wordsA.entries()) {
    const word = bare(marked);
    const other = bare(wordsB[index] ?? '');
    if (word === other) continue;
    if (!isInflection(word, other)) return false;
    if (FUNCTION_WORDS.has(word) && FUNCTION_WORDS.has(other)) continue;
    inflected += 1;
  }
  return inflected > 0 && inflected <= SUBSTITUTED_WORDS_MAX;
}

function isNoStop(word: string): boolean {
  return word !== ',' && word !== '.';
}

/**
 * Words of `a` that no word of `b` matches. A word may come more often in one text than in the other; what counts is
 * whether the other has it at all.
 */
function unmatched(a: readonly string[], b: readonly string[]): readonly string[] {
  const known = new Set<string>();
  for (const word of b) if (isCompared(word)) known.add(stem(bare(word)));
  let rest = a.filter((word) => isCompared(word) && !known.has(stem(bare(word))));
  if (rest.length === 0) return rest;
  const others = b.filter(isCompared).map(bare);
  rest = rest.filter((word) => !others.some((other) => sameWord(bare(word), other)));
  if (rest.length === 0) return rest;
  const compounds = compoundsOf(b);
  const own = compoundsOf(a);
  return rest.filter((word) => !compounds.has(bare(word)) && !isHalf(bare(word), b, own));
}

/** Pairs of neighbours written as one word: "voice mail" and "voicemail" are the same. */
function compoundsOf(words: readonly string[]): ReadonlyMap<string, readonly [string, string]> {
  const compounds = new Map<string, readonly [string, string]>();
  for (let at = 1; at < words.length; at += 1) {
    const left = words[at - 1] ?? '';
    const right = words[at] ?? '';
    if (isCompared(left) && isCompared(right)) compounds.set(bare(left) + bare(right), [bare(left), bare(right)]);
  }
  return compounds;
}

/** True for a word that together with its neighbour is one word of the other text. */
function isHalf(word: string, others: readonly string[], own: ReadonlyMap<string, readonly [string, string]>): boolean {
  return others.some((other) => own.get(bare(other))?.includes(word) === true);
}

function isCompared(word: string): boolean {
  return word !== ',' && word !== '.' && !word.startsWith('=');
}

function bare(word: string): string {
  return word.length > 1 && word.startsWith('^') ? word.slice(1) : word;
}

function isDistinctive(word: string): boolean {
  const name = bare(word);
  if (OPERATORS.test(name)) return true;
  if (COURTESY_WORDS.has(name) || FUNCTION_WORDS.has(name)) return false;
  if (word.length > 1 && word.startsWith('^')) return true;
  return /\p{L}/u.test(name) && /[\p{Nd}_@#+./:]/u.test(name) ? true : /\p{Nd}/u.test(name);
}

function isContent(word: string): boolean {
  return /[\p{L}\p{N}]/u.test(word) && !FUNCTION_WORDS.has(word) && !COURTESY_WORDS.has(word) && !isNegator(word);
}

/** One picture in place of another may be the whole message; one more or less is decoration. */
function isPictograph(word: string): boolean {
  return /\p{Extended_Pictographic}/u.test(word);
}

function isScope(word: string): boolean {
  return SCOPE_WORDS.has(word);
}

function questionsDiffer(onlyA: readonly string[], onlyB: readonly string[]): boolean {
  const strongA = onlyA.filter((word) => STRONG_QUESTION_WORDS.has(word));
  const strongB = onlyB.filter((word) => STRONG_QUESTION_WORDS.has(word));
  return strongA.length > 0 && strongB.length > 0;
}
