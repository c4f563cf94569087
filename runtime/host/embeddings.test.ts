import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RepriseError } from '../errors.ts';
import { respondJson, signalled } from '../models/testing/test-upstream.ts';
import { startScriptedUpstream, type CallAnswer, type ScriptedUpstream } from './testing/scripted-upstream.ts';
import { TestEmbedder } from './testing/test-embedder.ts';
import { startTestServer, type TestReply, type TestServer } from './testing/test-server.ts';

const PATH = '/v1/embeddings';
const UNKNOWN: Record<string, string> = {};

let upstream: ScriptedUpstream;
let server: TestServer;

/** A vector that tells which text it is of, and which call made it. */
function vectorOf(item: unknown, call: number): number[] {
  const text = typeof item === 'string' ? item : JSON.stringify(item);
  return [text.length, text.charCodeAt(0) / 1_000, call];
}

function base64Of(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}

function itemsOf(input: unknown): unknown[] {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
}

const embed: CallAnswer = (call) => {
  const data = itemsOf(call.body['input']).map((item, index) => {
    const vector = vectorOf(item, call.number);
    const embedding = call.body['encoding_format'] === 'base64' ? base64Of(vector) : vector;
    return { object: 'embedding', index, embedding };
  });
  const usage = { prompt_tokens: data.length * 3, total_tokens: data.length * 3 };
  // Rows may come in any order; their index counts.
  respondJson(call.response, { object: 'list', data: data.reverse(), model: 'e', usage });
};

beforeEach(async () => {
  upstream = await startScriptedUpstream(embed);
  server = await startTestServer({ upstreams: { test: { url: upstream.url } } });
});
afterEach(async () => {
  await server.close();
  await upstream.close();
});

interface Answer {
  readonly data: readonly { readonly index: number; readonly embedding: number[] | string }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
}

async function ask(input: unknown, fields: object = {}, headers = UNKNOWN): Promise<TestReply> {
  const reply = await server.post(PATH, { model: 'e', input, ...fields }, { headers });
  await server.settled();
  return reply;
}

function vectors(reply: TestReply): readonly (number[] | string)[] {
  const { data } = reply.json<Answer>();
  expect(data.map((row) => row.index)).toEqual(data.map((_, index) => index));
  return data.map((row) => row.embedding);
}

function asked(number: number): unknown {
  return upstream.calls[number - 1]?.body['input'];
}

describe('items of a batch', () => {
  it('are cached one by one: only misses are sent, and every vector comes back to its place', async () => {
    const first = await ask(['bb', 'a']);
    expect(first.cache).toBe('fwd=miss; stored');
    expect(vectors(first)).toEqual([vectorOf('bb', 1), vectorOf('a', 1)]);
    const second = await ask(['ccc', 'a', 'dddd', 'bb']);
    expect(second.cache).toBe('fwd=miss; stored; detail=partial-2/4');
    expect(vectors(second)).toEqual([vectorOf('ccc', 2), vectorOf('a', 1), vectorOf('dddd', 2), vectorOf('bb', 1)]);
    expect(asked(2)).toEqual(['ccc', 'dddd']);
    const third = await ask(['a', 'ccc']);
    expect(third.cache).toContain('detail=exact-l1');
    expect(upstream.calls).toHaveLength(2);
  });

  it('share entries with requests for one item', async () => {
    await ask('one');
    expect(asked(1)).toBe('one');
    expect((await ask(['one'])).cache).toContain('hit');
    await ask(['one', 'two']);
    expect(asked(2)).toBe('two');
    expect((await ask('two')).cache).toContain('hit');
  });

  it('that are the same are asked once and given to each', async () => {
    const reply = await ask(['x', 'y', 'x', 'x']);
    expect(asked(1)).toEqual(['x', 'y']);
    expect(vectors(reply)).toEqual([vectorOf('x', 1), vectorOf('y', 1), vectorOf('x', 1), vectorOf('x', 1)]);
  });

  it('count their tokens: all in the answer, the batch’s own sum', async () => {
    const first = await ask(['a', 'b', 'c']);
    expect(first.json<Answer>().usage).toEqual({ prompt_tokens: 9, total_tokens: 9 });
    const second = await ask(['a', 'b', 'c', 'd']);
    expect(second.json<Answer>().usage).toEqual({ prompt_tokens: 12, total_tokens: 12 });
  });

  it('may be tokens: one array of numbers is one item, arrays of them are several', async () => {
    expect(vectors(await ask([1, 2, 3]))).toEqual([vectorOf([1, 2, 3], 1)]);
    const reply = await ask([
      [4, 5],
      [1, 2, 3],
    ]);
    expect(reply.cache).toContain('partial-1/2');
    expect(vectors(reply)).toEqual([vectorOf([4, 5], 2), vectorOf([1, 2, 3], 1)]);
  });

  it('are told apart by every other field', async () => {
    await ask(['a']);
    for (const fields of [{ dimensions: 3 }, { encoding_format: 'base64' }, { model: 'other' }, { new_field: 1 }]) {
      expect((await ask(['a'], fields)).cache).toBe('fwd=miss; stored');
    }
    expect((await ask(['a'], { user: 'u' })).cache).toContain('hit');
  });

  it('keep numbers that no double holds', async () => {
    upstream.answer = (call) =>
      respondJson(
        call.response,
        '{"data":[{"index":0,"embedding":[0.10,1e-5,-0.0,0.12345678901234567890]}],"usage":{"prompt_tokens":1}}',
      );
    const miss = await ask('spelled');
    const hit = await ask('spelled');
    expect(hit.text).toBe(miss.text);
    expect(hit.text).toContain('0.12345678901234567890');
    expect(hit.json<Answer>().data[0]?.embedding).toEqual([0.1, 1e-5, 0, 0.12345678901234568]);
  });

  it.each([{ input: [] }, { input: [''].concat(Array.from({ length: 2_048 }, (_, at) => String(at))) }, {}])(
    'are refused when there are none or too many',
    async (fields) => {
      const reply = await server.post(PATH, { model: 'e', ...fields });
      expect(reply.status).toBe(400);
      expect(reply.json<{ error: object }>().error).toMatchObject({ code: 'invalid_request', param: 'input' });
      expect(upstream.calls).toHaveLength(0);
    },
  );

  it('come by the thousand', async () => {
    const input = Array.from({ length: 2_048 }, (_, at) => `text ${at} ${'x'.repeat(200)}`);
    const first = await ask(input);
    const again = await ask([...input].reverse());
    expect(again.cache).toContain('hit');
    expect(vectors(again)).toEqual([...vectors(first)].reverse());
    expect(upstream.calls).toHaveLength(1);
  });
});

