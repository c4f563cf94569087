import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { compare } from './compare.ts';
import type { Rest } from './compare.ts';
import { remembered } from './remembered.ts';

/** True when two texts name different identifiers, addresses or pieces of code. Symmetric. */
export function codesDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  if (slicesDiffer(a, b)) return true;
  const compared = compare(a, b, lexicon);
  const inA = compared.a.some(isCode);
  const inB = compared.b.some(isCode);
  return (inA && inB) || ((inA || inB) && compared.near);
}

function isCode(rest: Rest): boolean {
  return rest.kind === 'i';
}

/** "list[1:]" and "list[:1]": the same words, and other signs around a number of one of them. */
function slicesDiffer(a: Features, b: Features): boolean {
  if (a.numbers.length === 0 || b.numbers.length === 0) return false;
  const [one, two] = [slicesOf(a), slicesOf(b)];
  return one.slices !== two.slices && (one.slices !== '' || two.slices !== '') && one.words === two.words;
}

const slicesOf: (features: Features) => { readonly words: string; readonly slices: string } = remembered(
  ({ words, kinds }) => {
    const slices: string[] = [];
    for (const [at, word] of words.entries()) {
      const inside = kinds[at] === '#' && (isBeside(words, at, -1) || isBeside(words, at, 1));
      if (inside) slices.push(`${words[at - 1]}${word}${words[at + 1]}`);
    }
    return { words: words.filter((_, at) => kinds[at] !== ',').join(' '), slices: slices.join(' ') };
  },
);

/** A bracket and a colon on one side of a number, or one of them on each. */
function isBeside(words: readonly string[], at: number, step: number): boolean {
  return words[at + step] === '.' && (words[at + 2 * step] === ',' || words[at - step] === ',');
}
