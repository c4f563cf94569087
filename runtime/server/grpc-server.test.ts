import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client, Metadata, Server, ServerCredentials, credentials, status as grpcCodes } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { service as healthService } from 'grpc-health-check';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeService, READER, jsonReply } from '../../clients/gateway/fake-service.ts';
import { ErrorInfo } from '../../proto/gen/google/rpc/error_info.ts';
import { Status } from '../../proto/gen/google/rpc/status.ts';
import * as wire from '../../proto/gen/reprise/v1/inference_cache.ts';
import { ModelError, RepriseError } from '../errors.ts';
import type { Identity } from '../ports/service.ts';
import { GrpcServer } from './grpc-server.ts';
import type { GrpcServerOptions } from './grpc-server.ts';

const BODY = '{"model":"demo","messages":[{"role":"user","content":"hi"}]}';
const WRITER: Identity = { tenant: 'acme', role: 'write', verified: true };
const BODY_BYTES_MAX = 4_096;
const cleanups: (() => Promise<void> | void)[] = [];

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
}

function deferred<Value = void>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => (resolve = settle));
  return { promise, resolve };
}

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(changes: Partial<GrpcServerOptions> = {}): Promise<{ server: GrpcServer; client: Client }> {
  const server = new GrpcServer({
    service: new FakeService(),
    resolveIdentity: () => WRITER,
    host: '127.0.0.1',
    port: 0,
    bodyBytesMax: BODY_BYTES_MAX,
    ...changes,
  });
  cleanups.push(() => server.close(0));
  const { port } = await server.start();
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  cleanups.push(() => client.close());
  return { server, client };
}

function message(changes: Partial<wire.InferRequest> = {}): wire.InferRequest {
  return {
    operation: wire.Operation.UNSPECIFIED,
    body: Buffer.from(BODY),
    model: '',
    namespace: '',
    domain: '',
    tags: [],
    noCache: false,
    noStore: false,
    onlyIfCached: false,
    ...changes,
  };
}

interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (value: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

function call<Request, Response>(
  client: Client,
  method: Method<Request, Response>,
  request: Request,
  metadata = new Metadata(),
): Promise<Response> {
  const { path, requestSerialize, responseDeserialize } = method;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error, response) => {
      if (error === null) resolve(response as Response);
      else reject(error);
    });
  });
}

const { infer, lookup, store, invalidate, feedback, explain, stats, listModels } = wire.InferenceCacheService;

async function failureOf(answer: Promise<unknown>): Promise<{ error: ServiceError; info: ErrorInfo | undefined }> {
  const error = await answer.then(
    () => expect.fail('the call was answered'),
    (thrown: unknown) => thrown as ServiceError,
  );
  const [trailer] = error.metadata.get('grpc-status-details-bin');
  if (trailer === undefined) return { error, info: undefined };
  const [detail] = Status.decode(trailer as Buffer).details;
  return { error, info: detail && ErrorInfo.decode(detail.value) };
}

