import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { ModelRequest } from '../ports/model.ts';
import type { OpenAiHttpModel, OpenAiHttpOptions } from './openai-http.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { modelOf, respondJson, signalled, startUpstream } from './testing/test-upstream.ts';
import type { Answer, TestUpstream } from './testing/test-upstream.ts';

const ENCODER = new TextEncoder();
const COMPLETION = { id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { content: 'hi' } }] };

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function request(fields: Partial<ModelRequest> = {}): ModelRequest {
  return { operation: 'chat.completions', model: 'm', body: ENCODER.encode('{"model":"m","messages":[]}'), ...fields };
}

interface Scene {
  readonly upstream: TestUpstream;
  readonly clock: ManualClock;
  readonly model: OpenAiHttpModel;
  readonly call: (fields?: Partial<ModelRequest>, signal?: AbortSignal) => ReturnType<OpenAiHttpModel['call']>;
}

async function setUp(answer: Answer, options: Partial<OpenAiHttpOptions> = {}): Promise<Scene> {
  const upstream = await startUpstream(answer);
  const clock = new ManualClock();
  const model = modelOf(upstream.url, clock, options);
  closers.push(() => model.close(), upstream.close);
  const call: Scene['call'] = (fields, signal = new AbortController().signal) =>
    model.call(request(fields), { signal, deadlineAtMs: clock.monotonicMs() + 1_000 });
  return { upstream, clock, model, call };
}

const ok: Answer = (_, response) => respondJson(response, COMPLETION);

describe('OpenAiHttpModel.call', () => {
  it('sends the body as it is and gives the answer as it is', async () => {
    const { upstream, call } = await setUp(ok);
    const reply = await call();
    expect(upstream.seen[0]).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      body: '{"model":"m","messages":[]}',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
    });
    expect(reply).toMatchObject({ status: 200, contentType: 'application/json' });
    expect(JSON.parse(Buffer.from(reply.body).toString())).toEqual(COMPLETION);
  });

  it.each([
    ['completions', '/v1/completions'],
    ['embeddings', '/v1/embeddings'],
  ] as const)('sends %s to %s', async (operation, path) => {
    const { upstream, call } = await setUp(ok);
    await call({ operation });
    expect(upstream.seen[0]?.path).toBe(path);
  });

  it('uses a connection again', async () => {
    const { upstream, call } = await setUp(ok, { concurrencyMax: 1 });
    await call();
    await call();
    expect(upstream.seen.map((seen) => seen.connection)).toEqual([1, 1]);
  });

  it.each([400, 401, 404, 500, 502])('passes on status %i with its body, without a second try', async (status) => {
    const { upstream, call } = await setUp((_, response) =>
      respondJson(response, { error: { message: 'no' } }, status),
    );
    const error = await call().catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'model_error', status, contentType: 'application/json' });
    expect(Buffer.from((error as { body: Uint8Array }).body).toString()).toBe('{"error":{"message":"no"}}');
    expect(upstream.seen).toHaveLength(1);
  });

  it('passes on an error without a body', async () => {
    const { call } = await setUp((_, response) => void response.writeHead(503).end());
    await expect(call()).rejects.toMatchObject({ code: 'model_error', status: 503, body: undefined });
  });

  it('leaves out an error body above the bound', async () => {
    const { call } = await setUp((_, response) => respondJson(response, 'x'.repeat(200), 500), { errorBytesMax: 100 });
    await expect(call()).rejects.toMatchObject({ code: 'model_error', status: 500, body: undefined });
  });

  it('does not follow a redirect, which would carry the credential away', async () => {
    const { upstream, call } = await setUp((_, response) => void response.writeHead(307, { location: '/x' }).end());
    await expect(call()).rejects.toMatchObject({ code: 'model_error', status: 307 });
    expect(upstream.seen).toHaveLength(1);
  });

  it.each([['not json'], ['{"a":1'], ['']])('refuses the 2xx answer "%s"', async (body) => {
    const { call } = await setUp((_, response) => respondJson(response, body));
    await expect(call()).rejects.toMatchObject({ code: 'model_invalid_answer' });
  });

  it('refuses an answer that is not UTF-8', async () => {
    const { call } = await setUp((_, response) => void response.end(Buffer.from([0x22, 0xff, 0x22])));
    await expect(call()).rejects.toMatchObject({ code: 'model_invalid_answer' });
  });

  it('gives empty choices faithfully', async () => {
    const { call } = await setUp((_, response) => respondJson(response, { choices: [] }));
    expect(Buffer.from((await call()).body).toString()).toBe('{"choices":[]}');
  });

  it.each([true, false])('refuses an answer above the bound (length announced: %s)', async (announced) => {
    const { call } = await setUp(
      (_, response) => {
        if (announced) return respondJson(response, `"${'x'.repeat(5_000)}"`);
        response.write('"');
        response.end(`${'x'.repeat(5_000)}"`);
      },
      { answerBytesMax: 1_000 },
    );
    await expect(call()).rejects.toMatchObject({ code: 'model_invalid_answer' });
    await expect(call()).rejects.toMatchObject({ code: 'model_invalid_answer' });
  });

  it('takes an answer that comes drip by drip', async () => {
    const { call } = await setUp(async (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (const character of '{"text":"é"}') {
        response.write(character);
        await new Promise(setImmediate);
      }
      response.end();
    });
    expect(Buffer.from((await call()).body).toString()).toBe('{"text":"é"}');
  });

  it('ends a call that hangs at its deadline, and its connection with it', async () => {
    const asked = signalled();
    const closed = signalled();
    const { call, clock } = await setUp((_, response) => {
      response.on('close', closed.resolve);
      asked.resolve();
    });
    const pending = call();
    const outcome = expect(pending).rejects.toMatchObject({ code: 'model_timeout', status: undefined });
    await asked.promise;
    clock.advance(1_000);
    await outcome;
    await closed.promise;
  });

  it('ends a call whose body hangs at its deadline', async () => {
    const asked = signalled();
    const { call, clock } = await setUp((_, response) => {
      response.writeHead(200).write('{');
      asked.resolve();
    });
    const pending = expect(call()).rejects.toMatchObject({ code: 'model_timeout' });
    await asked.promise;
    clock.advance(1_000);
    await pending;
  });

  it("ends a call at the upstream's own limit when that comes first", async () => {
    const asked = signalled();
    const { call, clock } = await setUp(() => asked.resolve(), { timeoutMs: 10 });
    const pending = expect(call()).rejects.toMatchObject({ code: 'model_timeout' });
    await asked.promise;
    clock.advance(10);
    await pending;
  });

  it('closes the connection at once when the call is cancelled', async () => {
    const asked = signalled();
    const closed = signalled();
    const { call, clock } = await setUp((_, response) => {
      response.on('close', closed.resolve);
      asked.resolve();
    });
    const controller = new AbortController();
    const pending = expect(call({}, controller.signal)).rejects.toMatchObject({ code: 'cancelled' });
    await asked.promise;
    controller.abort();
    await pending;
    await closed.promise;
    expect(clock.timers).toBe(0);
  });

  it('does not send a call twice that may have reached the model', async () => {
    const { upstream, call } = await setUp((_, response) => void response.socket?.destroy());
    await expect(call()).rejects.toMatchObject({ code: 'model_unavailable' });
    expect(upstream.seen).toHaveLength(1);
  });

  it('fails a call whose answer is cut', async () => {
    const { call } = await setUp((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"a":');
      setImmediate(() => response.socket?.destroy());
    });
    await expect(call()).rejects.toMatchObject({ code: 'model_unavailable' });
  });
});

