import type { ServerResponse } from 'node:http';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { ModelRequest } from '../ports/model.ts';
import type { OpenAiHttpOptions } from './openai-http.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { collect, modelOf, startUpstream } from './testing/test-upstream.ts';
import type { Answer } from './testing/test-upstream.ts';

const TEXT = '{"choices":[{"message":{"content":"hé"}}]}';
const REQUEST: ModelRequest = { operation: 'chat.completions', model: 'm', body: new TextEncoder().encode('{}') };

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function setUp(answer: Answer, options: Partial<OpenAiHttpOptions> = {}) {
  const upstream = await startUpstream(answer);
  const clock = new ManualClock();
  const model = modelOf(upstream.url, clock, options);
  closers.push(() => model.close(), upstream.close);
  const terms = () => ({ signal: new AbortController().signal, deadlineAtMs: clock.monotonicMs() + 1_000 });
  return { upstream, call: () => model.call(REQUEST, terms()), stream: () => model.stream(REQUEST, terms()) };
}

function respond(response: ServerResponse, encoding: string, body: Uint8Array, status = 200): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-encoding': encoding,
    'content-length': body.length,
    'retry-after': '7',
  });
  response.end(body);
}

describe('an answer that comes compressed though none asked for it', () => {
  it.each([
    ['gzip', gzipSync(TEXT)],
    ['X-GZip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['identity', Buffer.from(TEXT)],
  ])('is read: %s', async (encoding, bytes) => {
    const { call, upstream } = await setUp((_, response) => respond(response, encoding, bytes), { concurrencyMax: 1 });
    expect(Buffer.from((await call()).body).toString()).toBe(TEXT);
    await call();
    expect(upstream.seen.map(({ headers, connection }) => [headers['accept-encoding'], connection])).toEqual([
      ['identity', 1],
      ['identity', 1],
    ]);
  });

  it('is read event by event', async () => {
    const { stream } = await setUp((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.write('data: {"a":1}\n\n');
      gzip.flush(() => gzip.end('data: {"b":2}\n\ndata: [DONE]\n\n'));
    });
    const answer = await stream();
    expect(answer.kind === 'events' && (await collect(answer.events))).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('is bounded by what it holds, not by what it weighs', async () => {
    const bomb = gzipSync(`"${'x'.repeat(5_000_000)}"`);
    const { call } = await setUp((_, response) => respond(response, 'gzip', bomb), { answerBytesMax: 10_000 });
    expect(bomb.length).toBeLessThan(10_000);
    await expect(call()).rejects.toMatchObject({
      code: 'model_invalid_answer',
      message: expect.stringContaining('above 10000 bytes') as string,
    });
  });

  it.each(['zstd', 'gzip, br'])('is refused by name where it cannot be read: %s', async (encoding) => {
    const { call } = await setUp((_, response) => respond(response, encoding, gzipSync(TEXT)));
    const failure = await call().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'model_invalid_answer' });
    expect((failure as Error).message).toContain(`content-encoding "${encoding}"`);
  });

  it('is refused where it is not what it says', async () => {
    const { call } = await setUp((_, response) => respond(response, 'gzip', Buffer.from(TEXT)));
    const failure = await call().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'model_invalid_answer' });
    expect((failure as Error).message).toContain('content-encoding');
  });

  it('that was cut counts as cut', async () => {
    const { call } = await setUp((_, response) => respond(response, 'gzip', gzipSync(TEXT).subarray(0, -9)));
    await expect(call()).rejects.toMatchObject({ code: 'model_unavailable' });
  });
});

describe('a refusal that comes compressed', () => {
  it.each([
    ['gzip', gzipSync(TEXT), TEXT],
    ['zstd', Buffer.from('?'), undefined],
  ])('keeps its status: %s', async (encoding, bytes, body) => {
    const { call } = await setUp((_, response) => respond(response, encoding, bytes, 429));
    const failure = (await call().catch((error: unknown) => error)) as { body?: Uint8Array };
    expect(failure).toMatchObject({ code: 'model_error', status: 429, retryAfterMs: 7_000 });
    expect(failure.body === undefined ? undefined : Buffer.from(failure.body).toString()).toBe(body);
  });
});
