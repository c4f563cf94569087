import { COURTESY_WORDS, FUNCTION_WORDS } from '../lexicons/grammar.ts';
import { SIDES_OF } from '../lexicons/opposites.ts';
import { SCOPE_OF } from '../lexicons/scope.ts';
import { baseOf, stem } from './word-match.ts';

/** What the guards know of one word, whatever stands around it. */
export interface WordInfo {
  /** Lower case, without the mark of a name. */
  readonly word: string;
  /** As in `Features.stems`. */
  readonly stem: string;
  /** The word without its inflection. */
  readonly base: string;
  /** As in `Features.kinds`. */
  readonly kind: string;
  /** As in `SIDES_OF`; undefined for a word without an opposite. */
  readonly sides: readonly number[] | undefined;
  /** As in `SCOPE_OF`; undefined for a word that limits nothing. */
  readonly scope: string | undefined;
}

/** Words of recent texts: texts share most of theirs, and to read one takes several look-ups and regular expressions. */
const infos = new Map<string, WordInfo>();
const INFOS_MAX = 16_384;
const REMEMBERED_LENGTH_MAX = 40;

/** Reads a word of `Features.words`. Pure; remembers recent words. */
export function wordInfo(marked: string): WordInfo {
  const known = infos.get(marked);
  if (known !== undefined) return known;
  const info = readWord(marked);
  if (marked.length > REMEMBERED_LENGTH_MAX) return info;
  if (infos.size >= INFOS_MAX) infos.clear();
  infos.set(marked, info);
  return info;
}

function readWord(marked: string): WordInfo {
  const word = bareWord(marked);
  const base = baseOf(word);
  const wordStem = stemOf(marked, word);
  return {
    word,
    stem: wordStem,
    base,
    kind: kindOf(marked, word),
    sides: SIDES_OF.get(word) ?? SIDES_OF.get(base),
    scope: SCOPE_OF.get(word) ?? SCOPE_OF.get(wordStem),
  };
}

const CARET = 94;

/** A word without its mark. */
export function bareWord(word: string): string {
  return word.length > 1 && word.charCodeAt(0) === CARET ? word.slice(1) : word;
}

function stemOf(marked: string, word: string): string {
  return marked === ',' || marked === '.' || (marked.length > 1 && marked.startsWith('=')) ? '' : stem(word);
}

const LETTERS = /^[a-z]+$/;

function kindOf(marked: string, word: string): string {
  if (marked === ',' || marked === '.') return ',';
  if (marked.startsWith('=') && marked.length > 1) return '#';
  const named = word !== marked;
  if (COURTESY_WORDS.has(word)) return 'c';
  if (FUNCTION_WORDS.has(word)) return named && (word === 'us' || word === 'it' || word === 'a') ? 'n' : 'f';
  if (!LETTERS.test(word)) {
    if (!/[\p{L}\p{N}]/u.test(word)) return 's';
    if (isIdentifier(word)) return 'i';
  }
  return named ? 'n' : 'w';
}

/** A word of code, an address, a version or a number of a thing: it has a digit or a sign inside. */
export function isIdentifier(word: string): boolean {
  if (LETTERS.test(word)) return false;
  return /\p{Nd}/u.test(word) || /[_@#+/:\\]|\p{L}\.\p{L}/u.test(word);
}
