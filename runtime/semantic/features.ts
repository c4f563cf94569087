import { extractNegations, isContractedNot } from './guards/negation.ts';
import { extractNumbers } from './guards/numbers.ts';
import { extractSymbols } from './guards/symbols.ts';
import { tokenise } from './guards/tokens.ts';
import type { Token } from './guards/tokens.ts';

/** Raised with every change of what is extracted or of how it is read: features of two versions are never compared. */
export const FEATURE_VERSION = 2;

/** What the guards know of a text; extracted once and stored with its vector. */
export interface Features {
  /** Canonical quantities, dates and times, sorted. */
  readonly numbers: readonly string[];
  /** What the text denies, sorted. */
  readonly negations: readonly string[];
  /**
   * The words in order, lower case, without possessives and inner hyphens: `^word` for one whose capital marks a name, `=quantity` for a
   * number, `,` and `.` for the ends of phrases and sentences, symbols as they are.
   */
  readonly words: readonly string[];
  /** Operators and signs, in order. */
  readonly symbols: readonly string[];
}

/** The features of a text. Total: any string has some. */
export function extractFeatures(text: string): Features {
  const tokens = withoutGreeting(tokenise(text));
  const extraction = extractNumbers(tokens);
  const shouting = saysNothingByCapitals(tokens);
  const words: string[] = [];
  for (const [index, token] of tokens.entries()) {
    const number = extraction.consumed.get(index);
    if (number === undefined) words.push(...wordsOf(token, shouting));
    else if (number !== '') words.push(`=${number}`);
  }
  return { numbers: extraction.numbers, negations: extractNegations(tokens), words, symbols: extractSymbols(text) };
}

/** Features as text, for a record. */
export function serialiseFeatures(features: Features): string {
  return JSON.stringify([features.numbers, features.negations, features.words, features.symbols]);
}

/** Features from a record; undefined when malformed. */
export function parseFeatures(serialised: string): Features | undefined {
  let value: unknown;
  try {
    value = JSON.parse(serialised);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || value.length !== 4) return undefined;
  const [numbers, negations, words, symbols] = value as unknown[];
  if (!isStrings(numbers) || !isStrings(negations) || !isStrings(words) || !isStrings(symbols)) return undefined;
  return { numbers, negations, words, symbols };
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function wordsOf(token: Token, shouting: boolean): readonly string[] {
  if (token.kind === 'comma') return [','];
  if (token.kind === 'stop') return ['.'];
  if (token.kind === 'symbol') return [token.lower === '×' ? 'x' : token.lower];
  if (isContractedNot(token.lower)) return ['not'];
  const lower = token.lower.replace(/'(?:s|re|ve|ll|d|m)?$/u, '');
  if (lower === '') return [];
  const joined = lower.replace(/(?<=\p{L})[-‐‑](?=\p{L})/gu, '');
  return [isName(token, shouting) ? `^${joined}` : joined];
}

/** A capital inside a word, or one at its start where no sentence begins. */
function isName(token: Token, shouting: boolean): boolean {
  if (shouting || token.lower === 'i' || token.lower.startsWith("i'")) return false;
  if (/^.[^\p{Lu}]*\p{Lu}/u.test(token.raw.replace(/['’].*$/u, ''))) return true;
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
  return tokens.slice(from);
}

function asFirst(token: Token, index: number): Token {
  return index === 0 ? { ...token, first: true } : token;
}
