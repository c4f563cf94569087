import type { Features } from '../feature-set.ts';
import { TEXT_ORDERS, WORD_ORDERS } from '../lexicons/little-words.ts';
import { remembered } from './remembered.ts';
import { bareWord } from './word-info.ts';

const ORDER_WORDS_MAX = 8;
const WORDS_MAX = 400;

/** A text that is given to be worked on, word by word; empty where there is none. */
const givenTextOf: (features: Features) => { readonly given: string } = remembered(({ words, kinds }) => {
  const plain = words.slice(0, WORDS_MAX).map(bareWord);
  const order = plain.findIndex((word, at) => at < ORDER_WORDS_MAX && TEXT_ORDERS.has(word));
  if (order < 0) return { given: '' };
  let from = plain.findIndex((_, at) => at > order && kinds[at] === ',');
  if (from < 0 || from > order + ORDER_WORDS_MAX) {
    if (!WORD_ORDERS.has(plain[order] ?? '')) return { given: '' };
    return { given: plain.filter((_, at) => at > order && isSpoken(kinds[at])).join(' ') };
  }
  const given = plain.slice(from + 1, endOf(words, from));
  return { given: given.filter((word, at) => kinds[from + 1 + at] !== ',' && !POLITE.has(word)).join(' ') };
});

/** The end of what is quoted, or of the text. */
function endOf(words: readonly string[], from: number): number {
  const closing = words.indexOf(',', from + 2);
  return words[from] === ',' && closing > 0 ? closing : WORDS_MAX;
}

function isSpoken(kind = ','): boolean {
  return kind === 'w' || kind === 'n' || kind === '#' || kind === 'i';
}

const POLITE = new Set(['please', 'thanks', 'thank', 'pls']);

/** True when both texts give something to be corrected, spelled, translated or sorted, and it isn't word for word the same. Symmetric. */
export function givenTextsDiffer(a: Features, b: Features): boolean {
  const [one, two] = [givenTextOf(a).given, givenTextOf(b).given];
  return one !== '' && two !== '' && one !== two;
}
