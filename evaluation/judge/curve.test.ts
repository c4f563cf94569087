import { describe, expect, it } from 'vitest';
import { coverageAt, curveOf, thinned } from './curve.ts';

const item = (score: number, same: boolean): { score: number; same: boolean } => ({ score, same });

describe('curveOf', () => {
  it('counts right and wrong hits from each score on', () => {
    const curve = curveOf([item(0.9, true), item(0.8, false), item(0.7, true), item(-Infinity, false)]);
    expect(curve).toEqual({
      positives: 2,
      negatives: 2,
      points: [
        { threshold: Infinity, right: 0, wrong: 0 },
        { threshold: 0.9, right: 1, wrong: 0 },
        { threshold: 0.8, right: 1, wrong: 1 },
        { threshold: 0.7, right: 2, wrong: 1 },
      ],
    });
  });

  it('serves items of one score together', () => {
    const { points } = curveOf([item(0.9, true), item(0.9, false), item(0.9, true)]);
    expect(points.slice(1)).toEqual([{ threshold: 0.9, right: 2, wrong: 1 }]);
  });
});

describe('coverageAt', () => {
  it('gives the most right hits within the bound', () => {
    const items = [item(0.9, true), item(0.8, false), item(0.7, true), item(0.6, false), item(0.5, true)];
    const curve = curveOf(items);
    expect(coverageAt(curve, 0).right).toBe(1);
    expect(coverageAt(curve, 0.5).right).toBe(2);
    expect(coverageAt(curve, 1).right).toBe(3);
  });

  it('serves nothing where the first item breaks the bound', () => {
    expect(coverageAt(curveOf([item(0.9, false), item(0.8, true)]), 0.1)).toMatchObject({
      right: 0,
      threshold: Infinity,
    });
  });
});

describe('thinned', () => {
  it('keeps both ends', () => {
    const points = Array.from({ length: 1_001 }, (_, index) => ({ threshold: -index, right: index, wrong: 0 }));
    const few = thinned(points, 11);
    expect(few.map(({ right }) => right)).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000]);
  });
});
