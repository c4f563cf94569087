import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { RepriseError } from '../../runtime/errors.ts';
import type { Embedder } from '../../runtime/ports/embedder.ts';
import { parseCalibration } from '../../runtime/semantic/calibration.ts';
import { TextEmbedder } from '../embedding/text-embedder.ts';
import { train } from './train.ts';

const DIMENSIONS = 16;

/** Vectors from letter counts: near texts get near vectors. */
const letters: Embedder = {
  id: 'letters-1',
  dimensions: DIMENSIONS,
  windowTokens: 256,
  embed: (texts) =>
    Promise.resolve(
      texts.map((text) => {
        const vector = new Float32Array(DIMENSIONS);
        for (const char of text) vector[(char.codePointAt(0) ?? 0) % DIMENSIONS]! += 1;
        const length = Math.hypot(...vector);
        return { vector: vector.map((value) => value / length), tokenCount: text.length, truncated: false };
      }),
    ),
  close: () => Promise.resolve(),
};

const folder = mkdtempSync(join(tmpdir(), 'reprise-train-'));
const empty = mkdtempSync(join(tmpdir(), 'reprise-train-empty-'));
const subjects = [
  'apples',
  'bridges',
  'candles',
  'drums',
  'engines',
  'forests',
  'gardens',
  'hammers',
  'islands',
  'jackets',
];
const rows = subjects.flatMap((subject, index) => [
  `How are ${subject} made?\tWhat is the way to make ${subject}?\t1`,
  `How are ${subject} made?\tHow are ${subjects[(index + 3) % subjects.length]} sold?\t0`,
]);
writeFileSync(join(folder, 'pairs.tsv'), ['a\tb\tsame', ...rows].join('\n'));
writeFileSync(join(folder, 'notes.csv'), 'name,value\nx,1\n');

const run = async (folders: readonly string[], seed: number): ReturnType<typeof train> =>
  train({ folders, embedder: await TextEmbedder.open(letters), seed, command: 'reprise train pairs' });

afterAll(() => {
  for (const path of [folder, empty]) rmSync(path, { recursive: true });
});

describe('train', () => {
  it('writes parameters that can be read back, with their origin', async () => {
    const { calibration, passedOver } = await run([folder], 1);
    expect(parseCalibration(JSON.parse(JSON.stringify(calibration)))).toEqual(calibration);
    expect(calibration.embedderId).toBe('letters-1');
    expect(calibration.origin).toMatchObject({ command: 'reprise train pairs', seed: 1 });
    expect(calibration.origin.counts['pairs.tsv']).toBe(20);
    expect(passedOver).toEqual(['notes.csv']);
  });

  it('is repeatable to the byte', async () => {
    const [one, two] = [await run([folder], 5), await run([folder], 5)];
    expect(JSON.stringify(one.calibration)).toBe(JSON.stringify(two.calibration));
  });

  it('scores each pair of a file by a model that has not seen it', async () => {
    const { crossValidated } = await run([folder], 1);
    expect(crossValidated.map(({ name }) => name)).toEqual(['pairs.tsv']);
    expect(crossValidated[0]?.scores).toHaveLength(20);
    expect(crossValidated[0]?.model).toMatchObject({ positives: 10, negatives: 10 });
  });

  it('refuses folders without training data', async () => {
    const failure = await run([empty], 1).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RepriseError);
    expect(failure).toMatchObject({ code: 'data_invalid' });
  });
});