describe('GrpcServer: calls', () => {
  it('answers Infer with body, status and usage', async () => {
    const { client } = await serve();
    const answer = await call(client, infer, message());
    expect(Buffer.from(answer.body).toString()).toBe('{"ok":true}');
    expect(answer.contentType).toBe('application/json');
    expect(answer.status).toMatchObject({
      outcome: wire.Outcome.HIT,
      detail: 'exact-l1',
      ageMs: 12_900,
      model: 'demo',
    });
    expect(answer.usage?.served).toEqual({ promptTokens: 3, completionTokens: 2 });
  });

  it('hands the body on as sent, with operation, controls and trace context', async () => {
    const service = new FakeService();
    const { client } = await serve({ service });
    const metadata = new Metadata();
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    metadata.set('traceparent', traceparent);
    const asked = message({
      operation: wire.Operation.COMPLETIONS,
      tags: ['b', 'a'],
      ttlMs: 5_000,
      threshold: 0.5,
      noStore: true,
    });
    await call(client, infer, asked, metadata);
    const [request] = service.requests;
    expect(Buffer.from(request?.body ?? []).toString()).toBe(BODY);
    expect(request).toMatchObject({ operation: 'completions', identity: WRITER, traceparent });
    expect(request?.controls).toEqual({ tags: ['a', 'b'], ttlMs: 5_000, threshold: 0.5, noStore: true });
  });

  it('leaves out a trace context that is none', async () => {
    const service = new FakeService();
    const { client } = await serve({ service });
    const metadata = new Metadata();
    metadata.set('traceparent', 'nonsense');
    await call(client, infer, message(), metadata);
    expect(service.requests[0]?.traceparent).toBeUndefined();
  });

  it('puts the message’s model in place of the body’s', async () => {
    const service = new FakeService();
    const { client } = await serve({ service });
    await call(client, infer, message({ model: 'other' }));
    expect(Buffer.from(service.requests[0]?.body ?? []).toString()).toBe(BODY.replace('demo', 'other'));
  });

  it('answers Lookup', async () => {
    const service = new FakeService();
    service.onLookup = async () => jsonReply({ found: 1 });
    const { client } = await serve({ service });
    expect(Buffer.from((await call(client, lookup, message())).body).toString()).toBe('{"found":1}');
  });

  it('answers Store with where the answer lies', async () => {
    const { client } = await serve();
    const answer = await call(client, store, { request: message(), answer: Buffer.from('{}') });
    expect(answer.status).toMatchObject({ outcome: wire.Outcome.MISS, stored: true, entryId: 'ab'.repeat(32) });
  });

  it('answers Invalidate and passes the target on', async () => {
    const service = new FakeService();
    const { client } = await serve({ service });
    const target = { $case: 'tag', value: 'prices' } as const;
    const answer = await call(client, invalidate, {
      target,
      kind: wire.InvalidationKind.SOFT,
      purge: true,
      ofTenant: 'b',
    });
    expect(answer).toEqual({ sequence: 7, stalenessBoundMs: 2_000, reach: wire.Reach.GRID, removedEntries: 0 });
    const expected = { target: { kind: 'tag', tag: 'prices' }, invalidation: 'soft', purge: true, tenant: 'b' };
    expect(service.invalidations).toEqual([{ ...expected, identity: WRITER }]);
  });

  it('passes feedback on', async () => {
    const service = new FakeService();
    const { client } = await serve({ service });
    await call(client, feedback, {
      entryId: 'e',
      verdict: wire.Verdict.WRONG,
      askedText: 'why',
      note: '',
      storedText: '',
      ofTenant: '',
    });
    expect(service.feedbacks).toEqual([{ identity: WRITER, entryId: 'e', verdict: 'wrong', askedText: 'why' }]);
  });

  it('answers Explain, with a time without an end left out', async () => {
    const { client } = await serve();
    const answer = await call(client, explain, message({ namespace: 'n' }));
    expect(answer).toMatchObject({ key: 'k', tenant: 'acme', namespace: 'n', semantic: { mode: 'off' } });
    expect(answer.status?.ttlMs).toBeUndefined();
  });

  it('answers Stats and ListModels', async () => {
    const { client } = await serve();
    expect(await call(client, stats, {})).toMatchObject({ requests: 1, byOutcome: { hit: 1 }, semantic: 'off' });
    expect(await call(client, listModels, {})).toEqual({ names: ['demo'] });
  });
});

describe('GrpcServer: identity', () => {
  it('resolves the identity from authorization and x-api-key', async () => {
    const seen: unknown[] = [];
    const { client } = await serve({
      resolveIdentity: (authorization, apiKey) => {
        seen.push([authorization, apiKey]);
        return READER;
      },
    });
    const metadata = new Metadata();
    metadata.set('authorization', 'Bearer one');
    await call(client, infer, message(), metadata);
    const withKey = new Metadata();
    withKey.set('x-api-key', 'two');
    await call(client, infer, message(), withKey);
    expect(seen).toEqual([
      ['Bearer one', undefined],
      [undefined, 'two'],
    ]);
  });

  it('refuses who has no credential, before the service sees the request', async () => {
    const service = new FakeService();
    const { client } = await serve({
      service,
      resolveIdentity: () => {
        throw new RepriseError('missing_credential', 'Send a key.');
      },
    });
    const { error, info } = await failureOf(call(client, infer, message()));
    expect([error.code, info?.reason]).toEqual([grpcCodes.UNAUTHENTICATED, 'missing_credential']);
    expect(service.requests).toEqual([]);
  });

  it.each([
    ['Store', (client: Client) => call(client, store, { request: message(), answer: Buffer.from('{}') })],
    [
      'Invalidate',
      (client: Client) =>
        call(client, invalidate, { target: { $case: 'tag', value: 't' }, kind: 0, purge: false, ofTenant: '' }),
    ],
    [
      'Feedback',
      (client: Client) =>
        call(client, feedback, { entryId: 'e', verdict: 1, askedText: '', note: '', storedText: '', ofTenant: '' }),
    ],
  ])('refuses %s to a reader', async (_name, ask) => {
    const { client } = await serve({ resolveIdentity: () => READER });
    const { error, info } = await failureOf(ask(client));
    expect([error.code, info?.reason]).toEqual([grpcCodes.PERMISSION_DENIED, 'permission_denied']);
  });
});

