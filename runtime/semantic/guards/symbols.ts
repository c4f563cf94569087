import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { compare } from './compare.ts';

/** Runs of characters that compute, compare, escape or address. Hyphens, stops and slashes are weighed by what stands beside them. */
const RUN = /[\p{Sm}\p{Sc}\-−*/\\^&!?.#%@]+/gu;
/** Signs made of punctuation that say a mood and nothing else; a run begins or ends with them only by chance. */
const EMOTICON = /(?<=^|\s)(?:[:;=]['-]?[()DPp/\\|]|<3)(?=\s|$|[.,!?])/gu;
const BRACKETS = /[()[\]{}]/gu;
const OPERATOR = /[<>=+*/^\\-]/u;
const PLAIN_OF: Readonly<Record<string, string>> = { '≤': '<=', '≥': '>=', '≠': '!=', '−': '-', '÷': '/', '×': '' };
const WORD = /[\p{L}\p{M}\p{N}_]/u;
const LETTER = /\p{L}/u;
const DIGIT = /\p{Nd}/u;
/** One operand of a formula: a number's digit, a lone letter, or a bracket. */
const OPERAND_BEFORE = /(?:\p{Nd}|[)\]]|(?<![\p{L}\p{M}\p{N}_])\p{L})$/u;
const OPERAND_AFTER = /^(?:\p{Nd}|[([]|\p{L}(?![\p{L}\p{M}\p{N}_]))/u;
/** Enough to see a neighbouring operand; what is farther off doesn't belong to the sign. */
const NEIGHBOURHOOD = 4;
/** A longer run is a drawing, and is taken as it is. */
const RUN_LENGTH_MAX = 16;

/**
 * The operators and signs of a text, in order: `<=`, `!=`, `/` before a path, `-` before an option. Ends of sentences, dashes
 * between words, hyphens, "and" written as a sign, and what belongs to an amount ($5, 5 %) aren't among them. Where there is a formula,
 * its brackets are.
 */
export function extractSymbols(text: string): readonly string[] {
  const spoken = text.replace(EMOTICON, ' ');
  const signs: { readonly at: number; readonly sign: string }[] = [];
  for (const match of spoken.matchAll(RUN)) {
    const sign = signOf(match[0], sideBefore(spoken, match.index), sideAfter(spoken, match.index + match[0].length));
    if (sign !== '') signs.push({ at: match.index, sign });
  }
  if (signs.some(({ sign }) => OPERATOR.test(sign))) {
    for (const match of spoken.matchAll(BRACKETS)) signs.push({ at: match.index, sign: match[0] });
    signs.sort((a, b) => a.at - b.at);
  }
  return signs.map(({ sign }) => sign);
}

const REST_MAX = 2;

/** True when each text has signs that the other lacks, or hardly anything else differs than a sign or the order of signs. Symmetric. */
export function symbolsDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  if (a.symbols.length === 0 && b.symbols.length === 0) return false;
  if (a.symbols.length === b.symbols.length && a.symbols.every((sign, index) => sign === b.symbols[index]))
    return false;
  const onlyA = a.symbols.some((sign) => !b.symbols.includes(sign));
  const onlyB = b.symbols.some((sign) => !a.symbols.includes(sign));
  if (onlyA && onlyB) return true;
  const { near, restA, restB } = compare(a, b, lexicon);
  return near || Math.max(restA, restB) <= REST_MAX;
}

function sideBefore(text: string, at: number): string {
  return text.slice(Math.max(0, at - NEIGHBOURHOOD), at);
}

function sideAfter(text: string, at: number): string {
  return text.slice(at, at + NEIGHBOURHOOD);
}

/** The run as a sign; empty where it is punctuation or belongs to a word or an amount. */
function signOf(run: string, before: string, after: string): string {
  const plain = run.replace(/[≤≥≠−÷×]/gu, (char) => PLAIN_OF[char] ?? char);
  if (/^[.?!]*$/u.test(plain)) return isPrefix(plain, before, after) || isFactorial(plain, before, after) ? plain : '';
  if (plain.length > RUN_LENGTH_MAX) return plain;
  const sign = withoutStops(plain).replace(/^[.?!]+(?![./=!?])/u, '');
  if (/^[%\p{Sc}]$/u.test(sign)) return isOfAmount(before, after) ? '' : sign;
  if (sign === '&') return WORD.test(after[0] ?? '') && !WORD.test(before.at(-1) ?? ' ') ? sign : '';
  if (/^-+$/u.test(sign)) return isMinus(sign, before, after) ? sign : '';
  if (sign === '/') return slashOf(before, after);
  return sign;
}

function withoutStops(run: string): string {
  let end = run.length;
  while (end > 0 && '.?!'.includes(run[end - 1] ?? '')) end -= 1;
  return run.slice(0, end);
}

/** A stop right before a word and not after one: `!done`, `.profile`. */
function isPrefix(run: string, before: string, after: string): boolean {
  return run !== '' && run.length < 3 && LETTER.test(after[0] ?? '') && !/[^\s("'`“‘]$/u.test(before);
}

/** `5!` with something after it that isn't the next sentence. */
function isFactorial(run: string, before: string, after: string): boolean {
  if (!run.startsWith('!') || !DIGIT.test(before.at(-1) ?? '')) return false;
  return /^![?.]$/u.test(run) || (run === '!' && /^\s*[^\s\p{Lu}]/u.test(after));
}

function isOfAmount(before: string, after: string): boolean {
  return /\p{Nd}\s?$/u.test(before) || /^\s?[.,-]?\p{Nd}/u.test(after);
}

/** Before an option's name, or between the operands of a formula; a minus before digits is the number's own. */
function isMinus(sign: string, before: string, after: string): boolean {
  if (LETTER.test(after[0] ?? '') && !/[^\s("'`“‘]$/u.test(before)) return true;
  if (sign !== '-') return false;
  if (DIGIT.test(before.at(-1) ?? '') || DIGIT.test(after[0] ?? '')) return false;
  return OPERAND_BEFORE.test(before.trimEnd()) && OPERAND_AFTER.test(after.trimStart());
}

/** A slash at the front or the end of a path, or between the operands of a formula with spaces around it. */
function slashOf(before: string, after: string): string {
  const wordBefore = WORD.test(before.at(-1) ?? '');
  const wordAfter = WORD.test(after[0] ?? '');
  if (wordBefore !== wordAfter) return wordAfter ? '/…' : '…/';
  return !wordBefore && OPERAND_BEFORE.test(before.trimEnd()) && OPERAND_AFTER.test(after.trimStart()) ? '/' : '';
}
