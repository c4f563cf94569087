import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelError, RepriseError } from '../../runtime/errors.ts';
import type { Model } from '../../runtime/ports/model.ts';
import type {
  Identity,
  InferenceRequest,
  InferenceService,
  InvalidationTarget,
  StoreRequest,
} from '../../runtime/ports/service.ts';
import { GrpcServer } from '../../runtime/server/grpc-server.ts';
import { connectReprise } from '../node/index.ts';
import type { RepriseClient } from '../node/index.ts';
import { FakeService, eventOf, hitStatus, jsonReply, streamReply } from './fake-service.ts';
import { remoteService } from './remote-service.ts';

const ADMIN: Identity = { tenant: 'acme', role: 'admin', verified: true };
const READER: Identity = { ...ADMIN, role: 'read' };
const WRITER: Identity = { ...ADMIN, role: 'write' };

/** The same script, behind a server and in process. */
class ScriptedService extends FakeService {
  constructor() {
    super();
    this.onInfer = async ({ body }) => {
      const text = Buffer.from(body).toString();
      if (text.includes('busy')) throw new RepriseError('upstream_queue_full', 'Busy.', { retryAfterMs: 1_000 });
      if (text.includes('refuse')) {
        const options = { status: 422, contentType: 'application/json', body: Buffer.from('{"error":1}') };
        throw new ModelError('model_error', 'Refused.', options);
      }
      return jsonReply(
        { ok: true },
        hitStatus({ ttlMs: Infinity, detail: 'semantic', similarity: 0.98, probability: 0.995, domain: 'default' }),
      );
    };
    this.onStream = async ({ body }) => {
      const isCut = Buffer.from(body).includes('cut');
      return streamReply(
        (async function* () {
          yield eventOf({ n: 1 });
          if (isCut) throw new ModelError('model_stream_truncated', 'Cut.');
          yield eventOf({ n: 2 });
        })(),
      );
    };
    this.onLookup = async ({ body }) => {
      if (Buffer.from(body).includes('absent')) throw new RepriseError('not_cached', 'Not in the cache.');
      const { usage: _usage, ...found } = jsonReply({ stored: true });
      return found;
    };
  }
}

let server: GrpcServer;
let client: RepriseClient;
let behind: ScriptedService;
let remote: InferenceService;
const seenCredentials: (string | undefined)[] = [];

beforeAll(async () => {
  behind = new ScriptedService();
  server = new GrpcServer({
    service: behind,
    resolveIdentity: (authorization) => {
      seenCredentials.push(authorization);
      return ADMIN;
    },
    host: '127.0.0.1',
    port: 0,
    bodyBytesMax: 1024 * 1024,
  });
  const { port } = await server.start();
  client = connectReprise({ address: `127.0.0.1:${port}`, credential: 'gateway' });
  remote = remoteService(client, { tenant: 'acme' });
});

afterAll(async () => {
  client.close();
  await server.close(1_000);
});

function request(body: string, changes: Partial<InferenceRequest> = {}): InferenceRequest {
  return {
    operation: 'chat.completions',
    body: Buffer.from(body),
    identity: ADMIN,
    controls: {},
    signal: new AbortController().signal,
    ...changes,
  };
}

/** What a caller can tell of an answer or failure. */
async function observed(answer: Promise<unknown>): Promise<unknown> {
  try {
    return comparable(await answer);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    const { name, code, message, param, retryAfterMs } = error;
    const upstream = error instanceof ModelError && [error.status, error.contentType, bytesText(error.body)];
    return { failed: { name, code, message, param, retryAfterMs, upstream } };
  }
}

function bytesText(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}

function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return bytesText(value);
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, comparable(member)]));
}

async function readStream(service: InferenceService, asked: InferenceRequest): Promise<unknown> {
  const stream = await service.inferStream(asked);
  const texts: string[] = [];
  const end = await observed(
    (async () => {
      for await (const chunk of stream.chunks) texts.push(bytesText(chunk));
      return stream.usage();
    })(),
  );
  return { status: stream.status, texts, end };
}

const STORED: StoreRequest = {
  operation: 'chat.completions',
  body: Buffer.from('{}'),
  answer: Buffer.from('{"choices":[]}'),
  identity: WRITER,
  controls: { tags: ['t'] },
};

const invalidation = (service: InferenceService, target: InvalidationTarget, identity = ADMIN) =>
  service.invalidate({ target, invalidation: 'hard', purge: false, identity });

