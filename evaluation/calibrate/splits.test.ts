import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../statistics/random.ts';
import { splitByText, withoutSharedTexts, type TextPair } from './splits.ts';

const pairs = fc.array(fc.tuple(fc.nat(40).map(String), fc.nat(40).map(String)), { minLength: 1, maxLength: 80 });
const textsOf = (all: readonly TextPair[], positions: readonly number[]): ReadonlySet<string> =>
  new Set(positions.flatMap((at) => all[at] ?? []));

describe('splitByText', () => {
  it('never has a text in both parts, and loses no pair unsaid', () => {
    fc.assert(
      fc.property(pairs, fc.nat(1_000), (all, seed) => {
        const { fit, heldOut, dropped } = splitByText(all, 0.4, seededRandom(seed));
        expect(disjoint(all, fit, heldOut)).toBe(true);
        expect(fit.length + heldOut.length + dropped).toBe(all.length);
      }),
    );
  });

  it('drops nothing while no group is large, and holds out about its share', () => {
    const all = Array.from({ length: 1_000 }, (_, index): TextPair => [`a${index}`, `b${Math.floor(index / 3)}`]);
    const { heldOut, dropped } = splitByText(all, 0.4, seededRandom(1));
    expect(dropped).toBe(0);
    expect(Math.abs(heldOut.length - 400)).toBeLessThan(10);
  });

  it('breaks up a group that is nearly everything', () => {
    const all = Array.from({ length: 1_000 }, (_, index): TextPair => [`t${index}`, `t${index + 1}`]);
    const { fit, heldOut, dropped } = splitByText(all, 0.4, seededRandom(1));
    expect(dropped).toBeGreaterThan(300);
    expect(Math.min(fit.length, heldOut.length)).toBeGreaterThan(100);
  });
});

describe('withoutSharedTexts', () => {
  it('keeps pairs of which no two share a text, and leaves out none that would fit', () => {
    fc.assert(
      fc.property(pairs, fc.nat(1_000), (all, seed) => {
        const every = all.map((_, at) => at);
        const kept = withoutSharedTexts(all, every, seededRandom(seed));
        const texts = kept.flatMap((at) => [...new Set(all[at])]);
        expect(new Set(texts).size).toBe(texts.length);
        const used = new Set(texts);
        for (const at of every.filter((position) => !kept.includes(position))) {
          expect(all[at]?.some((text) => used.has(text))).toBe(true);
        }
      }),
    );
  });
});

function disjoint(all: readonly TextPair[], one: readonly number[], two: readonly number[]): boolean {
  const texts = textsOf(all, one);
  return [...textsOf(all, two)].every((text) => !texts.has(text));
}
