import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RepriseError } from '../../errors.ts';
import type { Embedder } from '../../ports/embedder.ts';
import { CountingTelemetry } from '../../semantic/testing/doubles.ts';
import { SystemClock } from '../system-clock.ts';
import { OnnxEmbedder } from './onnx-embedder.ts';
import { openEmbedder } from './open-embedder.ts';
import { ensureEmbeddingModel } from '../../../scripts/lib/embedding-model.mjs';

/** A worker that does what a text says: crash, hang, sleep, or one of several bad vectors. */
const DOUBLE = `
const vectors = { nan: [NaN, 1], zero: [0, 0], long: [1, 0, 0] };
export async function embed({ texts, givenUp }) {
  const embeddings = [];
  for (const text of texts) {
    if (Atomics.load(new Int32Array(givenUp), 0) !== 0) break;
    if (text === 'crash') process.exit(3);
    if (text === 'throw') throw new Error('thrown in the worker');
    if (text === 'none') continue;
    if (text.startsWith('sleep')) await new Promise((resolve) => setTimeout(resolve, Number(text.slice(5))));
    const vector = Float32Array.from(vectors[text] ?? [0.6, 0.8]);
    embeddings.push({ vector, tokenCount: text.length, truncated: text === 'cut' });
  }
  return { embeddings, missingProviders: ['cuda'] };
}
`;

const clock = new SystemClock();
const within = (ms: number) => ({ deadlineAtMs: clock.monotonicMs() + ms });
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'resolved',
    (error: unknown) => (error instanceof RepriseError ? error.code : String(error)),
  );

describe('OnnxEmbedder over a worker that misbehaves', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-worker-'));
  const workerUrl = pathToFileURL(join(folder, 'double.mjs'));
  let embedder: OnnxEmbedder | undefined;

  beforeAll(() => writeFileSync(workerUrl, DOUBLE));
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => embedder?.close());

  async function open(telemetry = new CountingTelemetry(), threads = 1): Promise<OnnxEmbedder> {
    embedder = await OnnxEmbedder.open(
      { clock, telemetry },
      {
        id: 'double-1',
        modelPath: '',
        tokenizerPath: '',
        windowTokens: 4,
        intraOpThreads: 1,
        executionProviders: ['cuda', 'cpu'],
        threads,
        workerUrl,
      },
    );
    return embedder;
  }

  it('learns its dimensions from the model', async () => {
    expect((await open()).dimensions).toBe(2);
  });

  it('keeps the order of texts over several threads', async () => {
    const opened = await open(new CountingTelemetry(), 2);
    const embeddings = await opened.embed(['a', 'bb', 'ccc'], within(20_000));
    expect(embeddings.map(({ tokenCount }) => tokenCount)).toEqual([1, 2, 3]);
  });

  it('fails with embedder_unavailable when its thread ends, and works again after it', async () => {
    const opened = await open();
    expect(await codeOf(opened.embed(['crash'], within(20_000)))).toBe('embedder_unavailable');
    expect(await codeOf(opened.embed(['a'], within(20_000)))).toBe('resolved');
  });

  it('fails with embedder_unavailable when its worker throws', async () => {
    const opened = await open();
    expect(await codeOf(opened.embed(['throw'], within(20_000)))).toBe('embedder_unavailable');
  });

  it('fails with embedder_timeout at the deadline, leaves the rest of the batch, and works again', async () => {
    const opened = await open();
    expect(await codeOf(opened.embed(['sleep200', 'sleep600000'], within(50)))).toBe('embedder_timeout');
    expect(await codeOf(opened.embed(['a'], within(20_000)))).toBe('resolved');
  });

  it('fails with cancelled when its caller leaves', async () => {
    const opened = await open();
    const controller = new AbortController();
    const leaving = codeOf(opened.embed(['sleep100'], { ...within(20_000), signal: controller.signal }));
    controller.abort();
    expect(await leaving).toBe('cancelled');
    expect(await codeOf(opened.embed(['a'], { ...within(20_000), signal: controller.signal }))).toBe('cancelled');
  });

  it.each(['nan', 'zero', 'long', 'none'])('refuses a bad vector: %s', async (text) => {
    const opened = await open();
    expect(await codeOf(opened.embed([text], within(20_000)))).toBe('embedder_invalid_vector');
  });

  it('passes on that a text was cut, and cuts very long ones itself', async () => {
    const opened = await open();
    const [cut, long] = await opened.embed(['cut', 'x'.repeat(10_000)], within(20_000));
    expect(cut?.truncated).toBe(true);
    expect(long).toMatchObject({ truncated: true, tokenCount: 128 });
  });

  it('counts and logs an execution provider that it could not have, once', async () => {
    const telemetry = new CountingTelemetry();
    const opened = await open(telemetry);
    await opened.embed(['a'], within(20_000));
    expect(telemetry.count('reprise_embedder_fallbacks_total cuda')).toBe(1);
    expect(telemetry.events).toEqual(['embedder_fallback']);
  });

  it('gives up what runs when it is closed, and refuses more', async () => {
    const opened = await open();
    const running = codeOf(opened.embed(['sleep100', 'sleep600000'], within(20_000)));
    await opened.close();
    expect(await running).toBe('embedder_unavailable');
    expect(await codeOf(opened.embed(['a'], within(20_000)))).toBe('embedder_unavailable');
  });
});

