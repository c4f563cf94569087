import { describe, expect, it } from 'vitest';
import { RepriseError } from '../errors.ts';
import { parseCalibration } from './calibration.ts';
import { sampleEquivalenceCalibration } from './testing/parameters.ts';

const sample = (): Record<string, unknown> =>
  JSON.parse(JSON.stringify(sampleEquivalenceCalibration('embedder-1'))) as Record<string, unknown>;

function failureOf(value: unknown): RepriseError {
  try {
    parseCalibration(value);
  } catch (error) {
    if (error instanceof RepriseError) return error;
  }
  throw new Error('nothing was refused');
}

const domain = {
  similarityMin: 0.8,
  probabilityMin: 0.7,
  wrongAtMost: 0.01,
  confidence: 0.95,
  method: 'clopper-pearson',
  counts: { pairs: 900, negatives: 400, positives: 500, wrong: 1, right: 200 },
  dataHash: 'b2',
};

describe('parseCalibration', () => {
  it('gives back what was written', () => {
    const written = { ...sample(), domains: { default: domain } };
    expect(parseCalibration(written)).toEqual(written);
  });

  it.each([
    ['version', 2, 'calibration.version'],
    ['embedderId', 3, 'calibration.embedderId'],
    ['featureVersion', '3', 'calibration.featureVersion'],
    ['equivalence', undefined, 'calibration.equivalence'],
    ['domains', { default: { ...domain, probabilityMin: 2 } }, 'calibration.domains.default.probabilityMin'],
    ['domains', { default: { ...domain, counts: {} } }, 'calibration.domains.default.counts.pairs'],
    ['origin', null, 'calibration.origin'],
  ])('names the field that is wrong: %s', (name, value, path) => {
    const failure = failureOf({ ...sample(), [name]: value });
    expect(failure.code).toBe('config_invalid');
    expect(failure.message).toContain(path);
  });

  it.each([
    ['scale', (at: Record<string, unknown>) => (at['scale'] = (at['scale'] as number[]).map(() => 0)), 'scale'],
    ['signals', (at: Record<string, unknown>) => (at['signals'] = ['similarity']), 'signals'],
    ['slope', (at: Record<string, unknown>) => (at['slope'] = -1), 'slope'],
    ['networks', (at: Record<string, unknown>) => (at['networks'] = []), 'networks'],
    ['centre', (at: Record<string, unknown>) => (at['centre'] = [Number.NaN]), 'centre'],
  ])('refuses an equivalence with a bad %s', (_name, spoil, path) => {
    const value = sample();
    spoil(value['equivalence'] as Record<string, unknown>);
    expect(failureOf(value).message).toContain(`calibration.equivalence.${path}`);
  });

  it('refuses a weight below 0, which would break monotony', () => {
    const value = sample();
    const { networks } = value['equivalence'] as { networks: { direct: number[] }[] };
    networks[0]!.direct[3] = -0.1;
    expect(failureOf(value).message).toContain('networks.0.direct');
  });

  it.each([undefined, null, 7, 'x', []])('refuses what is no calibration: %j', (value) => {
    expect(failureOf(value).code).toBe('config_invalid');
  });
});
