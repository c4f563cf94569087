import type { Features } from './feature-set.ts';
import { isDependent } from './guards/ellipsis.ts';
import { languageOf } from './guards/language.ts';
import { extractNegations, isContractedNot } from './guards/negation.ts';
import { SPELLED } from './guards/number-words.ts';
import { extractNumbers } from './guards/numbers.ts';
import { extractQuestions } from './guards/questions.ts';
import { extractSymbols } from './guards/symbols.ts';
import { extractTenses } from './guards/tense.ts';
import { beforeApostrophe, tokenise } from './guards/tokens.ts';
import type { Token } from './guards/tokens.ts';
import { unitNamed } from './guards/units.ts';
import { wordInfo } from './guards/word-info.ts';
import { FUNCTION_WORDS, STRONG_QUESTION_WORDS } from './lexicons/grammar.ts';

export type { Features } from './feature-set.ts';

/** Raised with every change of what is extracted or of how it is read: features of two versions are never compared. */
export const FEATURE_VERSION = 5;

/** The features of a text. Total: any string has some. */
export function extractFeatures(text: string): Features {
  const tokens = splitNumbered(withoutSignOff(withoutGreeting(tokenise(text))));
  const extraction = extractNumbers(tokens);
  const shouting = saysNothingByCapitals(tokens);
  const words: string[] = [];
  let quoted = false;
  for (const [index, token] of tokens.entries()) {
    if (token.raw === '`') quoted = !quoted;
    const number = extraction.consumed.get(index);
    if (number === undefined) addWords(words, token, { shouting, quoted });
    else if (number !== '') words.push(`=${number}`);
  }
  return {
    numbers: extraction.numbers,
    negations: extractNegations(tokens),
    words,
    symbols: extractSymbols(text),
    questions: extractQuestions(words),
    tenses: extractTenses(words),
    dependent: isDependent(words),
    language: languageOf(words),
    stems: words.map(stemOf),
    kinds: words.map(kindOf),
  };
}

/** Features as text, for a record. */
export function serialiseFeatures(features: Features): string {
  const { numbers, negations, words, symbols, questions, tenses, dependent, language } = features;
  return JSON.stringify([numbers, negations, words, symbols, questions, tenses, dependent, language]);
}

const FIELDS = 8;

/** Features from a record; undefined when malformed. */
export function parseFeatures(serialised: string): Features | undefined {
  let value: unknown;
  try {
    value = JSON.parse(serialised);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || value.length !== FIELDS) return undefined;
  const [numbers, negations, words, symbols, questions, tenses, dependent, language] = value as unknown[];
  if (!isStrings(numbers) || !isStrings(negations) || !isStrings(words) || !isStrings(symbols)) return undefined;
  if (!isStrings(questions) || !isStrings(tenses) || typeof dependent !== 'boolean' || typeof language !== 'string')
    return undefined;
  const made = { stems: words.map(stemOf), kinds: words.map(kindOf) };
  return { numbers, negations, words, symbols, questions, tenses, dependent, language, ...made };
}

function isStrings(value: unknown): value is string[] {
  if (!Array.isArray(value)) return false;
  for (const item of value as unknown[]) if (typeof item !== 'string') return false;
  return true;
}

function stemOf(word: string): string {
  return wordInfo(word).stem;
}

function kindOf(word: string): string {
  return wordInfo(word).kind;
}

/** Where a word stands: among capitals that say nothing, in a span of code. */
interface Place {
  readonly shouting: boolean;
  readonly quoted: boolean;
}