const CALLS: readonly [string, (service: InferenceService) => Promise<unknown>][] = [
  ['infer', (service) => service.infer(request('{}'))],
  [
    'infer with controls',
    (service) => service.infer(request('{}', { controls: { tags: ['a'], ttlMs: 5, bucket: 0 } })),
  ],
  ['infer that is turned away', (service) => service.infer(request('"busy"'))],
  ['infer that the model refuses', (service) => service.infer(request('"refuse"'))],
  ['inferStream', (service) => readStream(service, request('{}'))],
  ['inferStream that is cut', (service) => readStream(service, request('"cut"'))],
  ['lookup', (service) => service.lookup(request('{}'))],
  ['lookup of nothing', (service) => service.lookup(request('"absent"'))],
  ['store', (service) => service.store(STORED)],
  ['invalidate', (service) => invalidation(service, { kind: 'tag', tag: 't' }, WRITER)],
  ['feedback', (service) => service.feedback({ identity: WRITER, entryId: 'e', verdict: 'right' })],
  ['explain', (service) => service.explain(request('{}', { controls: { namespace: 'n' } }))],
  ['stats', (service) => service.stats(READER)],
  ['models', (service) => service.models(READER)],
];

describe('remoteService: the same as in process', () => {
  it.each(CALLS)('%s', async (_name, ask) => {
    const local = await observed(ask(new ScriptedService()));
    expect(await observed(ask(remote))).toEqual(local);
  });

  it('hands the request on whole', async () => {
    const asked = request('{"seed":12345678901234567890}', {
      operation: 'completions',
      controls: { namespace: 'n', noStore: true },
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    });
    await remote.infer(asked);
    const seen = behind.requests.at(-1);
    expect(bytesText(seen?.body)).toBe(bytesText(asked.body));
    expect(seen).toMatchObject({ operation: 'completions', controls: asked.controls, traceparent: asked.traceparent });
  });
});

describe('remoteService: what one connection must not mix', () => {
  it('refuses another tenant, which its credential doesn’t stand for', async () => {
    const before = behind.requests.length;
    const other = request('{}', { identity: { ...ADMIN, tenant: 'other' } });
    await expect(remote.infer(other)).rejects.toMatchObject({ code: 'permission_denied' });
    await expect(remote.inferStream(other)).rejects.toMatchObject({ code: 'permission_denied' });
    expect(behind.requests.length).toBe(before);
  });

  it('sends the identity’s own credential where it brings one', async () => {
    await remote.infer(request('{}', { identity: { ...ADMIN, tenant: 'other', credential: 'sk-own' } }));
    expect(seenCredentials.at(-1)).toBe('Bearer sk-own');
    await remote.infer(request('{}'));
    expect(seenCredentials.at(-1)).toBe('Bearer gateway');
  });

  it('refuses to a reader what needs the role write', async () => {
    const refused = { code: 'permission_denied' };
    await expect(remote.store({ ...STORED, identity: READER })).rejects.toMatchObject(refused);
    await expect(invalidation(remote, { kind: 'tag', tag: 't' }, READER)).rejects.toMatchObject(refused);
    await expect(remote.feedback({ identity: READER, entryId: 'e', verdict: 'wrong' })).rejects.toMatchObject(refused);
  });

  it('refuses to a writer what reaches other tenants', async () => {
    const refused = { code: 'permission_denied' };
    await expect(invalidation(remote, { kind: 'model', model: 'm' }, WRITER)).rejects.toMatchObject(refused);
    await expect(invalidation(remote, { kind: 'tenant', tenant: 'other' }, WRITER)).rejects.toMatchObject(refused);
    const foreign = { target: { kind: 'tag', tag: 't' }, invalidation: 'hard', purge: false, tenant: 'other' } as const;
    await expect(remote.invalidate({ ...foreign, identity: WRITER })).rejects.toMatchObject(refused);
    await expect(invalidation(remote, { kind: 'tenant', tenant: 'acme' }, WRITER)).resolves.toMatchObject({
      sequence: 7,
    });
  });

  it('refuses a model that lives in this process', async () => {
    const model = {} as Model;
    await expect(remote.infer(request('{}', { model }))).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('remoteService: streams and readiness', () => {
  it('leaves the stream when its reader leaves, read or not', async () => {
    let left = 0;
    let wake: () => void = () => undefined;
    behind.onStream = async ({ signal }) =>
      streamReply(
        (async function* () {
          try {
            yield eventOf({});
            await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          } finally {
            left += 1;
            wake();
          }
        })(),
      );
    const leaving = (): Promise<void> => new Promise((resolve) => (wake = resolve));
    let gone = leaving();
    for await (const _chunk of (await remote.inferStream(request('{}'))).chunks) break;
    await gone;
    gone = leaving();
    await (await remote.inferStream(request('{}'))).chunks[Symbol.asyncIterator]().return?.();
    await gone;
    expect(left).toBe(2);
  });

  it('is ready while the connection isn’t failing', () => {
    expect(remote.readiness()).toMatchObject({ ready: true, parts: [{ name: 'server', state: 'ready' }] });
  });

  it('is not ready once the connection is closed', () => {
    const other = connectReprise({ address: '127.0.0.1:1' });
    other.close();
    expect(remoteService(other, { tenant: 'acme' }).readiness()).toMatchObject({ ready: false });
  });
});
