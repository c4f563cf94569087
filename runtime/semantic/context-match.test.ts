import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignedSide } from './alignment.ts';
import { contextMatch, NO_CONTEXT } from './context-match.ts';
import type { ContextSide } from './context-match.ts';
import { extractFeatures } from './features.ts';
import { EVEN_RARITY } from './rarity.ts';
import { sketchOf } from './sketch.ts';

/** Unit vectors in two dimensions by angle, degrees. */
function sideOf(text: string, angles: Readonly<Record<string, number>>): ContextSide {
  const features = extractFeatures(text);
  const words = Object.keys(angles);
  const vectors = Int8Array.from(
    words.flatMap((word) => {
      const radians = ((angles[word] ?? 0) * Math.PI) / 180;
      return [Math.cos(radians), Math.sin(radians), 0, 0].map((value) => Math.round(value * 127));
    }),
  );
  return { features, side: alignedSide(features, EVEN_RARITY), sketch: sketchOf(features, { words, vectors }) };
}

/** Steps hold components up to a half, so a word of full length here has a cosine of a quarter with itself. */
const FULL = (127 / 254) ** 2;

describe('contextMatch', () => {
  it('finds the word of meaning that fits least', () => {
    const a = sideOf('reset router', { reset: 0, router: 10 });
    const b = sideOf('reset modem', { reset: 0, modem: 70 });
    const { worstPoorer, meanPoorer } = contextMatch(a, b);
    expect(worstPoorer).toBeCloseTo(FULL * Math.cos(Math.PI / 3), 2);
    expect(meanPoorer).toBeGreaterThan(worstPoorer);
  });

  it('passes over words of grammar, but lets them be found', () => {
    const a = sideOf('is it open', { is: 0, it: 90, open: 180 });
    const b = sideOf('open', { open: 180 });
    expect(contextMatch(a, b).worstPoorer).toBeCloseTo(FULL, 2);
  });

  it('speaks low of a pair where a text has no sketch', () => {
    const a = sideOf('reset router', { reset: 0, router: 10 });
    expect(contextMatch(a, { ...a, sketch: undefined })).toEqual(NO_CONTEXT);
  });

  it('is symmetric and within the range of cosines', () => {
    const angle = fc.integer({ min: 0, max: 360 });
    fc.assert(
      fc.property(angle, angle, angle, angle, (w, x, y, z) => {
        const a = sideOf('reset my router', { reset: w, my: x, router: y });
        const b = sideOf('restart router', { restart: z, router: x });
        const there = contextMatch(a, b);
        expect(contextMatch(b, a)).toEqual(there);
        expect(Object.values(there).every((value) => value >= -1.01 && value <= 1.01)).toBe(true);
      }),
    );
  });
});