describe('GrpcServer: refusals and failures', () => {
  it('tells an error’s code, field, retry time and whether to retry', async () => {
    const service = new FakeService();
    service.onInfer = async () => {
      throw new RepriseError('upstream_queue_full', 'Busy.', { param: 'model', retryAfterMs: 1_500 });
    };
    const { client } = await serve({ service });
    const { error, info } = await failureOf(call(client, infer, message()));
    expect([error.code, error.details]).toEqual([grpcCodes.RESOURCE_EXHAUSTED, 'Busy.']);
    expect(info).toEqual({
      reason: 'upstream_queue_full',
      domain: 'reprise',
      metadata: { retryable: 'true', param: 'model', retry_after_ms: '1500' },
    });
  });

  it('passes an upstream’s status and the beginning of its body on', async () => {
    const service = new FakeService();
    service.onInfer = async () => {
      const body = Buffer.from('x'.repeat(10_000));
      throw new ModelError('model_error', 'No.', { status: 422, contentType: 'text/plain', body });
    };
    const { client } = await serve({ service });
    const { error, info } = await failureOf(call(client, infer, message()));
    expect(error.code).toBe(grpcCodes.UNKNOWN);
    expect(info?.metadata).toMatchObject({ upstream_status: '422', upstream_body_cut: 'true' });
    expect(info?.metadata['upstream_body']).toBe('x'.repeat(2_048));
  });

  it('keeps the cause of a bug to itself and tells the operator', async () => {
    const bug = new TypeError('secret of the house');
    const reported: unknown[] = [];
    const service = new FakeService();
    service.onInfer = async () => {
      throw bug;
    };
    const { client } = await serve({ service, onInternalError: (error) => reported.push(error) });
    const { error, info } = await failureOf(call(client, infer, message()));
    expect([error.code, info?.reason]).toEqual([grpcCodes.INTERNAL, 'internal']);
    expect(error.details).not.toContain('secret');
    expect(reported).toEqual([bug]);
  });

  it.each([
    ['an unknown operation', message({ operation: 9 as wire.Operation }), 'invalid_request', 'operation'],
    ['a bucket out of range', message({ bucket: 70_000 }), 'invalid_control', 'bucket'],
    ['a time to live of nothing', message({ ttlMs: 0 }), 'invalid_control', 'ttl_ms'],
    ['a negative age', message({ maxAgeMs: -1 }), 'invalid_control', 'max_age_ms'],
    ['a threshold above 1', message({ threshold: 1.5 }), 'invalid_control', 'threshold'],
    ['a name with a slash', message({ namespace: 'a/b' }), 'invalid_control', 'namespace'],
  ])('refuses %s and names the field', async (_what, asked, reason, param) => {
    const { client } = await serve();
    const { error, info } = await failureOf(call(client, infer, asked));
    expect(error.code).toBe(grpcCodes.INVALID_ARGUMENT);
    expect([info?.reason, info?.metadata['param']]).toEqual([reason, param]);
  });

  it('refuses an invalidation without a target, and feedback without a verdict', async () => {
    const { client } = await serve();
    const aimless = await failureOf(
      call(client, invalidate, { target: undefined, kind: 0, purge: false, ofTenant: '' }),
    );
    expect(aimless.info).toMatchObject({ reason: 'invalid_request', metadata: { param: 'target' } });
    const mute = await failureOf(
      call(client, feedback, { entryId: 'e', verdict: 0, askedText: '', note: '', storedText: '', ofTenant: '' }),
    );
    expect(mute.info).toMatchObject({ reason: 'invalid_request', metadata: { param: 'verdict' } });
  });

  it('refuses bytes that are no message', async () => {
    const { client } = await serve();
    const garbled = { ...infer, requestSerialize: () => Buffer.from([0x12, 0xff, 0xff]) };
    const { error, info } = await failureOf(call(client, garbled, message()));
    expect([error.code, info?.reason]).toEqual([grpcCodes.INVALID_ARGUMENT, 'invalid_request']);
  });

  it('refuses a number beyond what we can hold', async () => {
    const { client } = await serve();
    const huge = Buffer.from([0x40, ...Array.from({ length: 9 }, () => 0xff), 0x01]);
    huge[9] = 0x7f;
    const { error } = await failureOf(
      call(client, { ...infer, requestSerialize: () => huge.subarray(0, 10) }, message()),
    );
    expect(error.code).toBe(grpcCodes.INVALID_ARGUMENT);
  });

  it('takes a body at the limit and refuses one above it', async () => {
    const service = new FakeService();
    const { client } = await serve({ service });
    await call(client, infer, message({ body: Buffer.alloc(BODY_BYTES_MAX, 'x') }));
    const { error, info } = await failureOf(
      call(client, infer, message({ body: Buffer.alloc(BODY_BYTES_MAX + 1, 'x') })),
    );
    expect([error.code, info?.reason]).toEqual([grpcCodes.RESOURCE_EXHAUSTED, 'body_too_large']);
    expect(service.requests).toHaveLength(1);
  });

  it('cuts off a message far above the limit', async () => {
    const service = new FakeService();
    const { client } = await serve({ service });
    const { error } = await failureOf(call(client, infer, message({ body: Buffer.alloc(1024 * 1024) })));
    expect(error.code).toBe(grpcCodes.RESOURCE_EXHAUSTED);
    expect(service.requests).toEqual([]);
  });

  it('aborts the request’s signal when the client cancels', async () => {
    const aborted = deferred();
    const asked = deferred();
    const service = new FakeService();
    service.onInfer = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted.resolve();
          reject(new RepriseError('cancelled', 'Gone.'));
        });
        asked.resolve();
      });
    const { client } = await serve({ service });
    const failed = deferred<ServiceError | null>();
    const running = client.makeUnaryRequest(
      infer.path,
      infer.requestSerialize,
      infer.responseDeserialize,
      message(),
      (error) => failed.resolve(error),
    );
    await asked.promise;
    running.cancel();
    await aborted.promise;
    expect((await failed.promise)?.code).toBe(grpcCodes.CANCELLED);
  });

  it('aborts the request’s signal at the client’s deadline', async () => {
    const aborted = deferred();
    const service = new FakeService();
    service.onInfer = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted.resolve();
          reject(new RepriseError('cancelled', 'Too late.'));
        });
      });
    const { client } = await serve({ service });
    await call(client, listModels, {});
    const failed = deferred<ServiceError | null>();
    const options = { deadline: Date.now() + 500 };
    client.makeUnaryRequest(
      infer.path,
      infer.requestSerialize,
      infer.responseDeserialize,
      message(),
      new Metadata(),
      options,
      (error) => failed.resolve(error),
    );
    await aborted.promise;
    expect((await failed.promise)?.code).toBe(grpcCodes.DEADLINE_EXCEEDED);
  });
});

