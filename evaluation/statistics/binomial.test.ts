import { describe, expect, it } from 'vitest';
import { binomialAtMost, clopperPearson, successesMax, trialsMin, upperBound } from './binomial.ts';

describe('binomial', () => {
  it('gives the exact interval of Clopper and Pearson', () => {
    const { low, high } = clopperPearson(10, 100);
    expect([low, high].map((value) => value.toFixed(4))).toEqual(['0.0490', '0.1762']);
    expect(clopperPearson(0, 0)).toEqual({ low: 0, high: 1 });
    expect(clopperPearson(0, 20).low).toBe(0);
    expect(clopperPearson(20, 20).high).toBe(1);
  });

  it('sums the exact probabilities', () => {
    expect(binomialAtMost(2, 4, 0.5)).toBeCloseTo(11 / 16, 12);
    expect(binomialAtMost(-1, 4, 0.5)).toBe(0);
    expect(binomialAtMost(4, 4, 0.5)).toBe(1);
    expect(binomialAtMost(500, 10_000, 0.05)).toBeCloseTo(0.512, 2);
  });

  it('needs 299 trials without a success to refute 1 % at 95 %', () => {
    expect(trialsMin(0.01, 0.05)).toBe(299);
    expect(successesMax(298, 0.01, 0.05)).toBe(-1);
    expect(successesMax(299, 0.01, 0.05)).toBe(0);
  });

  it('allows as many successes as the upper bound does', () => {
    for (const trials of [299, 500, 2_000]) {
      const most = successesMax(trials, 0.01, 0.05);
      expect(upperBound(most, trials, 0.05)).toBeLessThanOrEqual(0.01 + 1e-12);
      expect(upperBound(most + 1, trials, 0.05)).toBeGreaterThan(0.01);
    }
  });
});
