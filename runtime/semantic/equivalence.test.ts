import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MonotoneEquivalence, UNCALIBRATED } from './equivalence.ts';
import { SIGNALS } from './signals.ts';
import { sampleEquivalence } from './testing/parameters.ts';

const similarity = fc.double({ min: -1, max: 1, noNaN: true });

describe('UNCALIBRATED', () => {
  it('never falls with similarity and stays within 0 and 1', () => {
    fc.assert(
      fc.property(similarity, similarity, (a, b) => {
        const low = UNCALIBRATED.probability(Float64Array.of(Math.min(a, b)));
        const high = UNCALIBRATED.probability(Float64Array.of(Math.max(a, b)));
        expect(low).toBeLessThanOrEqual(high);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('is 0 for a similarity that is no number', () => {
    expect(UNCALIBRATED.probability(Float64Array.of(Number.NaN))).toBe(0);
  });
});

describe('MonotoneEquivalence', () => {
  const model = new MonotoneEquivalence(sampleEquivalence());
  const signals = fc.array(fc.double({ min: -1, max: 4, noNaN: true }), {
    minLength: SIGNALS.length,
    maxLength: SIGNALS.length,
  });

  it('never rises when a mismatch grows or the similarity falls', () => {
    fc.assert(
      fc.property(
        signals,
        fc.nat(SIGNALS.length - 1),
        fc.double({ min: 0, max: 3, noNaN: true }),
        (values, at, more) => {
          const worse = Float64Array.from(values);
          worse[at] = (worse[at] ?? 0) + (SIGNALS[at]?.direction === 'raises' ? -more : more);
          expect(model.probability(worse)).toBeLessThanOrEqual(model.probability(Float64Array.from(values)));
        },
      ),
    );
  });

  it('is a probability, and the same each time', () => {
    fc.assert(
      fc.property(signals, (values) => {
        const probability = model.probability(Float64Array.from(values));
        expect(probability).toBeGreaterThanOrEqual(0);
        expect(probability).toBeLessThanOrEqual(1);
        expect(model.probability(Float64Array.from(values))).toBe(probability);
      }),
    );
  });

  it('tells close similarities apart', () => {
    const at = (similarity: number): number =>
      model.probability(Float64Array.from(SIGNALS, (_, index) => (index === 0 ? similarity : 0)));
    expect(at(0.9001)).toBeGreaterThan(at(0.9));
  });

  it('is 0 for a signal that is no number', () => {
    expect(model.probability(new Float64Array(SIGNALS.length).fill(Number.NaN))).toBe(0);
  });
});
