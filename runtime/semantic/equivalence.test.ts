import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uncalibratedEquivalence } from './equivalence.ts';

const similarity = fc.double({ min: -1, max: 1, noNaN: true });

describe('uncalibratedEquivalence', () => {
  it('never falls with similarity and stays within 0 and 1', () => {
    fc.assert(
      fc.property(similarity, similarity, (a, b) => {
        const low = uncalibratedEquivalence({ similarity: Math.min(a, b), vetoed: false });
        const high = uncalibratedEquivalence({ similarity: Math.max(a, b), vetoed: false });
        expect(low).toBeLessThanOrEqual(high);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('is 0 after a veto and for a similarity that is no number', () => {
    expect(uncalibratedEquivalence({ similarity: 1, vetoed: true })).toBe(0);
    expect(uncalibratedEquivalence({ similarity: Number.NaN, vetoed: false })).toBe(0);
  });
});
