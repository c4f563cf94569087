import type { CalibratedDomain, Calibration } from '../../ports/calibration.ts';
import { FEATURE_VERSION } from '../features.ts';
import { SIGNALS } from '../signals.ts';

/** A calibrated domain that promises 1 % at 95 %. */
export function calibratedDomain(changes: Partial<CalibratedDomain> = {}): CalibratedDomain {
  return {
    similarityMin: 0.7,
    probabilityMin: 0.6,
    wrongAtMost: 0.01,
    confidence: 0.95,
    method: 'exact binomial bound',
    counts: { pairs: 1_000, negatives: 500, positives: 500, wrong: 0, right: 250 },
    dataHash: 'abc',
    ...changes,
  };
}

/** A valid calibration whose probability rises with similarity alone. */
export function sampleCalibration(
  embedderId: string,
  domains: Readonly<Record<string, CalibratedDomain>> = { default: calibratedDomain() },
): Calibration {
  const zeros = SIGNALS.map(() => 0);
  return {
    version: 1,
    embedderId,
    featureVersion: FEATURE_VERSION,
    equivalence: {
      kind: 'monotone-networks',
      signals: SIGNALS.map(({ name }) => name),
      centre: zeros,
      scale: SIGNALS.map(() => 1),
      networks: [
        { hidden: [], hiddenBias: [], output: [], direct: zeros.map((_, at) => (at === 0 ? 10 : 0)), bias: -5 },
      ],
      slope: 1,
      offset: 0,
      rarity: { texts: 1, levels: [] },
    },
    domains,
    origin: { command: 'test', seed: 1, dataHash: 'abc', counts: {} },
  };
}
