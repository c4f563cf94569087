import { afterEach, describe, expect, it } from 'vitest';
import { ModelError, RepriseError } from '../../runtime/errors.ts';
import type { Identity, InferenceRequest } from '../../runtime/ports/service.ts';
import { GrpcServer } from '../../runtime/server/grpc-server.ts';
import type { GrpcServerOptions } from '../../runtime/server/grpc-server.ts';
import { FakeService, eventOf, hitStatus, jsonReply, streamReply } from '../gateway/fake-service.ts';
import { RepriseClientError, connectReprise } from './index.ts';
import type { ConnectOptions, RepriseClient } from './index.ts';

const REQUEST = { model: 'demo', messages: [{ role: 'user', content: 'hi' }] };
const WRITER: Identity = { tenant: 'acme', role: 'write', verified: true };
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Setup {
  readonly server?: Partial<GrpcServerOptions>;
  readonly client?: Partial<ConnectOptions>;
}

async function connected(service: FakeService, setup: Setup = {}): Promise<RepriseClient> {
  const server = new GrpcServer({
    service,
    resolveIdentity: () => WRITER,
    host: '127.0.0.1',
    port: 0,
    bodyBytesMax: 1024 * 1024,
    ...setup.server,
  });
  cleanups.push(() => server.close(0));
  const { port } = await server.start();
  const client = connectReprise({ address: `127.0.0.1:${port}`, ...setup.client });
  cleanups.push(() => client.close());
  return client;
}

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
}

function deferred<Value = void>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => (resolve = settle));
  return { promise, resolve };
}

async function failureOf(answer: Promise<unknown>): Promise<RepriseClientError> {
  const error = await answer.then(
    () => expect.fail('the call was answered'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RepriseClientError)) expect.fail(`not an error of the client: ${String(error)}`);
  return error;
}

/** Answers nothing until the request is abandoned. */
function hanging(service: FakeService): { asked: Promise<void>; aborted: Promise<void> } {
  const asked = deferred();
  const aborted = deferred();
  service.onInfer = ({ signal }: InferenceRequest) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted.resolve();
        reject(new RepriseError('cancelled', 'Gone.'));
      });
      asked.resolve();
    });
  return { asked: asked.promise, aborted: aborted.promise };
}

describe('RepriseClient: answers', () => {
  it('gives the answer with status and usage', async () => {
    const reply = await (await connected(new FakeService())).infer(REQUEST);
    expect(JSON.parse(Buffer.from(reply.body).toString())).toEqual({ ok: true });
    expect(reply.status).toEqual(hitStatus());
    expect(reply.usage.billed).toEqual({ promptTokens: 0, completionTokens: 0 });
  });

  it('tells an answer that never expires', async () => {
    const service = new FakeService();
    service.onInfer = async () => jsonReply({}, hitStatus({ ttlMs: Infinity, similarity: 0.97, probability: 0.99 }));
    const { status } = await (await connected(service)).infer(REQUEST);
    expect(status).toEqual(hitStatus({ ttlMs: Infinity, similarity: 0.97, probability: 0.99 }));
  });

  it.each([
    ['messages', REQUEST, 'chat.completions'],
    ['input', { model: 'm', input: 'x' }, 'embeddings'],
    ['a prompt', { model: 'm', prompt: 'x' }, 'completions'],
  ])('knows the operation of a request with %s', async (_what, request, operation) => {
    const service = new FakeService();
    await (await connected(service)).infer(request);
    expect(service.requests[0]?.operation).toBe(operation);
  });

  it('sends bytes as they are, with the controls', async () => {
    const service = new FakeService();
    const body = Buffer.from('{"seed":12345678901234567890}');
    const controls = { namespace: 'n', domain: 'd', bucket: 3, tags: ['t'], ttlMs: 9, maxAgeMs: 8, threshold: 0.9 };
    const client = await connected(service);
    await client.infer(body, { ...controls, operation: 'completions', noCache: true });
    const [request] = service.requests;
    expect(Buffer.from(request?.body ?? []).equals(body)).toBe(true);
    expect(request?.operation).toBe('completions');
    expect(request?.controls).toEqual({ ...controls, noCache: true });
  });

  it('sends its credential, or the call’s own', async () => {
    const seen: (string | undefined)[] = [];
    const resolveIdentity = (authorization: string | undefined): Identity => {
      seen.push(authorization);
      return WRITER;
    };
    const client = await connected(new FakeService(), { server: { resolveIdentity }, client: { credential: 'one' } });
    await client.infer(REQUEST);
    await client.infer(REQUEST, { credential: 'two' });
    expect(seen).toEqual(['Bearer one', 'Bearer two']);
  });
});

