import type { LexiconOptions } from '../../ports/options.ts';
import { stem } from '../guards/word-match.ts';
import { DRUG_OF } from './drugs.ts';

/** A domain's own words as the guards look them up; all keys are stems. */
export interface DomainLexicon {
  /** Stem → its sides: `n` for the left, `-n` for the right side of pair n (counted from 1). */
  readonly sidesOf: ReadonlyMap<string, readonly number[]>;
  /** Stem → the name of its group of words that mean the same. */
  readonly groupOf: ReadonlyMap<string, string>;
  /** Names: each differs from each. */
  readonly names: ReadonlySet<string>;
  /** Name of a medicine → its generic name: the guards' own list, which every domain has. */
  readonly drugs: ReadonlyMap<string, string>;
  /** Words that limit what is asked for. */
  readonly scopeWords: ReadonlySet<string>;
}

/** The lexicon of a domain without words of its own. */
export const PLAIN_LEXICON: DomainLexicon = compileLexicon(undefined);

/** A domain's words, made ready for look-up. */
export function compileLexicon(options: LexiconOptions | undefined): DomainLexicon {
  const sidesOf = new Map<string, number[]>();
  for (const [index, pair] of (options?.opposites ?? []).entries()) {
    for (const [side, words] of pair.entries()) {
      for (const word of stemsOf(words.split(/\s+/u))) {
        const sides = sidesOf.get(word) ?? [];
        sides.push(side === 0 ? index + 1 : -index - 1);
        sidesOf.set(word, sides);
      }
    }
  }
  const groupOf = new Map<string, string>();
  for (const group of options?.same ?? []) {
    const [first, ...others] = stemsOf(group);
    if (first === undefined) continue;
    const name = groupOf.get(first) ?? first;
    for (const word of [first, ...others]) groupOf.set(word, name);
  }
  return {
    sidesOf,
    groupOf,
    names: new Set(stemsOf(options?.names ?? [])),
    drugs: DRUG_OF,
    scopeWords: new Set(stemsOf(options?.scopeWords ?? [])),
  };
}

function stemsOf(words: readonly string[]): readonly string[] {
  return words
    .filter((word) => word !== '')
    .map((word) =>
      stem(
        word
          .normalize('NFKD')
          .replace(/\p{M}+/gu, '')
          .toLowerCase(),
      ),
    );
}
