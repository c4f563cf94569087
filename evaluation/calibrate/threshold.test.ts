import { describe, expect, it } from 'vitest';
import { seededRandom } from '../statistics/random.ts';
import { thresholdFor } from './threshold.ts';

const BOUND = { wrongAtMost: 0.05, confidence: 0.9 };

/** A negative's score is at most `score` with this probability; some are vetoed and never served. */
const SHARE_VETOED = 0.3;
function draw(random: () => number): number {
  return random() < SHARE_VETOED ? -Infinity : random() ** 3;
}
function trueShareServed(threshold: number): number {
  return (1 - SHARE_VETOED) * (1 - Math.cbrt(Math.min(1, threshold)));
}

describe('thresholdFor', () => {
  it('holds its bound as often as it says', () => {
    const random = seededRandom(5);
    const draws = 2_000;
    let broken = 0;
    for (let index = 0; index < draws; index += 1) {
      const tested = thresholdFor(
        Array.from({ length: 200 }, () => draw(random)),
        0,
        BOUND,
      );
      if (!('threshold' in tested)) throw new Error('200 negatives are enough');
      if (trueShareServed(tested.threshold) > BOUND.wrongAtMost) broken += 1;
    }
    const allowed = 1 - BOUND.confidence;
    expect(broken / draws).toBeLessThan(allowed + 3 * Math.sqrt((allowed * (1 - allowed)) / draws));
    // Far below, the bound would give away right hits.
    expect(broken / draws).toBeGreaterThan(allowed / 3);
  });

  it('serves no more than the negatives that were tested allow', () => {
    const scores = Array.from({ length: 1_000 }, (_, index) => index / 1_000);
    const tested = thresholdFor(scores, 0, { wrongAtMost: 0.01, confidence: 0.95 });
    expect(tested).toMatchObject({ negatives: 1_000, wrong: 4 });
    expect('bound' in tested && tested.bound).toBeLessThan(0.01);
  });

  it('serves negatives of one score together or not at all', () => {
    const scores = Array.from({ length: 1_000 }, () => 0.7);
    expect(thresholdFor(scores, 0, BOUND)).toMatchObject({ wrong: 0, threshold: expect.closeTo(0.7, 9) as number });
  });

  it('goes no lower than it is told where guards alone hold the bound', () => {
    const scores = Array.from({ length: 500 }, () => -Infinity);
    expect(thresholdFor(scores, 0.4, BOUND)).toMatchObject({ threshold: 0.4, wrong: 0 });
  });

  it('says how many negatives it needs', () => {
    const few = thresholdFor(
      Array.from({ length: 298 }, () => 0),
      0,
      { wrongAtMost: 0.01, confidence: 0.95 },
    );
    expect(few).toEqual({ negatives: 298, negativesMin: 299 });
  });
});
