import { distance } from 'fastest-levenshtein';
import { ALIAS_OF, SIDES_OF } from './lexicon.ts';

const TYPO_LENGTH_MIN = 6;
const TYPO_LENGTH_MAX = 40;

/** Stems of recent words: texts share most of theirs, and a stem takes several regular expressions. */
const stems = new Map<string, string>();
const STEMS_MAX = 8_192;
const STEMMED_LENGTH_MAX = 40;

/** A word without its inflection, in one spelling of British and American ones. Crude, but the same for every text. */
export function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (word.length > STEMMED_LENGTH_MAX) return word;
  if (stems.size >= STEMS_MAX) stems.clear();
  const base = stemOf(word);
  stems.set(word, base);
  return base;
}

function stemOf(word: string): string {
  let base = spelling(word);
  if (base.length > 4 && base.endsWith('ies')) base = `${base.slice(0, -3)}y`;
  else if (base.length > 3 && base.endsWith('s') && !/(?:ss|us|is)$/u.test(base)) base = base.slice(0, -1);
  if (base.length > 5 && base.endsWith('ing')) base = undouble(base.slice(0, -3));
  else if (base.length > 4 && base.endsWith('ed')) base = undouble(base.slice(0, -2));
  if (base.length > 5 && base.endsWith('ly')) base = base.slice(0, -2);
  if (base.length > 3 && base.endsWith('e')) base = base.slice(0, -1);
  return base;
}

/** True when two words are one verb or noun in two forms ("love" and "loved", "key" and "keys"), not in two spellings. Symmetric. */
export function isInflection(a: string, b: string): boolean {
  if (stem(a) !== stem(b)) return false;
  return endingOf(a) !== endingOf(b) || isWithS(a, b) || isWithS(b, a);
}

function endingOf(word: string): string {
  return /(?:ed|ing)$/u.exec(word)?.[0] ?? '';
}

function isWithS(word: string, base: string): boolean {
  return word === `${base}s` || word === `${base}es` || (base.endsWith('y') && word === `${base.slice(0, -1)}ies`);
}

/** True when two words say the same: one stem, one group of aliases, or one mistyped from the other. Symmetric. */
export function sameWord(a: string, b: string): boolean {
  if (a === b) return true;
  const stemA = stem(a);
  const stemB = stem(b);
  if (stemA === stemB) return true;
  const aliasA = aliasOf(a);
  if (aliasA !== undefined && aliasA === aliasOf(b)) return true;
  return isTypo(a, b);
}

function aliasOf(word: string): string | undefined {
  return ALIAS_OF.get(word) ?? ALIAS_OF.get(stem(word));
}

/**
 * True when one word is likely the other mistyped: a letter left out or doubled, or two neighbours swapped. A replaced
 * letter isn't enough, nor are short words: names that differ so are mostly two names.
 */
function isTypo(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length);
  if (a[0] !== b[0] || Math.abs(a.length - b.length) > 1) return false;
  if (shorter < TYPO_LENGTH_MIN || Math.max(a.length, b.length) > TYPO_LENGTH_MAX) return false;
  if (/[^a-z]/u.test(a) || /[^a-z]/u.test(b)) return false;
  if (SIDES_OF.has(a) && SIDES_OF.has(b)) return false;
  if (a.length !== b.length) return distance(a, b) === 1;
  return isSwap(a, b);
}

function isSwap(a: string, b: string): boolean {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

function undouble(base: string): string {
  const last = base.at(-1) ?? '';
  return base.length > 3 && last === base.at(-2) && !'lsz'.includes(last) ? base.slice(0, -1) : base;
}

function spelling(word: string): string {
  return word
    .replace(/isation/u, 'ization')
    .replace(/is(e|ed|es|ing|er)$/u, 'iz$1')
    .replace(/ys(e|ed|es|ing)$/u, 'yz$1')
    .replace(/(?<=[a-z]{2})our(?=s?$|ed$|ing$|ful$|ite$)/u, 'or')
    .replace(/tre(?=s?$)/u, 'ter')
    .replace(/ll(?=ed$|ing$|er$)/u, 'l')
    .replace(/(?:ae|oe)/gu, 'e');
}