describe('base64', () => {
  it('is what the official client asks for; it gets the same numbers on miss and hit', async () => {
    const client = server.client();
    const miss = await client.embeddings.create({ model: 'e', input: ['ab', 'c'] });
    await server.settled();
    const hit = await client.embeddings.create({ model: 'e', input: ['ab', 'c'] });
    expect(upstream.calls).toHaveLength(1);
    expect(upstream.calls[0]?.body['encoding_format']).toBe('base64');
    expect(hit).toEqual(miss);
    expect(hit.data[0]?.embedding[0]).toBe(2);
  });

  it('has entries of its own beside floats', async () => {
    await ask(['a'], { encoding_format: 'float' });
    const reply = await ask(['a'], { encoding_format: 'base64' });
    expect(vectors(reply)).toEqual([base64Of(vectorOf('a', 2))]);
    expect(vectors(await ask(['a'], { encoding_format: 'base64' }))).toEqual([base64Of(vectorOf('a', 2))]);
  });
});

describe('a wrong answer', () => {
  const row = (index: number, embedding: unknown = [1]): object => ({ object: 'embedding', index, embedding });
  it.each([
    ['too few rows', [row(0)]],
    ['too many rows', [row(0), row(1), row(2)]],
    ['an index twice', [row(0), row(0)]],
    ['an index beyond the batch', [row(0), row(2)]],
    ['a row without a vector', [row(0), row(1, null)]],
    ['a vector that is not numbers', [row(0), row(1, ['a'])]],
    ['an empty vector', [row(0), row(1, [])]],
    ['no rows at all', undefined],
  ])('%s: the batch fails, nothing is stored', async (_name, data) => {
    upstream.answer = (call) => respondJson(call.response, { object: 'list', data, usage: { prompt_tokens: 2 } });
    const reply = await ask(['a', 'b']);
    expect(reply.status).toBe(502);
    expect(reply.json<{ error: { code: string } }>().error.code).toBe('model_invalid_answer');
    upstream.answer = embed;
    expect((await ask(['a', 'b'])).cache).toBe('fwd=miss; stored');
  });

  it('an upstream’s own error passes as it is', async () => {
    const error = { error: { message: 'Too long.', type: 'invalid_request_error', param: 'input', code: null } };
    upstream.answer = (call) => respondJson(call.response, error, 400);
    const reply = await ask(['a']);
    expect(reply.status).toBe(400);
    expect(reply.json()).toEqual(error);
  });
});