function addWords(words: string[], token: Token, place: Place): void {
  if (token.kind === 'comma') words.push(',');
  else if (token.kind === 'stop') words.push('.');
  else if (token.kind === 'symbol') words.push(token.lower === '×' ? 'x' : token.lower);
  else if (isContractedNot(token.lower)) words.push('not');
  else {
    const lower = token.lower.replace(/'(?:s|re|ve|ll|d|m)?$/u, '');
    if (token.lower.endsWith("'ll")) words.push(lower, 'will');
    else if (lower !== '') words.push(markOf(token, place) + joinedOf(lower));
  }
}

function joinedOf(lower: string): string {
  const joined = /[-‐‑]/u.test(lower) ? lower.replace(/(?<=\p{L})[-‐‑](?=\p{L})/gu, '') : lower;
  return UNMARKED.get(joined) ?? joined;
}

/** Contractions written without their apostrophe. */
const UNMARKED = new Map(
  Object.entries({
    whats: 'what',
    wheres: 'where',
    hows: 'how',
    whos: 'who',
    theres: 'there',
    thats: 'that',
    ive: 'i',
    im: 'i',
    id: 'i',
    ill: 'i',
    youre: 'you',
    lets: 'let',
  }),
);

function markOf(token: Token, place: Place): string {
  if (place.quoted && /^\p{L}/u.test(token.raw)) return '^';
  return isName(token, place.shouting) ? '^' : '';
}

/** A capital inside a word, or one at its start where no sentence begins. */
function isName(token: Token, shouting: boolean): boolean {
  if (shouting || token.raw === token.lower || token.lower === 'i' || token.lower.startsWith("i'")) return false;
  if (/^.[^\p{Lu}]*\p{Lu}/u.test(beforeApostrophe(token.raw))) return true;
  return !token.first && /^\p{Lu}/u.test(token.raw);
}

/** True where most words begin with a capital, or most letters are capitals: then none of them marks a name. */
function saysNothingByCapitals(tokens: readonly Token[]): boolean {
  let words = 0;
  let capitals = 0;
  for (const token of tokens) {
    if (token.kind !== 'word' || !/^\p{L}{2}/u.test(token.raw)) continue;
    words += 1;
    if (/^\p{Lu}/u.test(token.raw)) capitals += 1;
  }
  return words >= 4 && capitals > words * 0.75;
}

const DAY_PARTS = new Set(['morning', 'afternoon', 'evening', 'day', 'night']);
const GREETINGS = new Set(['hi', 'hello', 'hey', 'dear', 'good']);
const ADDRESSEE_WORDS_MAX = 3;

/** "Good morning" is courtesy, not a time, and the name in "Hi Maria," is whom the text is addressed to. */
function withoutGreeting(tokens: readonly Token[]): readonly Token[] {
  const [one, two] = tokens;
  if (one === undefined || !GREETINGS.has(one.lower)) return tokens;
  const daytime = one.lower === 'good' && two !== undefined && DAY_PARTS.has(two.lower);
  if (one.lower === 'good' && !daytime) return tokens;
  const from = daytime ? 2 : 1;
  for (let at = from; at <= from + ADDRESSEE_WORDS_MAX; at += 1) {
    const token = tokens[at];
    if (token?.kind === 'comma' || token?.raw === '!')
      return tokens.slice(at + 1).map((next, index) => asFirst(next, index));
    if (token?.kind !== 'word') break;
  }
  const addressed = isName(tokens[from] ?? one, false) && FUNCTION_WORDS.has(tokens[from + 1]?.lower ?? '');
  return tokens.slice(addressed ? from + 1 : from);
}

function asFirst(token: Token, index: number): Token {
  return index === 0 ? { ...token, first: true } : token;
}

const SIGN_OFFS = new Set(
  'sorry thanks thank thx cheers regards kind best ta please pls quickly urgent urgently asap sincerely appreciated'.split(
    ' ',
  ),
);
const SIGN_OFF_WORDS_MAX = 8;
const SIGNED_WORDS_MIN = 3;

/** "…, sorry for asking again", "Best, R.": what is said to whom answers, after the last end of a phrase. */
function withoutSignOff(tokens: readonly Token[]): readonly Token[] {
  let kept = tokens;
  for (let at = tokens.length - 2; at > SIGNED_WORDS_MIN && at >= tokens.length - SIGN_OFF_WORDS_MAX; at -= 1) {
    const token = tokens[at];
    if (token?.kind !== 'comma' && token?.kind !== 'stop') continue;
    const from = tokens[at + 1]?.lower === 'and' ? at + 2 : at + 1;
    if (SIGN_OFFS.has(tokens[from]?.lower ?? '') && !asks(tokens, from)) kept = tokens.slice(0, at + 1);
  }
  return kept;
}

/** "…, please tell me where to go": courtesy that carries the question. */
function asks(tokens: readonly Token[], from: number): boolean {
  for (let at = from + 1; at < tokens.length; at += 1) {
    const lower = tokens[at]?.lower ?? '';
    if (
      tokens[at]?.raw === '?' ||
      STRONG_QUESTION_WORDS.has(lower) ||
      (tokens[from]?.lower.startsWith('pl') === true && /^\p{L}/u.test(lower))
    )
      return true;
  }
  return false;
}

/** "two-factor" as "two factor": a number and its noun. */
function splitNumbered(tokens: readonly Token[]): readonly Token[] {
  if (!tokens.some(isNumbered)) return tokens;
  return tokens.flatMap((token) => {
    if (!isNumbered(token)) return [token];
    const at = token.raw.indexOf('-');
    const parts: readonly Token[] = [
      { ...token, raw: token.raw.slice(0, at), lower: token.lower.slice(0, at) },
      { ...token, raw: token.raw.slice(at + 1), lower: token.lower.slice(at + 1), first: false },
    ];
    return parts;
  });
}

function isNumbered(token: Token): boolean {
  const at = token.lower.indexOf('-');
  if (token.kind !== 'word' || at < 3 || token.lower.length !== token.raw.length) return false;
  const value = SPELLED.get(token.lower.slice(0, at));
  const next = token.lower.slice(at + 1);
  return (
    value !== undefined && value < 13 && /^[a-z]+$/u.test(next) && unitNamed(next, true) === undefined && next !== 'way'
  );
}
