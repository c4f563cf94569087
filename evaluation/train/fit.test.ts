import { describe, expect, it } from 'vitest';
import { fitNetworks } from './fit.ts';
import type { FitRow } from './fit.ts';
import { plattScaling } from './platt.ts';
import { seededRandom } from '../statistics/random.ts';

const SIGNS = [1, -1, -1];

/** Rows whose label hangs on the first two signals; the third one runs against its own direction. */
function rows(count: number): readonly FitRow[] {
  const random = seededRandom(7);
  return Array.from({ length: count }, () => {
    const signals = Float64Array.of(random(), random(), 0);
    const same = signals[0]! - signals[1]! + 0.2 * (random() - 0.5) > 0;
    signals[2] = same ? 0.5 + random() : random();
    return { signals, same, weight: 1 };
  });
}

describe('fitNetworks', () => {
  it('never gives a weight below 0, not even to a signal that runs against its direction', () => {
    const { networks } = fitNetworks(rows(300), { seed: 1, signs: SIGNS, networks: 2, epochs: 10 });
    const weights = networks.flatMap(({ hidden, output, direct }) => [...hidden.flat(), ...output, ...direct]);
    expect(Math.min(...weights)).toBeGreaterThanOrEqual(0);
  });

  it('learns what parts the labels', () => {
    const fit = fitNetworks(rows(600), { seed: 1, signs: SIGNS, networks: 1, epochs: 30, units: 2 });
    const [network] = fit.networks;
    expect(network?.direct[0]).toBeGreaterThan(0.5);
    expect(network?.direct[1]).toBeGreaterThan(0.5);
    expect(network?.direct[2]).toBeLessThan(0.1);
  });

  it('gives the same numbers for the same seed, and others for another one', () => {
    const fit = (seed: number): string =>
      JSON.stringify(fitNetworks(rows(120), { seed, signs: SIGNS, networks: 2, epochs: 3 }));
    expect(fit(3)).toBe(fit(3));
    expect(fit(3)).not.toBe(fit(4));
  });
});

describe('plattScaling', () => {
  it('draws in probabilities that are too sure of themselves', () => {
    const random = seededRandom(5);
    const scored = Array.from({ length: 2_000 }, () => {
      const truth = 0.05 + 0.9 * random();
      const logOdds = 3 * Math.log(truth / (1 - truth));
      return { score: 1 / (1 + Math.exp(-logOdds)), same: random() < truth };
    });
    expect(plattScaling(scored).slope).toBeGreaterThan(0.25);
    expect(plattScaling(scored).slope).toBeLessThan(0.45);
  });

  it('scales nothing where one label is missing', () => {
    expect(plattScaling([{ score: 0.4, same: true }])).toEqual({ slope: 1, offset: 0 });
    expect(plattScaling([])).toEqual({ slope: 1, offset: 0 });
  });
});