describe('RepriseClient: failures', () => {
  it('rebuilds a coded error', async () => {
    const service = new FakeService();
    service.onInfer = async () => {
      throw new RepriseError('upstream_queue_full', 'Busy.', { param: 'model', retryAfterMs: 250 });
    };
    const error = await failureOf((await connected(service)).infer(REQUEST));
    expect(error).toMatchObject({
      code: 'upstream_queue_full',
      message: 'Busy.',
      grpcStatus: 'RESOURCE_EXHAUSTED',
      retryable: true,
      param: 'model',
      retryAfterMs: 250,
    });
    expect(error.upstream).toBeUndefined();
  });

  it('tells the upstream’s own failure', async () => {
    const service = new FakeService();
    service.onInfer = async () => {
      const body = Buffer.from('{"error":{"message":"no"}}');
      throw new ModelError('model_error', 'No.', { status: 400, contentType: 'application/json', body });
    };
    const { upstream } = await failureOf((await connected(service)).infer(REQUEST));
    expect(upstream).toEqual({
      status: 400,
      contentType: 'application/json',
      body: '{"error":{"message":"no"}}',
      isBodyCut: false,
    });
  });

  it('is unreachable when nothing listens', async () => {
    const client = await connected(new FakeService());
    await cleanups[0]?.();
    expect(await failureOf(client.infer(REQUEST))).toMatchObject({ code: 'unreachable', retryable: true });
  });

  it('ends at its deadline, and the server hears of it', async () => {
    const service = new FakeService();
    const { aborted } = hanging(service);
    const client = await connected(service);
    await client.models();
    const error = await failureOf(client.infer(REQUEST, { timeoutMs: 500 }));
    expect(error).toMatchObject({ code: 'deadline_exceeded', grpcStatus: 'DEADLINE_EXCEEDED' });
    await aborted;
  });

  it('ends when the caller aborts, and the server hears of it', async () => {
    const service = new FakeService();
    const { asked, aborted } = hanging(service);
    const client = await connected(service);
    const controller = new AbortController();
    const answer = failureOf(client.infer(REQUEST, { signal: controller.signal }));
    await asked;
    controller.abort();
    expect((await answer).code).toBe('cancelled');
    await aborted;
  });

  it('asks nothing when the caller has aborted before', async () => {
    const service = new FakeService();
    const client = await connected(service);
    const error = await failureOf(client.infer(REQUEST, { signal: AbortSignal.abort() }));
    expect(error.code).toBe('cancelled');
    expect(service.requests).toEqual([]);
  });

  it('names a message that is too large, in either direction', async () => {
    const service = new FakeService();
    service.onInfer = async () => jsonReply({ text: 'x'.repeat(10_000) });
    const client = await connected(service, { client: { answerBytesMax: 1_000 } });
    expect((await failureOf(client.infer(REQUEST))).code).toBe('body_too_large');
    const large = await failureOf(client.infer({ ...REQUEST, user: 'x'.repeat(4 * 1024 * 1024) }));
    expect(large).toMatchObject({ code: 'body_too_large', retryable: false });
  });

  it.each([
    ['ttlMs', { ttlMs: Number.NaN }],
    ['maxAgeMs', { maxAgeMs: -5 }],
    ['bucket', { bucket: 1.5 }],
  ])('has the server refuse a %s that is no such number', async (_name, controls) => {
    const error = await failureOf((await connected(new FakeService())).infer(REQUEST, controls));
    expect(error.code).toBe('invalid_control');
  });

  it('refuses a credential that can’t be sent, without repeating it', async () => {
    const client = await connected(new FakeService(), { client: { credential: 'a\nb' } });
    const error = await failureOf(client.infer(REQUEST));
    expect(error.code).toBe('invalid_credential');
    expect(error.message).not.toContain('a\nb');
  });
});

