import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { compare } from './compare.ts';
import { remembered } from './remembered.ts';
import { bareWord } from './word-info.ts';

/** Words that ask for something beside or after what was said or given before. */
const BESIDE: ReadonlyMap<string, string> = new Map([
  ['another', 'another'],
  ['other', 'other'],
  ['others', 'other'],
  ['else', 'else'],
  ['again', 'again'],
]);
/** Two words of which the first alone says little. */
const PAIRS: ReadonlyMap<string, string> = new Map([
  ['one', 'more'],
  ['=#1', 'more'],
  ['some', 'more'],
  ['once', 'more'],
  ['more', 'of'],
]);
const WORDS_MAX = 400;

/** True when only one of the texts asks for another thing than before: "a joke" and "another joke". Symmetric. */
export function contextDiffers(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  const [besideA, besideB] = [besideWords(a), besideWords(b)];
  if (besideA === besideB || !compare(a, b, lexicon).near) return false;
  return !(besideA === 'another' && isElsewhere(b)) && !(besideB === 'another' && isElsewhere(a));
}

/** "a different country" is another one. */
function isElsewhere({ words }: Features): boolean {
  return words.includes('different') || words.includes('abroad');
}

/** The words of the kind that a text has, sorted, each once. */
const besideWords = remembered(({ words }: Features): string => {
  let found: Set<string> | undefined;
  for (let index = 0; index < Math.min(words.length, WORDS_MAX); index += 1) {
    const word = bareWord(words[index] ?? '');
    const beside = BESIDE.get(word) ?? besidePair(word, words[index + 1]);
    if (beside === undefined || isCourteous(words, index) || isListed(words, index)) continue;
    found ??= new Set();
    found.add(beside);
  }
  return found === undefined ? '' : [...found].sort().join(' ');
});

const SORRY_WITHIN = 6;

/** "sorry to trouble you again". */
function isCourteous(words: readonly string[], index: number): boolean {
  return (
    bareWord(words[index] ?? '') === 'again' && words.slice(Math.max(0, index - SORRY_WITHIN), index).includes('sorry')
  );
}

/** "…, and other apps", "among other things". */
function isListed(words: readonly string[], index: number): boolean {
  const before = words[index - 1] ?? '';
  return words[index] === 'other' && index > 1 && (before === 'and' || before === 'or' || before === 'among');
}

function besidePair(word: string, next: string | undefined): string | undefined {
  const second = PAIRS.get(word);
  return second !== undefined && next !== undefined && bareWord(next) === second ? 'more' : undefined;
}