describe('GrpcServer: start and end', () => {
  it('names the port’s setting when the port is in use', async () => {
    const other = new Server();
    const port = await new Promise<number>((resolve, reject) => {
      other.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    cleanups.push(() => other.forceShutdown());
    const started = serve({ port });
    await expect(started).rejects.toMatchObject({ code: 'address_in_use' });
    await expect(started).rejects.toThrow(/REPRISE_GRPC_PORT/);
  });

  it('refuses an address that the machine hasn’t', async () => {
    await expect(serve({ host: '203.0.113.7' })).rejects.toMatchObject({ code: 'config_invalid' });
  });

  it('lets a running call finish when it closes, and takes no new one', async () => {
    const asked = deferred();
    const answered = deferred();
    const service = new FakeService();
    service.onInfer = async () => {
      asked.resolve();
      await answered.promise;
      return jsonReply({ last: true });
    };
    const { server, client } = await serve({ service });
    const running = call(client, infer, message());
    await asked.promise;
    expect(server.running).toBe(1);
    const closed = server.close(20_000);
    const late = await failureOf(call(client, infer, message()));
    expect(late.error.code).toBe(grpcCodes.UNAVAILABLE);
    answered.resolve();
    expect(Buffer.from((await running).body).toString()).toBe('{"last":true}');
    await closed;
    expect(server.running).toBe(0);
  });

  it('cuts what is left when its time is over', async () => {
    const asked = deferred();
    const aborted = deferred();
    const service = new FakeService();
    service.onInfer = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted.resolve();
          reject(new RepriseError('cancelled', 'Cut.'));
        });
        asked.resolve();
      });
    const { server, client } = await serve({ service });
    const running = failureOf(call(client, infer, message()));
    await asked.promise;
    await server.close(1);
    await aborted.promise;
    expect((await running).error.code).not.toBe(grpcCodes.OK);
  });
});

