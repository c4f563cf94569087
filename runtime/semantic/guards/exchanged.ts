import type { Features } from '../feature-set.ts';
import { isVariable } from './slots.ts';
import { stem } from './word-match.ts';

const WORDS_MAX = 160;
/** Between two things that stand on equal terms. */
const JOINING = new Set('and or , & / + * × plus times nor vs versus'.split(' ').map(stem));
const SMALL = new Set('the a an my our your this that some any'.split(' '));

/**
 * True when two texts are word for word the same but that two things have changed places everywhere: "how many euros is a dollar worth", "how
 * many dollars is a euro worth". No grammar is read, so it sees what the reading of roles doesn't; things that are merely listed ("salt and
 * pepper") and neighbours ("a big red car") may change places. Symmetric.
 */
export function wordsExchanged(a: Features, b: Features): boolean {
  const one = contentOf(a);
  const two = contentOf(b);
  if (one.length !== two.length || one.length > WORDS_MAX) return false;
  const pair = exchangeOf(one, two);
  return pair !== undefined && standApart(one, pair) && standApart(two, pair);
}

/** Words but for articles and courtesy, by their stems. */
function contentOf({ words, stems, kinds }: Features): readonly string[] {
  const content: string[] = [];
  for (const [at, word] of words.entries()) {
    if (kinds[at] === 'c' || kinds[at] === '.' || word === '.') continue;
    if (SMALL.has(word) && !isVariable(words, kinds, at)) continue;
    content.push(kinds[at] === '#' || stems[at] === '' ? word : (stems[at] ?? word));
  }
  while (content.at(-1) === ',') content.pop();
  return content;
}

/** The two that have changed places wherever they stand, while all else stands where it stood. */
function exchangeOf(one: readonly string[], two: readonly string[]): readonly [string, string] | undefined {
  const first = one.findIndex((word, at) => word !== two[at]);
  const pair = [one[first] ?? '', two[first] ?? ''] as const;
  if (first < 0 || !one.includes(pair[1]) || pair.some((word) => JOINING.has(word))) return undefined;
  return one.every((word, at) => exchanged(word, pair) === two[at]) ? pair : undefined;
}

function exchanged(word: string, pair: readonly [string, string]): string {
  return word === pair[0] ? pair[1] : word === pair[1] ? pair[0] : word;
}

/** Somewhere more than a joining word stands between the two, and nowhere are they listed. */
function standApart(words: readonly string[], [x, y]: readonly [string, string]): boolean {
  let last = -1;
  let apart = false;
  for (const [at, word] of words.entries()) {
    if (word !== x && word !== y) continue;
    if (last >= 0 && words[last] !== word) {
      const between = words.slice(last + 1, at);
      if (between.length > 0 && between.every((joining) => JOINING.has(joining))) return false;
      apart ||= between.length > 0;
    }
    last = at;
  }
  return apart;
}