const config = {
  name: 'all-minilm-l6-v2-q',
  modelDir: '',
  windowTokens: 256,
  threads: 1,
  intraOpThreads: 1,
  executionProviders: ['cpu' as const],
};

describe('openEmbedder without a usable model', () => {
  it('says that the files are not there', async () => {
    const opened = await openEmbedder(
      { ...config, modelDir: join(tmpdir(), 'no-such-folder') },
      { clock, telemetry: new CountingTelemetry() },
    );
    expect(opened).toEqual({ missing: expect.stringContaining('all-minilm-l6-v2-q') as string });
  });
});

const model = await ensureEmbeddingModel({ sources: ['maven'] });
if ('unavailable' in model) console.log(`left out: tests of the real embedding model (${model.unavailable})`);

describe.runIf('modelPath' in model)('the real embedding model', () => {
  const telemetry = new CountingTelemetry();
  let embedder: Embedder;

  beforeAll(async () => {
    const modelDir = join('modelPath' in model ? model.modelPath : '', '..', '..');
    const opened = await openEmbedder({ ...config, modelDir }, { clock, telemetry });
    if ('missing' in opened) throw new Error(opened.missing);
    embedder = opened;
  });
  afterAll(() => embedder.close());

  async function similarity(a: string, b: string): Promise<number> {
    const [one, two] = await embedder.embed([a, b], within(20_000));
    return one!.vector.reduce((sum, value, i) => sum + value * two!.vector[i]!, 0);
  }

  it('makes vectors of 384 dimensions and unit length, and is named by its files', async () => {
    const [embedding] = await embedder.embed(['Where is my order?'], within(20_000));
    expect(embedding?.vector).toHaveLength(384);
    expect(Math.hypot(...embedding!.vector)).toBeCloseTo(1, 5);
    expect(embedder.id).toMatch(/^all-minilm-l6-v2-q-[0-9a-f]{8}$/u);
  });

  it('brings paraphrases together and unrelated texts apart', async () => {
    expect(await similarity('How do I reset my password?', 'how can I reset my password')).toBeGreaterThan(0.93);
    expect(await similarity('How do I reset my password?', 'What do elephants eat?')).toBeLessThan(0.3);
  });

  it('gives a text the same vector whatever texts are beside it', async () => {
    const [alone] = await embedder.embed(['Where is my order?'], within(20_000));
    const batch = await embedder.embed(
      ['x', 'A much longer text about many things. '.repeat(9), 'Where is my order?'],
      within(20_000),
    );
    expect(batch[2]?.vector).toEqual(alone?.vector);
  });

  it('tells that a text is longer than its window, counted without cutting', async () => {
    const [fits, long] = await embedder.embed(['dog '.repeat(254), 'dog '.repeat(255)], within(20_000));
    expect(fits).toMatchObject({ truncated: false, tokenCount: 256 });
    expect(long).toMatchObject({ truncated: true, tokenCount: 257 });
  });

  it('takes any text: empty, lone surrogates, controls', async () => {
    const embeddings = await embedder.embed(['', '\ud800', '\u0000\u0007', '漢字', '🙂'], within(20_000));
    expect(embeddings.every(({ vector }) => vector.length === 384)).toBe(true);
  });

  it('stays alive when a call is given up in the middle of inference', async () => {
    const long = 'many words in one text '.repeat(40);
    for (let n = 0; n < 3; n += 1)
      expect(await codeOf(embedder.embed([long, long, long, long], within(5)))).toBe('embedder_timeout');
    expect(await codeOf(embedder.embed(['after'], within(20_000)))).toBe('resolved');
  });
});