describe('OpenAiHttpModel where nobody listens', () => {
  async function refusedPort(): Promise<number> {
    const upstream = await startUpstream(ok);
    await upstream.close();
    return upstream.port;
  }

  it('fails with model_unavailable after its retries', async () => {
    const clock = new ManualClock();
    const model = modelOf(`http://127.0.0.1:${await refusedPort()}`, clock, { retriesMax: 2, retryDelayMs: 50 });
    closers.push(() => model.close());
    const options = { signal: new AbortController().signal, deadlineAtMs: Infinity };
    const pending = expect(model.call(request(), options)).rejects.toMatchObject({
      code: 'model_unavailable',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
    await clock.timersPending(2);
    clock.advance(50);
    await clock.timersPending(2);
    clock.advance(100);
    await pending;
  });

  it('reaches a server that comes up between two tries', async () => {
    const port = await refusedPort();
    const clock = new ManualClock();
    const model = modelOf(`http://127.0.0.1:${port}`, clock, { retriesMax: 1, retryDelayMs: 50 });
    closers.push(() => model.close());
    const pending = model.call(request(), { signal: new AbortController().signal, deadlineAtMs: Infinity });
    await clock.timersPending(2);
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'));
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    closers.push(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    });
    expect((server.address() as AddressInfo).port).toBe(port);
    clock.advance(50);
    expect(Buffer.from((await pending).body).toString()).toBe('{}');
  });

  it('stops retrying when cancelled', async () => {
    const clock = new ManualClock();
    const model = modelOf(`http://127.0.0.1:${await refusedPort()}`, clock, { retriesMax: 5, retryDelayMs: 50 });
    closers.push(() => model.close());
    const controller = new AbortController();
    const pending = model.call(request(), { signal: controller.signal, deadlineAtMs: Infinity });
    await clock.timersPending(2);
    controller.abort();
    await expect(pending).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('OpenAiHttpModel and credentials', () => {
  it('sends its own key, never the caller’s, in mode service', async () => {
    const { upstream, call } = await setUp(ok, { auth: 'service', apiKey: 'own' });
    await call({ credential: 'caller' });
    expect(upstream.seen[0]?.headers.authorization).toBe('Bearer own');
  });

  it('forwards the caller’s key, and uses its own for background work', async () => {
    const { upstream, call } = await setUp(ok, { auth: 'forward', apiKey: 'own' });
    await call({ credential: 'caller' });
    await call();
    expect(upstream.seen.map((seen) => seen.headers.authorization)).toEqual(['Bearer caller', 'Bearer own']);
  });

  it('puts the key into the configured header', async () => {
    const { upstream, call } = await setUp(ok, { apiKey: 'own', header: 'api-key' });
    await call();
    expect(upstream.seen[0]?.headers).toMatchObject({ 'api-key': 'own' });
    expect(upstream.seen[0]?.headers.authorization).toBeUndefined();
  });

  it('refuses a key that would break the header, without naming it', async () => {
    const { upstream, call } = await setUp(ok, { auth: 'forward' });
    const error = await call({ credential: 'a\r\nx: y' }).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'invalid_credential', message: expect.not.stringContaining('x: y') as string });
    expect(upstream.seen).toHaveLength(0);
  });

  it('forwards a well-formed traceparent only', async () => {
    const { upstream, call } = await setUp(ok);
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await call({ traceparent });
    await call({ traceparent: 'nonsense\n' });
    expect(upstream.seen.map((seen) => seen.headers['traceparent'])).toEqual([traceparent, undefined]);
  });
});

describe('OpenAiHttpModel and Retry-After', () => {
  function busyOnce(status: number): Answer {
    let calls = 0;
    return (_, response) => {
      calls += 1;
      if (calls > 1) return respondJson(response, COMPLETION);
      respondJson(response, { error: { message: 'slow down' } }, status, { 'retry-after': '0.5' });
    };
  }

  it.each([429, 503])('passes a %i on and holds later calls back for that long', async (status) => {
    const { upstream, call, clock } = await setUp(busyOnce(status));
    await expect(call()).rejects.toMatchObject({ status, retryAfterMs: 500 });
    const later = call();
    clock.advance(499);
    expect(upstream.seen).toHaveLength(1);
    clock.advance(1);
    await expect(later).resolves.toMatchObject({ status: 200 });
  });

  it('holds back only the credential that is over its quota', async () => {
    const { call, clock } = await setUp(busyOnce(429), { auth: 'forward' });
    await expect(call({ credential: 'a' })).rejects.toMatchObject({ status: 429 });
    const held = call({ credential: 'a' });
    await expect(call({ credential: 'b' })).resolves.toMatchObject({ status: 200 });
    clock.advance(500);
    await expect(held).resolves.toMatchObject({ status: 200 });
  });

  it('holds everybody back when the upstream itself is away', async () => {
    const { call, clock } = await setUp(busyOnce(503), { auth: 'forward' });
    await expect(call({ credential: 'a' })).rejects.toMatchObject({ status: 503 });
    const held = call({ credential: 'b' });
    expect(clock.timers).toBe(2);
    clock.advance(500);
    await expect(held).resolves.toMatchObject({ status: 200 });
  });

  it('gives the slot of a failed call back', async () => {
    const { call } = await setUp((_, response) => respondJson(response, {}, 500), { concurrencyMax: 1, queueMax: 0 });
    await expect(call()).rejects.toMatchObject({ status: 500 });
    await expect(call()).rejects.toMatchObject({ status: 500 });
  });

  it('refuses what its queue cannot hold', async () => {
    const asked = signalled();
    const { call, clock } = await setUp(() => asked.resolve(), { concurrencyMax: 1, queueMax: 0 });
    const running = expect(call()).rejects.toMatchObject({ code: 'model_timeout' });
    await asked.promise;
    await expect(call()).rejects.toMatchObject({ code: 'upstream_queue_full' });
    clock.advance(1_000);
    await running;
  });
});

describe('OpenAiHttpModel.models', () => {
  it('lists the names, and asks again only after a while', async () => {
    const { upstream, model, clock } = await setUp(
      (_, response) => respondJson(response, { object: 'list', data: [{ id: 'a' }, { id: 'b' }, { name: 'c' }, null] }),
      { apiKey: 'own' },
    );
    expect(await model.models()).toEqual(['a', 'b']);
    await model.models();
    expect(upstream.seen).toHaveLength(1);
    expect(upstream.seen[0]).toMatchObject({ method: 'GET', path: '/v1/models' });
    expect(upstream.seen[0]?.headers.authorization).toBe('Bearer own');
    clock.advance(10_000);
    await model.models();
    expect(upstream.seen).toHaveLength(2);
  });

  it.each(['[]', '{"data":3}', 'x'])('refuses the list %s', async (body) => {
    const { model } = await setUp((_, response) => respondJson(response, body));
    await expect(model.models()).rejects.toMatchObject({ code: 'model_invalid_answer' });
  });

  it('ends at its own deadline', async () => {
    const asked = signalled();
    const { model, clock } = await setUp(() => asked.resolve());
    const pending = expect(model.models()).rejects.toMatchObject({ code: 'model_timeout' });
    await asked.promise;
    clock.advance(5_000);
    await pending;
  });
});

describe('OpenAiHttpModel.close', () => {
  it('fails what runs and refuses what comes', async () => {
    const asked = signalled();
    const { model, call } = await setUp(() => asked.resolve());
    const running = expect(call()).rejects.toMatchObject({ code: 'model_unavailable' });
    await asked.promise;
    await model.close();
    await running;
    await expect(call()).rejects.toMatchObject({ code: 'model_unavailable' });
  });
});
