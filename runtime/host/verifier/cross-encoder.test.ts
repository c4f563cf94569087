import { QuietTelemetry } from '../../../simulation/world/quiet-telemetry.ts';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SemanticConfig } from '../../config/index.ts';
import { RepriseError } from '../../errors.ts';
import type { Verifier } from '../../ports/verifier.ts';
import { SystemClock } from '../system-clock.ts';
import { tinyCrossEncoder, tinyTokenizer } from '../testing/tiny-onnx.ts';
import { CrossEncoder } from './cross-encoder.ts';
import { openVerifier } from './open-verifier.ts';
import { describeVerifier } from './verifier-contract.ts';

/** A worker that never comes to an end while a file lies there. */
const DOUBLE = `
import { existsSync } from 'node:fs';
const flag = new URL('./hanging', import.meta.url);
export async function verify({ storedText, askedText }) {
  while (existsSync(flag)) await new Promise((resolve) => setTimeout(resolve, 5));
  return { kind: 'probability', probability: storedText === askedText ? 0.9 : 0.1 };
}
`;
const CONFIG: Omit<SemanticConfig['verifier'], 'modelDir'> = {
  kind: 'cross-encoder',
  model: '',
  name: 'tiny',
  windowTokens: 12,
  threads: 1,
  executionProviders: ['cpu'],
};

const clock = new SystemClock();
const telemetry = new QuietTelemetry();
const folder = mkdtempSync(join(tmpdir(), 'reprise-verifier-'));
const workerUrl = pathToFileURL(join(folder, 'double.mjs'));
const flag = join(folder, 'hanging');
const within = (ms = 60_000) => ({ deadlineAtMs: clock.monotonicMs() + ms });

beforeAll(() => writeFileSync(workerUrl, DOUBLE));
afterAll(() => rmSync(folder, { recursive: true }));

describeVerifier(
  'a cross-encoder',
  async () => {
    const options = { modelPath: '', tokenizerPath: '', windowTokens: 64, threads: 1, executionProviders: ['cpu'] };
    const verifier = await CrossEncoder.open(
      { clock, telemetry },
      { ...options, id: 'cross-encoder:double', workerUrl },
    );
    return {
      verifier,
      nowMs: () => clock.monotonicMs(),
      hang: () => writeFileSync(flag, ''),
      async close() {
        rmSync(flag, { force: true });
        await verifier.close();
      },
    };
  },
  { same: ['x', 'x'], other: ['x', 'y'] },
);

describe('a cross-encoder in ONNX', () => {
  let verifier: Verifier;

  beforeAll(async () => {
    mkdirSync(join(folder, 'tiny'));
    writeFileSync(join(folder, 'tiny', 'model.onnx'), tinyCrossEncoder());
    const words = ['reset', 'my', 'password', 'cancel', 'order'];
    writeFileSync(join(folder, 'tiny', 'tokenizer.json'), JSON.stringify(tinyTokenizer(words)));
    const opened = await openVerifier({ ...CONFIG, modelDir: folder }, { clock, telemetry, models: noModels });
    if ('missing' in opened) throw new Error(opened.missing);
    verifier = opened;
  });
  afterAll(() => verifier.close());

  it('reads both texts together: one logit becomes a probability', async () => {
    const logistic = (logit: number): number => 1 / (1 + Math.exp(-logit));
    expect(await verifier.verify('reset my password', 'password my reset', within())).toBeCloseTo(logistic(4), 4);
    expect(await verifier.verify('reset', 'my', within())).toBeCloseTo(logistic(3), 4);
    expect(await verifier.verify('reset', 'order', within())).toBeCloseTo(logistic(4 - 16), 4);
  });

  it('gives nothing for a pair past its window', async () => {
    const long = 'my '.repeat(12);
    expect(await verifier.verify(long, long, within())).toBe(0);
    expect(await verifier.verify('x'.repeat(5_000), 'x'.repeat(5_000), within())).toBe(0);
  });

  it('is named after its model', () => expect(verifier.id).toBe('cross-encoder:tiny'));
});

describe('a cross-encoder that cannot be had', () => {
  it('is said to be missing where its files are not', async () => {
    const opened = await openVerifier(
      { ...CONFIG, name: 'none', modelDir: folder },
      { clock, telemetry, models: noModels },
    );
    expect(opened).toEqual({ missing: `the cross-encoder none isn't in ${folder}` });
  });

  it('is said not to load where its model is none', async () => {
    mkdirSync(join(folder, 'broken'));
    for (const file of ['model.onnx', 'tokenizer.json']) writeFileSync(join(folder, 'broken', file), '{}');
    const opened = await openVerifier(
      { ...CONFIG, name: 'broken', modelDir: folder },
      { clock, telemetry, models: noModels },
    );
    expect(opened).toMatchObject({ missing: expect.stringContaining("doesn't load") as string });
  });

  it('after it was closed it fails', async () => {
    const options = { modelPath: '', tokenizerPath: '', windowTokens: 64, threads: 1, executionProviders: ['cpu'] };
    const encoder = await CrossEncoder.open(
      { clock, telemetry },
      { ...options, id: 'cross-encoder:double', workerUrl },
    );
    await encoder.close();
    await expect(encoder.verify('a', 'b', within())).rejects.toThrow(RepriseError);
  });
});

function noModels(): never {
  throw new Error('a cross-encoder asks no model');
}
