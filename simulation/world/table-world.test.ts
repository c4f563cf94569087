import { describe, expect, it } from 'vitest';
import type { Embedding } from '../../runtime/ports/embedder.ts';
import type { ModelRequest } from '../../runtime/ports/model.ts';
import { drainMicrotasks } from '../bin/drain.ts';
import { Kernel } from '../kernel/kernel.ts';
import { TableEmbedder } from './table-embedder.ts';
import { TableModel } from './table-model.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const FAR = { deadlineAtMs: 1e9 };

function makeKernel(seed = 'world'): Kernel {
  return new Kernel({ seed, wallStartMs: 1_700_000_000_000, drain: drainMicrotasks });
}

function makeModel(kernel: Kernel): TableModel {
  return new TableModel(
    { clock: kernel.clock, random: kernel.random.fork('model') },
    new Map([['capital of France?', 'The capital is Paris']]),
    { name: 'table', firstTokenMsMin: 100, firstTokenMsMax: 200, wordMs: 10 },
  );
}

function makeEmbedder(kernel: Kernel): TableEmbedder {
  return new TableEmbedder(
    { clock: kernel.clock, random: kernel.random.fork('embedder') },
    new Map([
      ['how do I cancel?', 'cancel'],
      ['how can I cancel?', 'cancel'],
    ]),
    { dimensions: 64, windowTokens: 8, batchMs: 5, textMs: 2, spread: 0.2 },
  );
}

function chat(content: unknown): ModelRequest {
  const body = encoder.encode(JSON.stringify({ model: 'table', messages: [{ role: 'user', content }] }));
  return { operation: 'chat.completions', model: 'table', body };
}

function parse(bytes: Uint8Array): { choices: { message?: { content: string }; delta?: { content?: string } }[] } {
  return JSON.parse(decoder.decode(bytes)) as ReturnType<typeof parse>;
}

/** Runs the world until `call` has settled. */
async function settled<T>(kernel: Kernel, call: Promise<T>): Promise<T> {
  void call.catch(() => undefined);
  await kernel.run({ eventsMax: 10_000 });
  return call;
}

function cosine(left: Embedding | undefined, right: Embedding | undefined): number {
  return Array.from(left?.vector ?? []).reduce((sum, value, index) => sum + value * (right?.vector[index] ?? 0), 0);
}

describe('TableModel', () => {
  it('answers from its table after its latency, and echoes what it lacks', async () => {
    const kernel = makeKernel();
    const model = makeModel(kernel);
    const options = { ...FAR, signal: new AbortController().signal };
    const known = await settled(kernel, model.call(chat('capital of France?'), options));
    expect(parse(known.body).choices[0]?.message?.content).toBe('The capital is Paris');
    expect(kernel.clock.monotonicMs()).toBeGreaterThanOrEqual(140);
    const unknown = await settled(kernel, model.call(chat('and of Peru?'), options));
    expect(parse(unknown.body).choices[0]?.message?.content).toBe('You asked: and of Peru?');
    expect(model.calls).toBe(2);
  });

  it('streams the same answer word for word, then its usage', async () => {
    const kernel = makeKernel();
    const model = makeModel(kernel);
    const read = async (): Promise<Uint8Array[]> => {
      const stream = await model.stream(chat('capital of France?'), { ...FAR, signal: new AbortController().signal });
      if (stream.kind !== 'events') throw new Error('not a stream');
      const events: Uint8Array[] = [];
      for await (const event of stream.events) events.push(event);
      return events;
    };
    const events = await settled(kernel, read());
    const text = events.map((event) => parse(event).choices[0]?.delta?.content ?? '').join('');
    expect(text).toBe('The capital is Paris');
    expect(JSON.parse(decoder.decode(events[events.length - 1]))).toMatchObject({
      choices: [],
      usage: { completion_tokens: 4 },
    });
  });

  it('fails at its deadline, when it is aborted, and on what it does not understand', async () => {
    const kernel = makeKernel();
    const model = makeModel(kernel);
    const abort = new AbortController();
    const { signal } = abort;
    await expect(settled(kernel, model.call(chat('x'), { deadlineAtMs: 50, signal }))).rejects.toMatchObject({
      code: 'model_timeout',
    });
    expect(kernel.clock.monotonicMs()).toBe(50);
    await expect(model.call(chat(['part']), { ...FAR, signal })).rejects.toMatchObject({ status: 400 });
    kernel.plan(10, 'abort', () => abort.abort(new Error('left')));
    await expect(settled(kernel, model.call(chat('x'), { ...FAR, signal }))).rejects.toThrow('left');
  });
});

describe('TableEmbedder', () => {
  it('puts texts of one meaning near each other and all others apart', async () => {
    const kernel = makeKernel();
    const texts = ['how do I cancel?', 'how can I cancel?', 'what is the weather like?'];
    const [first, second, third] = await settled(kernel, makeEmbedder(kernel).embed(texts, FAR));
    expect(kernel.clock.monotonicMs()).toBe(11);
    expect(cosine(first, first)).toBeCloseTo(1, 5);
    expect(cosine(first, second)).toBeGreaterThan(0.9);
    expect(Math.abs(cosine(first, third))).toBeLessThan(0.6);
  });

  it('gives a text the same vector in every run of a seed', async () => {
    const vectorOf = async (seed: string): Promise<readonly Embedding[]> => {
      const kernel = makeKernel(seed);
      return settled(kernel, makeEmbedder(kernel).embed(['how do I cancel?'], FAR));
    };
    expect(await vectorOf('one')).toEqual(await vectorOf('one'));
    expect(await vectorOf('one')).not.toEqual(await vectorOf('two'));
  });

  it('says when a text is longer than its window, and fails at its deadline', async () => {
    const kernel = makeKernel();
    const embedder = makeEmbedder(kernel);
    const long = 'one two three four five six seven eight nine';
    expect(await settled(kernel, embedder.embed([long], FAR))).toMatchObject([{ tokenCount: 9, truncated: true }]);
    const late = embedder.embed(['x'], { deadlineAtMs: kernel.clock.monotonicMs() + 1 });
    await expect(settled(kernel, late)).rejects.toMatchObject({ code: 'embedder_timeout' });
  });
});