const SERVED = 'reprise.v1.InferenceCache';

interface HealthReply {
  readonly status: string;
}

describe('GrpcServer: health', () => {
  const { Check: check, Watch: watch } = healthService as unknown as Record<
    'Check' | 'Watch',
    Method<{ service: string }, HealthReply>
  >;

  it('tells readiness as it is now, for the server and the service', async () => {
    const service = new FakeService();
    const { client } = await serve({ service });
    expect((await call(client, check, { service: '' })).status).toBe('SERVING');
    expect((await call(client, check, { service: SERVED })).status).toBe('SERVING');
    service.ready = false;
    expect((await call(client, check, { service: SERVED })).status).toBe('NOT_SERVING');
  });

  it('knows no other service', async () => {
    const { client } = await serve();
    const { error } = await failureOf(call(client, check, { service: 'other' }));
    expect(error.code).toBe(grpcCodes.NOT_FOUND);
  });

  it('tells a watcher of the end, and doesn’t wait for it to leave', async () => {
    const { server, client } = await serve();
    const { path, requestSerialize, responseDeserialize } = watch;
    const watching = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, { service: '' });
    const seen: string[] = [];
    const first = deferred();
    const ended = deferred();
    watching.on('data', ({ status }: HealthReply) => {
      seen.push(status);
      first.resolve();
    });
    watching.on('end', () => ended.resolve());
    await first.promise;
    await server.close(20_000);
    await ended.promise;
    expect(seen).toEqual(['SERVING', 'NOT_SERVING']);
  });
});

describe('GrpcServer: reflection', () => {
  const folder = dirname(createRequire(import.meta.url).resolve('@grpc/reflection/package.json'));
  const reflectionProto = join(folder, 'build/proto/grpc/reflection/v1/reflection.proto');
  const definitions = loadSync(reflectionProto) as unknown as Record<
    string,
    { ServerReflectionInfo: Method<object, ReflectionReply> }
  >;
  const reflection = definitions['grpc.reflection.v1.ServerReflection'];

  interface ReflectionReply {
    readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] };
    readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly Buffer[] };
  }

  async function reflect(client: Client, request: object): Promise<ReflectionReply> {
    if (reflection === undefined) throw new Error('the reflection service has moved');
    const { path, requestSerialize, responseDeserialize } = reflection.ServerReflectionInfo;
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    const reply = new Promise<ReflectionReply>((resolve, reject) => {
      stream.once('data', resolve);
      stream.once('error', reject);
    });
    stream.write(request);
    stream.end();
    return reply;
  }

  it('lists the services', async () => {
    const { client } = await serve();
    const { listServicesResponse } = await reflect(client, { listServices: '' });
    const names = listServicesResponse?.service.map(({ name }) => name).sort();
    expect(names).toEqual(['grpc.health.v1.Health', SERVED]);
  });

  it('gives the file that has the service', async () => {
    const { client } = await serve();
    const { fileDescriptorResponse } = await reflect(client, { fileContainingSymbol: SERVED });
    const [file] = fileDescriptorResponse?.fileDescriptorProto ?? [];
    expect(file?.toString('latin1')).toContain('reprise/v1/inference_cache.proto');
    expect(file?.toString('latin1')).toContain('InferStreamResponse');
  });
});
