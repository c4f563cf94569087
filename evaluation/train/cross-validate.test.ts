import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractFeatures } from '../../runtime/semantic/features.ts';
import { coverageOf, foldsOf } from './cross-validate.ts';
import { textGroups } from '../pairs/text-groups.ts';
import type { TrainingPair } from './training-pair.ts';

const texts = fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 40 })), { maxLength: 60 });

function pairsOf(ids: readonly (readonly [number, number])[]): readonly TrainingPair[] {
  const groups = textGroups(ids.map(([a, b]) => [`text ${a}`, `text ${b}`]));
  const features = extractFeatures('a text');
  return ids.map(([a, b], index) => ({
    stored: { text: `text ${a}`, features },
    asked: { text: `text ${b}`, features },
    similarity: 0.5,
    same: true,
    weight: 1,
    source: 'made',
    category: 'none',
    group: groups[index] ?? 0,
  }));
}

describe('foldsOf', () => {
  it('never has one text in two folds', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 6 }), fc.nat(100), (ids, folds, seed) => {
        const pairs = pairsOf(ids);
        const foldOf = foldsOf(pairs, folds, seed);
        const foldOfText = new Map<string, number>();
        for (const [index, { asked, stored }] of pairs.entries()) {
          for (const { text } of [asked, stored]) {
            const fold = foldOf[index]!;
            expect(foldOfText.get(text) ?? fold).toBe(fold);
            foldOfText.set(text, fold);
          }
        }
      }),
    );
  });

  it('gives folds of about one size', () => {
    const ids = Array.from({ length: 20 }, (_, index): [number, number] => [2 * index, 2 * index + 1]);
    const foldOf = foldsOf(pairsOf(ids), 5, 1);
    expect([0, 1, 2, 3, 4].map((fold) => foldOf.filter((one) => one === fold).length)).toEqual([4, 4, 4, 4, 4]);
  });
});

describe('textGroups', () => {
  it('joins pairs that share a text by way of others', () => {
    expect(
      textGroups([
        ['a', 'b'],
        ['c', 'd'],
        ['d', 'b'],
        ['x', 'y'],
      ]),
    ).toEqual([0, 0, 0, 1]);
  });
});

describe('coverageOf', () => {
  it('counts same pairs that score above all but the allowed share of the others', () => {
    const others = Array.from({ length: 100 }, (_, index) => index / 100);
    const scores = [...others, 0.985, 0.955, 0.5];
    const same = [...others.map(() => false), true, true, true];
    expect(coverageOf(scores, same)).toEqual({ positives: 3, negatives: 100, at1: 1 / 3, at5: 2 / 3 });
  });

  it('never serves a score of 0', () => {
    expect(coverageOf([0, 0, 0], [false, true, true])).toMatchObject({ at1: 0, at5: 0 });
  });
});
