import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { COUNTRY_OF } from '../lexicons/places.ts';
import { isKnownWord } from '../lexicons/vocabulary.ts';
import { compare } from './compare.ts';
import type { Comparison, Rest } from './compare.ts';
import { isInflection } from './word-match.ts';

/** Words that differ in form only, up to this many, are what the texts differ in. */
const INFLECTED_WORDS_MAX = 2;

/**
 * True when two texts speak of different things. Symmetric. Either
 * - each has a name that the other lacks, or one has a medicine that the other lacks, or
 * - hardly anything else differs and one has a name or a rare word in the place of another word, or
 * - they are the same but for the form of one or two words ("I love you", "I loved you") or a picture.
 */
export function entitiesDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const compared = compare(a, b, lexicon);
  if (compared.a.length === 0 && compared.b.length === 0) return onlyInflectionsDiffer(a, b);
  const inA = readRests(compared.a, lexicon);
  const inB = readRests(compared.b, lexicon);
  if ((inA.named && inB.named) || inA.medicine || inB.medicine) return true;
  if (picturesDiffer(compared)) return true;
  if (compared.near) {
    if (inA.proper || inB.proper) return true;
    const few = Math.max(compared.restA, compared.restB) <= SUBSTITUTED_WORDS_MAX;
    if (few && compared.a.some(isRare) && compared.b.some(isRare)) return true;
    if (compared.a.some(isOperator) || compared.b.some(isOperator)) return true;
  }
  return false;
}

interface Named {
  readonly named: boolean;
  /** A name that isn't a common word with a capital. */
  readonly proper: boolean;
  readonly medicine: boolean;
}

function readRests(rests: readonly Rest[], lexicon: DomainLexicon): Named {
  let named = false;
  let proper = false;
  let medicine = false;
  for (const rest of rests) {
    medicine ||= isMedicine(rest, lexicon);
    if (!isNamed(rest, lexicon)) continue;
    named = true;
    proper ||= !(rest.kind === 'n' && isKnownWord(rest.word));
  }
  return { named, proper, medicine };
}

function isNamed(rest: Rest, lexicon: DomainLexicon): boolean {
  if (rest.kind === 'f' || rest.kind === 's') return false;
  return rest.kind === 'n' || COUNTRY_OF.has(rest.word) || isMedicine(rest, lexicon) || lexicon.names.has(rest.stem);
}

function isMedicine(rest: Rest, lexicon: DomainLexicon): boolean {
  return lexicon.drugs.has(rest.word);
}

const SUBSTITUTED_WORDS_MAX = 2;
const RARE_LENGTH_MIN = 3;
/** Endings of ordinary words, which names seldom have. */
const ORDINARY = /(?:ed|ing|ly|tions?|ments?|ness|i[sz]es?|ity|ible|able|ives?|ful|less|ally|ers?)$/u;

/** A word that isn't common English: a name in lower case, a term. */
function isRare(rest: Rest): boolean {
  if (
    rest.kind !== 'w' ||
    (rest.word.length < RARE_LENGTH_MIN && /^[a-z]+$/u.test(rest.word)) ||
    ORDINARY.test(rest.word)
  )
    return false;
  return !isKnownWord(rest.word) && !isKnownWord(rest.stem);
}

/** Symbols that compute or compare; one more or less changes what is asked. */
const OPERATORS = /^[<>=+*^\\÷×±≤≥≠∑√]$/u;

function isOperator(rest: Rest): boolean {
  return rest.kind === 's' && OPERATORS.test(rest.word);
}

/** One picture in place of another may be the whole message; one more or less is decoration. */
function picturesDiffer({ a, b }: Comparison): boolean {
  return a.some(isPicture) && b.some(isPicture);
}

function isPicture(rest: Rest): boolean {
  return rest.kind === 's' && /\p{Extended_Pictographic}/u.test(rest.word);
}

/** With all else equal, tense and number are what the texts differ in; among other differences they are mere wording. */
function onlyInflectionsDiffer(a: Features, b: Features): boolean {
  const wordsA = wordsOf(a);
  const wordsB = wordsOf(b);
  if (wordsA.length !== wordsB.length) return false;
  let inflected = 0;
  for (const [index, word] of wordsA.entries()) {
    const other = wordsB[index] ?? '';
    if (word === other) continue;
    if (!isInflection(word, other)) return false;
    inflected += 1;
  }
  return inflected > 0 && inflected <= INFLECTED_WORDS_MAX;
}

function wordsOf(features: Features): readonly string[] {
  const words: string[] = [];
  for (const [index, word] of features.words.entries()) {
    if (features.kinds[index] !== ',') words.push(word.length > 1 && word.startsWith('^') ? word.slice(1) : word);
  }
  return words;
}
