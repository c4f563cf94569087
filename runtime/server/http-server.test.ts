import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeService, READER, eventOf, hitStatus, streamReply } from '../../clients/gateway/fake-service.ts';
import type { RequestRecord } from '../../clients/gateway/index.ts';
import { RepriseError, hasCode } from '../errors.ts';
import type { Role } from '../ports/service.ts';
import { HttpServer } from './http-server.ts';
import type { HttpServerOptions } from './http-server.ts';

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

interface Harness {
  readonly server: HttpServer;
  readonly service: FakeService;
  readonly records: RequestRecord[];
  readonly internalErrors: unknown[];
  readonly port: number;
  readonly url: string;
}

async function start(changes: Partial<HttpServerOptions> = {}): Promise<Harness> {
  const service = new FakeService();
  const records: RequestRecord[] = [];
  const internalErrors: unknown[] = [];
  const server = new HttpServer({
    service,
    resolveIdentity: (headers) => ({ ...READER, role: (headers['x-test-role'] as Role | undefined) ?? 'admin' }),
    host: '127.0.0.1',
    port: 0,
    metrics: () => 'reprise_requests_total 1\n',
    describeConfig: () => ({ port: { value: 8080, origin: 'default' } }),
    onRequestDone: (record) => records.push(record),
    onInternalError: (error) => internalErrors.push(error),
    bodyBytesMax: 100_000,
    ...changes,
  });
  const { port, url } = await server.start();
  cleanups.push(() => server.close(0));
  return { server, service, records, internalErrors, port, url };
}

function postJson(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text });
}

async function codeOf(response: Response): Promise<string> {
  const document = (await response.json()) as { error: { code: string } };
  return document.error.code;
}

/** Sends raw bytes and gives what comes back until the server closes. */
async function exchange(port: number, bytes: string | Uint8Array): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.end(bytes);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(chunks).toString('latin1');
}

describe('operations', () => {
  it('/healthz says that the process serves', async () => {
    const { url } = await start();

    const response = await fetch(`${url}/healthz`);

    expect(response.status).toBe(200);
  });

  it.each([
    [true, 200],
    [false, 503],
  ])('/readyz with readiness %s: %i', async (ready, status) => {
    const { url, service } = await start();
    service.ready = ready;

    const response = await fetch(`${url}/readyz`);

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ ready, draining: false, parts: [{ name: 'grid' }] });
  });

  it('/metrics gives the text it is given', async () => {
    const { url } = await start();

    const response = await fetch(`${url}/metrics`);

    expect(await response.text()).toBe('reprise_requests_total 1\n');
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  });

  it('/metrics that fails is a bug and says so', async () => {
    const bug = new Error('broken');
    const { url, internalErrors } = await start({ metrics: () => Promise.reject(bug) });

    const response = await fetch(`${url}/metrics`);

    expect(await codeOf(response)).toBe('internal');
    expect(internalErrors).toEqual([bug]);
  });

  it('takes a request id, and makes one where none is fit', async () => {
    const { url } = await start();

    const given = await fetch(`${url}/healthz`, { headers: { 'x-request-id': 'abc-1' } });
    const made = await fetch(`${url}/healthz`, { headers: { 'x-request-id': 'no good' } });

    expect(given.headers.get('x-request-id')).toBe('abc-1');
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f]{12}-/);
  });
});

