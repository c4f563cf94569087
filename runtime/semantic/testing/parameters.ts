import type { Calibration, EquivalenceParameters } from '../../ports/calibration.ts';
import { FEATURE_VERSION } from '../features.ts';
import { SIGNALS } from '../signals.ts';

/** Parameters of a small model in which similarity and all mismatches count. */
export function sampleEquivalence(): EquivalenceParameters {
  const count = SIGNALS.length;
  const row = (first: number): number[] => SIGNALS.map((_, at) => (at === 0 ? first : 0.05 * (1 + (at % 4))));
  return {
    kind: 'monotone-networks',
    signals: SIGNALS.map(({ name }) => name),
    centre: SIGNALS.map((_, at) => (at === 0 ? 0.8 : 0.5)),
    scale: Array.from({ length: count }, () => 0.2),
    networks: [{ hidden: [row(1), row(0.2)], hiddenBias: [0.1, -0.4], output: [1, 0.5], direct: row(0.8), bias: 0.2 }],
    slope: 1,
    offset: 0,
    rarity: { texts: 100, levels: ['the', 'password', 'reset account'] },
  };
}

/** A calibration without calibrated domains. */
export function sampleEquivalenceCalibration(embedderId: string): Calibration {
  return {
    version: 1,
    embedderId,
    featureVersion: FEATURE_VERSION,
    equivalence: sampleEquivalence(),
    domains: {},
    origin: { command: 'reprise train pairs', seed: 1, dataHash: 'a1', counts: { 'pairs.tsv': 3 } },
  };
}