describe('RepriseClient: streams', () => {
  async function* events(count: number): AsyncGenerator<Uint8Array> {
    for (let n = 0; n < count; n += 1) yield eventOf({ n });
  }

  /** Events without end; `left` when the server abandoned them. */
  function endless(service: FakeService): { left: Promise<void> } {
    const left = deferred();
    service.onStream = async ({ signal }) =>
      streamReply(
        (async function* () {
          try {
            yield eventOf({ n: 0 });
            await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          } finally {
            left.resolve();
          }
        })(),
      );
    return { left: left.promise };
  }

  it('gives the status first, every event in order, and then the usage', async () => {
    const service = new FakeService();
    service.onStream = async () => streamReply(events(500));
    const stream = await (await connected(service)).inferStream(REQUEST);
    expect(stream.status.outcome).toBe('miss');
    const seen: unknown[] = [];
    for await (const event of stream.events()) seen.push(event['n']);
    expect(seen).toEqual(Array.from({ length: 500 }, (_, n) => n));
    expect(stream.usage().served).toEqual({ promptTokens: 3, completionTokens: 2 });
  });

  it('gives all of a stream larger than every buffer on the way', async () => {
    const service = new FakeService();
    const event = Buffer.from(eventOf({ text: 'x'.repeat(200_000) }));
    service.onStream = async () =>
      streamReply(
        (async function* () {
          for (let n = 0; n < 60; n += 1) yield event;
        })(),
      );
    const stream = await (await connected(service)).inferStream(REQUEST);
    let bytes = 0;
    for await (const chunk of stream.chunks) bytes += chunk.length;
    expect(bytes).toBe(60 * event.length);
  });

  it('fails before the first event with the service’s own code', async () => {
    const service = new FakeService();
    service.onStream = async () => {
      throw new RepriseError('model_not_found', 'No such model.');
    };
    const error = await failureOf((await connected(service)).inferStream(REQUEST));
    expect(error).toMatchObject({ code: 'model_not_found', grpcStatus: 'NOT_FOUND' });
  });

  it('fails after the events that came, with the model’s error', async () => {
    const service = new FakeService();
    service.onStream = async () =>
      streamReply(
        (async function* () {
          yield eventOf({ n: 0 });
          yield eventOf({ n: 1 });
          throw new ModelError('model_stream_truncated', 'Cut.');
        })(),
      );
    const stream = await (await connected(service)).inferStream(REQUEST);
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const event of stream.events()) seen.push(event['n']);
    })();
    expect((await failureOf(reading)).code).toBe('model_stream_truncated');
    expect(seen).toEqual([0, 1]);
  });

  it('cancels the call when the reader stops', async () => {
    const service = new FakeService();
    const { left } = endless(service);
    const stream = await (await connected(service)).inferStream(REQUEST);
    for await (const _event of stream.events()) break;
    await left;
  });

  it('cancels the call when the reader leaves before it read anything', async () => {
    const service = new FakeService();
    const { left } = endless(service);
    const stream = await (await connected(service)).inferStream(REQUEST);
    await stream.events()[Symbol.asyncIterator]().return?.();
    await left;
  });

  it('ends with `cancelled` when the caller aborts', async () => {
    const service = new FakeService();
    const { left } = endless(service);
    const controller = new AbortController();
    const stream = await (await connected(service)).inferStream(REQUEST, { signal: controller.signal });
    const reading = (async () => {
      for await (const _event of stream.events()) controller.abort();
    })();
    expect((await failureOf(reading)).code).toBe('cancelled');
    await left;
  });

  it('keeps no listener on the caller’s signal after the end', async () => {
    const service = new FakeService();
    service.onStream = async () => streamReply(events(1));
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    const client = await connected(service);
    const stream = await client.inferStream(REQUEST, { signal });
    for await (const _event of stream.events());
    await client.infer(REQUEST, { signal });
    expect(listeners).toBe(0);
  });
});

describe('RepriseClient: connection', () => {
  it('tells how it stands', async () => {
    const client = await connected(new FakeService());
    expect(client.state).toBe('idle');
    await client.models();
    expect(client.state).toBe('ready');
    client.close();
    expect(client.state).toBe('closed');
  });
});