describe('batches at the same time', () => {
  it('ask for every item once', async () => {
    const gate = signalled();
    upstream.answer = async (call) => {
      await gate.promise;
      await embed(call);
    };
    const first = server.post(PATH, { model: 'e', input: ['a', 'b'] });
    await upstream.arrived(1);
    const second = server.post(PATH, { model: 'e', input: ['b', 'c', 'a'] });
    await upstream.arrived(2);
    gate.resolve();
    expect(vectors(await first)).toEqual([vectorOf('a', 1), vectorOf('b', 1)]);
    expect(vectors(await second)).toEqual([vectorOf('b', 1), vectorOf('c', 2), vectorOf('a', 1)]);
    expect(asked(2)).toBe('c');
    expect((await second).cache).toContain('partial-2/3');
  });

  it('the first one leaving disturbs nobody; the last one leaving aborts the call', async () => {
    const gate = signalled();
    upstream.answer = async (call) => {
      await gate.promise;
      await embed(call);
    };
    const leaving = new AbortController();
    const leader = server.post(PATH, { model: 'e', input: ['a', 'b'] }, { signal: leaving.signal });
    await upstream.arrived(1);
    const follower = server.post(PATH, { model: 'e', input: ['c', 'a'] });
    const own = await upstream.arrived(2);
    expect(own.body['input']).toBe('c');
    leaving.abort();
    await expect(leader).rejects.toThrow();
    await server.telemetry.counted(2, 'reprise_requests_total', 'embeddings', 'cancelled', '');
    gate.resolve();
    expect(vectors(await follower)).toEqual([vectorOf('c', 2), vectorOf('a', 1)]);

    upstream.answer = () => undefined;
    const alone = new AbortController();
    const last = server.post(PATH, { model: 'e', input: ['z'] }, { signal: alone.signal });
    const call = await upstream.arrived(3);
    alone.abort();
    await expect(last).rejects.toThrow();
    await call.closed;
  });

  it('an invalidation between two batches separates them', async () => {
    const gate = signalled();
    upstream.answer = async (call) => {
      await gate.promise;
      await embed(call);
    };
    const before = server.post(PATH, { model: 'e', input: ['a'] });
    await upstream.arrived(1);
    await server.post('/admin/invalidate', { namespace: 'default' });
    const after = server.post(PATH, { model: 'e', input: ['a'] });
    await upstream.arrived(2);
    gate.resolve();
    expect(vectors(await before)).toEqual([vectorOf('a', 1)]);
    expect(vectors(await after)).toEqual([vectorOf('a', 2)]);
    await server.settled();
    expect(vectors(await ask(['a']))).toEqual([vectorOf('a', 2)]);
  });
});

describe('controls', () => {
  it('work item by item', async () => {
    await ask(['a']);
    const missing = await ask(['a', 'b'], {}, { 'cache-control': 'only-if-cached' });
    expect(missing.status).toBe(504);
    expect((await ask(['a'], {}, { 'cache-control': 'only-if-cached' })).cache).toContain('hit');
    const anew = await ask(['a'], {}, { 'cache-control': 'no-cache' });
    expect(anew.cache).toBe('fwd=bypass; stored; detail=no-cache');
    expect(vectors(await ask(['a']))).toEqual([vectorOf('a', 2)]);
    expect((await ask(['n'], {}, { 'cache-control': 'no-store' })).cache).toBe('fwd=miss');
    expect((await ask(['n'])).cache).toBe('fwd=miss; stored');
  });
});

describe('the node’s own embedder behind /v1/embeddings', () => {
  let embedder: TestEmbedder;
  let own: TestServer;

  beforeEach(async () => {
    embedder = new TestEmbedder();
    own = await startTestServer({ demo: { firstTokenMs: 0, perTokenMs: 0 } }, { embedder });
  });
  afterEach(() => own.close());

  it('makes the vectors, as numbers and as base64', async () => {
    const [vector] = embedder.vectors(['hello there']).map((embedding) => embedding.vector);
    const floats = await own.post(PATH, { model: 'any-name', input: ['hello there'] });
    expect(floats.json<Answer>().data[0]?.embedding).toEqual([...vector!]);
    await own.settled();
    expect((await own.post(PATH, { model: 'any-name', input: ['hello there'] })).cache).toContain('hit');
    const base64 = await own.client().embeddings.create({ model: 'any-name', input: 'hello there' });
    expect(base64.data[0]?.embedding).toEqual([...vector!]);
    expect(base64.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
  });

  it.each([[{ input: 'word '.repeat(100) }], [{ input: [1, 2] }], [{ input: ' ' }], [{ input: 'a', dimensions: 4 }]])(
    'refuses %o',
    async (fields) => {
      const reply = await own.post(PATH, { model: 'm', ...fields });
      expect(reply.status).toBe(400);
      expect(reply.json<{ error: { type: string } }>().error.type).toBe('invalid_request_error');
      await own.settled();
      expect((await own.get('/admin/stats')).json<{ entries: number }>().entries).toBe(0);
    },
  );

  it.each([
    ['fails', () => Promise.reject(new RepriseError('embedder_unavailable', 'It died.')), 503],
    [
      'gives NaN',
      () => Promise.resolve([{ vector: new Float32Array(16).fill(NaN), tokenCount: 1, truncated: false }]),
      502,
    ],
  ])('when it %s the request fails with its code, and nothing is stored', async (_name, next, status) => {
    embedder.next = next;
    const reply = await own.post(PATH, { model: 'm', input: 'a' });
    expect(reply.status).toBe(status);
    embedder.next = undefined;
    expect((await own.post(PATH, { model: 'm', input: 'a' })).cache).toBe('fwd=miss; stored');
  });

  it('takes more texts than its queue holds', async () => {
    const input = Array.from({ length: 700 }, (_, at) => `text ${at}`);
    const reply = await own.post(PATH, { model: 'm', input });
    expect(reply.json<Answer>().data).toHaveLength(700);
  });
});