describe('admin', () => {
  it.each([
    [{ entry: 'e1' }, { target: { kind: 'entry', entryId: 'e1' }, invalidation: 'hard', purge: false }],
    [
      { tag: 't', soft: true },
      { target: { kind: 'tag', tag: 't' }, invalidation: 'soft' },
    ],
    [
      { namespace: 'n', tenant: 'x' },
      { target: { kind: 'namespace', namespace: 'n' }, tenant: 'x' },
    ],
    [
      { model: 'm', purge: true },
      { target: { kind: 'model', model: 'm' }, purge: true },
    ],
    [{ tenant: 'x' }, { target: { kind: 'tenant', tenant: 'x' } }],
  ])('/admin/invalidate takes %o', async (document, expected) => {
    const { url, service } = await start();

    const response = await postJson(`${url}/admin/invalidate`, document);

    expect(await response.json()).toEqual({ sequence: 7, stalenessBoundMs: 2_000, reach: 'grid', removedEntries: 0 });
    expect(service.invalidations).toMatchObject([expected]);
  });

  it.each([
    [{}, 'invalid_request'],
    [{ entry: 'a', tag: 'b' }, 'invalid_request'],
    [{ entry: '' }, 'invalid_request'],
    [{ entry: 3 }, 'invalid_request'],
    [{ tag: 'a', soft: 'yes' }, 'invalid_request'],
    [{ tag: 'a', hard: true }, 'invalid_request'],
    [[], 'invalid_request'],
    ['{', 'invalid_json'],
    ['', 'empty_body'],
    ['{"tag":"a","tag":"b"}', 'duplicate_member'],
    ['{"tag":"a","t\\u0061g":"a"}', 'duplicate_member'],
  ])('/admin/invalidate refuses %o', async (document, code) => {
    const { url, service } = await start();

    const response = await postJson(`${url}/admin/invalidate`, document);

    expect(response.status).toBe(400);
    expect(await codeOf(response)).toBe(code);
    expect(service.invalidations).toHaveLength(0);
  });

  it('/admin/invalidate refuses what is nested too deep', async () => {
    const { url } = await start();

    const response = await postJson(`${url}/admin/invalidate`, `{"tag":${'['.repeat(2_000)}${']'.repeat(2_000)}}`);

    expect(await codeOf(response)).toBe('json_too_deep');
  });

  it('/admin/feedback hands the verdict over', async () => {
    const { url, service } = await start();

    const response = await postJson(`${url}/admin/feedback`, { entry: 'e', verdict: 'wrong', askedText: 'q' });

    expect(response.status).toBe(200);
    expect(service.feedbacks).toMatchObject([{ entryId: 'e', verdict: 'wrong', askedText: 'q' }]);
  });

  it.each([{ entry: 'e' }, { verdict: 'wrong' }, { entry: 'e', verdict: 'maybe' }])(
    '/admin/feedback refuses %o',
    async (document) => {
      const { url } = await start();

      expect(await codeOf(await postJson(`${url}/admin/feedback`, document))).toBe('invalid_request');
    },
  );

  it('/admin/explain takes an object’s bytes as sent', async () => {
    const { url, service } = await start();
    const body = '{"seed": 12345678901234567890}';

    const response = await postJson(`${url}/admin/explain`, `{"operation":"completions","body": ${body} }`, {
      'x-reprise-namespace': 'n',
    });

    expect(await response.json()).toMatchObject({ namespace: 'n', status: { ttlMs: null } });
    expect(service.requests[0]?.operation).toBe('completions');
    expect(Buffer.from(service.requests[0]?.body ?? []).toString()).toBe(body);
  });

  it('/admin/explain takes a body’s text', async () => {
    const { url, service } = await start();

    await postJson(`${url}/admin/explain`, { body: '{"a":1}' });

    expect(service.requests[0]?.operation).toBe('chat.completions');
    expect(Buffer.from(service.requests[0]?.body ?? []).toString()).toBe('{"a":1}');
  });

  it.each([{ body: 3 }, {}, { operation: 'responses', body: {} }])('/admin/explain refuses %o', async (document) => {
    const { url } = await start();

    expect(await codeOf(await postJson(`${url}/admin/explain`, document))).toBe('invalid_request');
  });

  it('/admin/lookup gives status and stored answer', async () => {
    const { url, service } = await start();
    service.onLookup = async () => ({
      status: hitStatus(),
      contentType: 'application/json',
      body: Buffer.from('{"big":12345678901234567890}'),
    });

    const response = await postJson(`${url}/admin/lookup`, { body: {} });

    expect(await response.text()).toMatch(/^\{"status":\{.*"body":\{"big":12345678901234567890\}\}$/);
  });

  it('/admin/lookup says when there is nothing', async () => {
    const { url } = await start();

    const response = await postJson(`${url}/admin/lookup`, { body: {} });

    expect(response.status).toBe(504);
    expect(await codeOf(response)).toBe('not_cached');
  });

  it('/admin/stats and /admin/config tell', async () => {
    const { url } = await start();

    const stats = await fetch(`${url}/admin/stats`);
    const config = await fetch(`${url}/admin/config`);

    expect(await stats.json()).toMatchObject({ requests: 1, byOutcome: { hit: 1 } });
    expect(await config.json()).toEqual({ port: { value: 8080, origin: 'default' } });
  });

  it.each([
    ['POST', '/admin/invalidate', 'read', 403],
    ['POST', '/admin/feedback', 'read', 403],
    ['GET', '/admin/config', 'write', 403],
    ['GET', '/admin/stats', 'read', 403],
    ['GET', '/admin/stats', 'write', 200],
    ['GET', '/admin/config', 'admin', 200],
  ])('%s %s as %s: %i', async (method, path, role, status) => {
    const { url } = await start();

    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'x-test-role': role, 'content-type': 'application/json' },
      ...(method === 'POST' && { body: '{"tag":"t"}' }),
    });

    expect(response.status).toBe(status);
  });

  it('refuses what a web page can send without asking', async () => {
    const { url, service } = await start();

    const response = await fetch(`${url}/admin/invalidate`, { method: 'POST', body: '{"tag":"t"}' });

    expect(response.status).toBe(415);
    expect(service.invalidations).toHaveLength(0);
  });
});

