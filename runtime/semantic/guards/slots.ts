import type { Features } from '../feature-set.ts';
import { RELATIONS } from '../lexicons/little-words.ts';
import { ALIAS_OF } from '../lexicons/synonyms.ts';
import { remembered } from './remembered.ts';
import { bareWord } from './word-info.ts';
import { stem } from './word-match.ts';

/** A text as its words of meaning and the little words between them. */
export interface Slots {
  /** Of each word of meaning what it is compared by. */
  readonly keys: readonly string[];
  /** Those words, as written, in lower case. */
  readonly words: readonly string[];
  readonly kinds: readonly string[];
  /** Little words and ends of phrases before each of them, and after the last one. Courtesy is left out. */
  readonly slots: readonly (readonly string[])[];
  /** The keys in one string. */
  readonly joined: string;
}

const WORDS_MAX = 160;
const EMPTY: Slots = { keys: [], words: [], kinds: [], slots: [[]], joined: '' };

/** The slots of a text; of one that is too long to be read so, none. */
export const slotsOf: (features: Features) => Slots = remembered((features) =>
  features.words.length > WORDS_MAX ? EMPTY : readSlots(features),
);

function readSlots({ words, stems, kinds }: Features): Slots {
  const keys: string[] = [];
  const found: string[] = [];
  const foundKinds: string[] = [];
  const slots: string[][] = [[]];
  for (const [at, marked] of words.entries()) {
    const kind = kinds[at] ?? ',';
    const word = bareWord(marked);
    if (kind === 'c' && !KEPT.has(word)) continue;
    if (kind === 'c' || LITTLE.has(word)) slots.at(-1)?.push(word);
    else if (marked === ONE) slots.at(-1)?.push('one');
    else if (kind === ',' || (kind === 'f' && !isVariable(words, kinds, at))) slots.at(-1)?.push(word);
    else {
      keys.push(kind === '#' ? marked : keyOf(word, stems[at] ?? ''));
      found.push(word);
      foundKinds.push(kind);
      slots.push([]);
    }
  }
  return { keys, words: found, kinds: foundKinds, slots, joined: keys.join(' ') };
}

/** Little words that grammar's list doesn't have. */
const LITTLE = new Set(['others', 'back', 'away', 'along']);
/** Not mere courtesy: "everyone but Tom", "give up", "show off". */
const KEPT = new Set(['everyone', 'give', 'show']);

/** Of "movies", too, the key of "movie", though a rule of spelling says "movy". */
function keyOf(word: string, wordStem: string): string {
  return word.endsWith('ies') && ALIAS_OF.has(word.slice(0, -1)) ? stem(word.slice(0, -1)) : wordStem || word;
}

/** "One" is as good as an article, and is looked at where number matters. */
const ONE = '=#1';

const AFTER_VARIABLE = new Set(['then', 'is', 'are', 'equals', '=', '+', '-', '*', '/', '<', '>']);

/** "Subtract a from b": a name, not an article. */
export function isVariable(words: readonly string[], kinds: readonly string[], at: number): boolean {
  if (words[at] !== 'a') return false;
  const next = words[at + 1];
  return next === undefined || kinds[at + 1] === ',' || RELATIONS.has(next) || AFTER_VARIABLE.has(next);
}

/** True when two texts have the same words of meaning in the same order. */
export function haveSameWords(a: Slots, b: Slots): boolean {
  return a.keys.length > 0 && a.keys.length === b.keys.length && a.joined === b.joined;
}