describe('what is not there', () => {
  it.each(['/', '/v1/nope', '/v1/chat/completions/', '/admin', '/v1/%F0%9F', '/v1//models'])('%s', async (path) => {
    const { port } = await start();

    const text = await exchange(port, `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);

    expect(text).toMatch(/^HTTP\/1.1 (404|400) .*"code":"(unknown_path|invalid_request)"/s);
  });

  it('is told so whatever is sent there', async () => {
    const { url, records } = await start();

    const response = await fetch(`${url}/v1/responses`, { method: 'POST', body: 'x'.repeat(500_000) });

    expect(response.status).toBe(404);
    expect(await codeOf(response)).toBe('unknown_path');
    expect(records).toMatchObject([{ path: '', status: 404, detail: 'unknown_path' }]);
  });

  it.each(['PROPFIND', 'TRACE', 'PURGE'])('the method %s', async (method) => {
    const { port } = await start();

    const text = await exchange(port, `${method} /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);

    expect(text).toMatch(/^HTTP\/1.1 405 .*method_not_allowed/s);
  });
});

describe('the host that a request names', () => {
  const ask = (host: string, path: string): string =>
    `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`;

  it.each(['/v1/chat/completions', '/admin/invalidate', '/healthz'])('must be this machine: %s', async (path) => {
    const { port, service, records } = await start({ allowedHosts: ['cache.internal'] });
    const heard = await exchange(port, ask('rebound.example', path));
    expect(heard).toMatch(/^HTTP\/1\.1 403 /);
    expect(heard).toContain('"code":"host_not_allowed"');
    expect(heard).toMatch(/x-request-id: [0-9a-f]{12}-/);
    expect(service.requests).toEqual([]);
    expect(records.map(({ outcome, detail }) => [outcome, detail])).toEqual([['refused', 'host_not_allowed']]);
  });

  it.each(['localhost:1', '127.0.0.1', 'cache.internal'])('may be %s', async (host) => {
    const { port } = await start({ allowedHosts: ['cache.internal'] });
    expect(await exchange(port, ask(host, '/v1/chat/completions'))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('may be any where it isn’t looked at', async () => {
    const { port } = await start();
    expect(await exchange(port, ask('rebound.example', '/v1/chat/completions'))).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('what is no request', () => {
  it.each([
    ['garbage', 'hello\r\n\r\n', /^HTTP\/1.1 400 .*"code":"invalid_request"/s],
    ['a head without end', `GET / HTTP/1.1\r\na: ${'x'.repeat(20_000)}`, /^HTTP\/1.1 431 .*"code":"invalid_request"/s],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      /^HTTP\/1.1 400 /,
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      /^HTTP\/1.1 400 /,
    ],
  ])('%s', async (_name, bytes, expected) => {
    const { port } = await start();

    expect(await exchange(port, bytes)).toMatch(expected);
  });

  it('any bytes get a 4xx or nothing, and the server serves on', async () => {
    const { port, url, internalErrors } = await start();
    const line = fc.constantFrom(
      'POST /v1/chat/completions HTTP/1.1',
      'GET /v1/models/%zz HTTP/1.1',
      'POST /v1/embeddings HTTP/1.0',
      'OPTIONS * HTTP/1.1',
    );
    const header = fc.oneof(
      fc.constantFrom(
        'content-type: application/json',
        'content-length: 5',
        'content-length: 99999999999999999999',
        'content-length: -1',
        'transfer-encoding: chunked',
        'cache-control: max-age="',
        'x-reprise-tags: ,,,',
        'expect: 100-continue',
        'expect: a miracle',
        'connection: upgrade\r\nupgrade: websocket',
      ),
      fc.string({ maxLength: 30 }),
    );
    const body = fc.uint8Array({ maxLength: 64 });

    await fc.assert(
      fc.asyncProperty(line, fc.array(header, { maxLength: 5 }), body, async (first, headers, tail) => {
        const head = `${[first, 'host: x', ...headers, 'connection: close'].join('\r\n')}\r\n\r\n`;
        const text = await exchange(port, Buffer.concat([Buffer.from(head), tail]));
        const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
        return statuses.every((status) => status < 500);
      }),
      { numRuns: 150 },
    );

    expect(internalErrors).toEqual([]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe('start', () => {
  it('names the variable to change when the port is taken', async () => {
    const { port } = await start();
    const second = new HttpServer({
      service: new FakeService(),
      resolveIdentity: () => READER,
      host: '127.0.0.1',
      port,
    });
    cleanups.push(() => second.close(0));

    const failure: unknown = await second.start().catch((error: unknown) => error);

    expect(hasCode(failure, 'address_in_use')).toBe(true);
    expect((failure as RepriseError).message).toContain('REPRISE_HTTP_PORT');
  });

  it('refuses an address that isn’t this machine’s', async () => {
    const server = new HttpServer({
      service: new FakeService(),
      resolveIdentity: () => READER,
      host: '192.0.2.1',
      port: 0,
    });
    cleanups.push(() => server.close(0));

    const failure: unknown = await server.start().catch((error: unknown) => error);

    expect(hasCode(failure, 'config_invalid')).toBe(true);
  });
});

describe('a connection', () => {
  it('on which nothing moves for too long is cut', async () => {
    const { service, url } = await start({ idleTimeoutMs: 30 });
    service.onInfer = () => new Promise(() => undefined);

    await expect(postJson(`${url}/v1/chat/completions`, {})).rejects.toThrow();
  });
});

describe('close', () => {
  it('lets a running stream end and takes no new work', async () => {
    const { server, service, url, port } = await start();
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    service.onStream = async () =>
      streamReply(
        (async function* () {
          yield eventOf({ n: 1 });
          await released;
          yield eventOf({ n: 2 });
        })(),
      );
    const idle = connect(port, '127.0.0.1');
    await once(idle, 'connect');
    const kept = connect(port, '127.0.0.1');
    await once(kept, 'connect');
    const stream = await postJson(`${url}/v1/chat/completions`, { stream: true });
    const reader = stream.body?.getReader();
    await reader?.read();

    const closing = server.close(10_000);
    kept.write('POST /v1/embeddings HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n');
    const [refusal] = (await once(kept, 'data')) as [Buffer];
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    release();
    let rest = '';
    for (;;) {
      const part = await reader?.read();
      if (part === undefined || part.done) break;
      rest += Buffer.from(part.value).toString();
    }
    await closing;

    expect(refusal.toString()).toMatch(/^HTTP\/1.1 503 .*connection: close.*"code":"draining"/is);
    expect(rest).toBe('data: {"n":2}\n\ndata: [DONE]\n\n');
    expect(server.running).toBe(0);
  });

  it('cuts what is still running at the limit', async () => {
    const { server, service, url } = await start();
    service.onStream = async ({ signal }) =>
      streamReply(
        (async function* () {
          yield eventOf({ n: 1 });
          await once(signal, 'abort');
        })(),
      );
    const stream = await postJson(`${url}/v1/chat/completions`, { stream: true });
    const reader = stream.body?.getReader();
    await reader?.read();

    await server.close(1);

    await expect(reader?.read()).rejects.toThrow();
  });

  it('doesn’t wait for connections that ask nothing', async () => {
    const { server, port } = await start();
    const silent = connect(port, '127.0.0.1');
    silent.on('error', () => undefined);
    await once(silent, 'connect');
    const closed = new Promise((resolve) => silent.once('close', resolve));

    await server.close(600_000);

    await closed;
    expect(silent.destroyed).toBe(true);
  });

  it('still answers /readyz on an open connection, with 503', async () => {
    const { server, service, url, port } = await start();
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    let onAsked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => (onAsked = resolve));
    service.onInfer = async () => {
      onAsked();
      await finished;
      throw new RepriseError('model_not_found', 'no');
    };
    const kept = connect(port, '127.0.0.1');
    await once(kept, 'connect');
    const asked = postJson(`${url}/v1/chat/completions`, {});
    await isAsked;

    const closing = server.close(10_000);
    kept.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n');
    const [reply] = (await once(kept, 'data')) as [Buffer];
    finish();
    await asked;
    await closing;

    expect(reply.toString()).toMatch(/^HTTP\/1.1 503 .*"draining":true/s);
  });

  it('may be asked twice', async () => {
    const { server } = await start();

    await Promise.all([server.close(1_000), server.close(1_000)]);

    expect(server.running).toBe(0);
  });
});

describe('uploads', () => {
  it('that are slow to come don’t hold a close back past its limit', async () => {
    let onSeen: () => void = () => undefined;
    const isSeen = new Promise<void>((resolve) => (onSeen = resolve));
    const { server, port } = await start({
      resolveIdentity: () => {
        onSeen();
        return READER;
      },
    });
    const request = httpRequest({ port, host: '127.0.0.1', path: '/v1/embeddings', method: 'POST' });
    const cut = new Promise<Error>((resolve) => request.once('error', resolve));
    request.setHeader('content-type', 'application/json');
    request.write('{');
    await isSeen;

    await server.close(1);

    expect((await cut).message).toMatch(/hang up|reset/i);
  });
});
