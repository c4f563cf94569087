import Fastify from 'fastify';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { ModelError, RepriseError } from '../../runtime/errors.ts';
import type { GatewayOptions, RequestRecord } from './index.ts';
import { repriseGateway } from './index.ts';
import { FakeService, MISS_STATUS, READER, eventOf, hitStatus, jsonReply, streamReply } from './fake-service.ts';

const apps: FastifyInstance[] = [];

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

interface Harness {
  readonly app: FastifyInstance;
  readonly service: FakeService;
  readonly records: RequestRecord[];
  readonly internalErrors: unknown[];
}

function harness(changes: Partial<GatewayOptions> & { prefix?: string } = {}): Harness {
  const service = new FakeService();
  const records: RequestRecord[] = [];
  const internalErrors: unknown[] = [];
  const app = Fastify();
  apps.push(app);
  void app.register(repriseGateway, {
    service,
    resolveIdentity: () => READER,
    onRequestDone: (record) => records.push(record),
    onInternalError: (error) => internalErrors.push(error),
    ...changes,
  });
  return { app, service, records, internalErrors };
}

function chat(body: unknown, headers: Record<string, string> = {}): InjectOptions {
  return {
    method: 'POST',
    url: '/v1/chat/completions',
    headers: { 'content-type': 'application/json', ...headers },
    payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  };
}

async function* eventsOf(...events: unknown[]): AsyncGenerator<Uint8Array> {
  for (const event of events) yield eventOf(event);
}

describe('inference routes', () => {
  it.each([
    ['/v1/chat/completions', 'chat.completions'],
    ['/v1/completions', 'completions'],
    ['/v1/embeddings', 'embeddings'],
  ])('%s asks the service for %s with the body as sent', async (url, operation) => {
    const { app, service } = harness();
    const payload = '{ "model":"demo",  "seed": 12345678901234567890 }';

    await app.inject({ ...chat(payload), url });

    const [request] = service.requests;
    expect(request?.operation).toBe(operation);
    expect(Buffer.from(request?.body ?? []).toString()).toBe(payload);
  });

  it('answers with the service’s bytes and the status headers', async () => {
    const { app, service } = harness();
    service.onInfer = async () => jsonReply({ a: 1 }, hitStatus({ unconfirmed: true }));

    const reply = await app.inject(chat({}));

    expect(reply.statusCode).toBe(200);
    expect(reply.body).toBe('{"a":1}');
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-status': 'reprise; hit; ttl=3600; detail=exact-l1',
      age: '12',
      'x-reprise-entry': 'ab'.repeat(32),
      'x-reprise-unconfirmed': 'true',
    });
    expect(reply.headers['x-request-id']).toBeTruthy();
  });

  it('hands over identity, controls and trace context', async () => {
    const { app, service } = harness();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

    await app.inject(chat({}, { 'cache-control': 'max-age=5', 'x-reprise-tags': 'a', traceparent }));

    expect(service.requests[0]).toMatchObject({
      identity: READER,
      controls: { maxAgeMs: 5_000, tags: ['a'] },
      traceparent,
    });
  });

  it('drops a trace context that is none', async () => {
    const { app, service } = harness();

    await app.inject(chat({}, { traceparent: 'injected: text' }));

    expect(service.requests[0]?.traceparent).toBeUndefined();
  });

  it('gives a stored stream whole, with its end', async () => {
    const { app, service } = harness();
    service.onStream = async () => streamReply(eventsOf({ n: 1 }, { n: 2 }), hitStatus());

    const reply = await app.inject(chat({ stream: true }));

    expect(reply.headers['content-type']).toContain('text/event-stream');
    expect(reply.headers['content-length']).toBe(String(reply.rawPayload.length));
    expect(reply.body).toBe('data: {"n":1}\n\ndata: {"n":2}\n\ndata: [DONE]\n\n');
  });

  it('gives embeddings no stream', async () => {
    const { app, service } = harness();

    const reply = await app.inject({ ...chat({ stream: true }), url: '/v1/embeddings' });

    expect(reply.statusCode).toBe(200);
    expect(service.requests).toHaveLength(1);
  });

  it('refuses a control before the service is asked', async () => {
    const { app, service } = harness();

    const reply = await app.inject(chat({}, { 'x-reprise-ttl': '-1' }));

    expect(reply.statusCode).toBe(400);
    expect(reply.json()).toMatchObject({ error: { code: 'invalid_control', param: 'x-reprise-ttl' } });
    expect(service.requests).toHaveLength(0);
  });
});

describe('errors', () => {
  it('have OpenAI’s shape', async () => {
    const { app, service } = harness();
    service.onInfer = async () => {
      throw new RepriseError('model_not_found', 'There is no model x.', { param: 'model' });
    };

    const reply = await app.inject(chat({}));

    expect(reply.statusCode).toBe(404);
    expect(reply.json()).toEqual({
      error: {
        message: 'There is no model x.',
        type: 'invalid_request_error',
        param: 'model',
        code: 'model_not_found',
      },
    });
  });

  it('of the upstream pass with status, body, type and Retry-After', async () => {
    const { app, service } = harness();
    const body = Buffer.from('{"error":{"message":"slow down","type":"tokens"}}');
    service.onInfer = async () => {
      throw new ModelError('model_error', 'refused', {
        status: 429,
        body,
        contentType: 'application/json; charset=utf-8',
        retryAfterMs: 1_200,
      });
    };

    const reply = await app.inject(chat({}));

    expect(reply.statusCode).toBe(429);
    expect(reply.rawPayload).toEqual(body);
    expect(reply.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'retry-after': '2' });
  });

  it('of an upstream without a status are ours', async () => {
    const { app, service } = harness();
    service.onInfer = async () => {
      throw new ModelError('model_timeout', 'The model took too long.');
    };

    const reply = await app.inject(chat({}));

    expect(reply.statusCode).toBe(504);
    expect(reply.json()).toMatchObject({ error: { code: 'model_timeout', type: 'upstream_error' } });
  });

  it('of a stream before its first byte have a status and none of its headers', async () => {
    const { app, service } = harness();
    service.onStream = async () =>
      streamReply(
        (async function* () {
          yield* [];
          throw new ModelError('model_error', 'boom', { status: 500, body: Buffer.from('{"error":1}') });
        })(),
      );

    const reply = await app.inject(chat({ stream: true }));

    expect(reply.statusCode).toBe(500);
    expect(reply.body).toBe('{"error":1}');
    expect(reply.headers).not.toHaveProperty('cache-status');
    expect(reply.headers['content-type']).toBe('application/json');
  });

  it('that are bugs tell the client nothing and the host everything', async () => {
    const { app, service, internalErrors } = harness();
    const bug = new TypeError('secret detail');
    service.onInfer = () => {
      throw bug;
    };

    const reply = await app.inject(chat({}));

    expect(reply.statusCode).toBe(500);
    expect(reply.body).not.toContain('secret');
    expect(reply.json()).toMatchObject({ error: { code: 'internal' } });
    expect(internalErrors).toEqual([bug]);
  });
});

describe('bodies', () => {
  it.each([
    ['none', { method: 'POST', url: '/v1/chat/completions' }, 400, 'empty_body'],
    ['an empty one', chat(''), 400, 'empty_body'],
    ['one above the limit', chat('x'.repeat(1_001)), 413, 'body_too_large'],
    ['one far above the limit', chat('x'.repeat(20_000)), 413, 'body_too_large'],
    ['plain text', chat('{}', { 'content-type': 'text/plain' }), 415, 'unsupported_media_type'],
    ['gzip', chat('{}', { 'content-encoding': 'gzip' }), 415, 'unsupported_media_type'],
    ['two encodings', chat('{}', { 'content-encoding': 'identity, br' }), 415, 'unsupported_media_type'],
    ['latin-1', chat('{}', { 'content-type': 'application/json; charset=latin1' }), 415, 'unsupported_media_type'],
    [
      'quoted utf-16',
      chat('{}', { 'content-type': 'application/json;charset="UTF-16"' }),
      415,
      'unsupported_media_type',
    ],
    ['a form', chat('a=b', { 'content-type': 'application/x-www-form-urlencoded' }), 415, 'unsupported_media_type'],
    ['a broken type', chat('{}', { 'content-type': ';;;' }), 415, 'unsupported_media_type'],
  ] as const)('%s: %i', async (_name, request, status, code) => {
    const { app, service } = harness({ bodyBytesMax: 1_000 });

    const reply = await app.inject(request as InjectOptions);

    expect(reply.statusCode).toBe(status);
    expect(reply.json()).toMatchObject({ error: { code, type: 'invalid_request_error' } });
    expect(service.requests).toHaveLength(0);
  });

  it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/vnd.api+json'])(
    'may be %s',
    async (contentType) => {
      const { app } = harness();

      const reply = await app.inject(chat('{}', { 'content-type': contentType }));

      expect(reply.statusCode).toBe(200);
    },
  );

  it('of exactly the limit pass', async () => {
    const { app } = harness({ bodyBytesMax: 1_000 });

    const reply = await app.inject(chat('x'.repeat(1_000)));

    expect(reply.statusCode).toBe(200);
  });

  it('are for the service to judge', async () => {
    const { app, service } = harness();
    service.onInfer = async () => {
      throw new RepriseError('invalid_json', 'not JSON');
    };

    const reply = await app.inject(chat('{"a":'));

    expect(reply.json()).toMatchObject({ error: { code: 'invalid_json' } });
  });
});

describe('methods', () => {
  it.each([
    ['GET', '/v1/chat/completions', 'POST, OPTIONS'],
    ['DELETE', '/v1/embeddings', 'POST, OPTIONS'],
    ['HEAD', '/v1/completions', 'POST, OPTIONS'],
    ['POST', '/v1/models', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/models/demo', 'GET, HEAD, OPTIONS'],
  ] as const)('%s %s: 405', async (method, url, allow) => {
    const { app } = harness();

    const reply = await app.inject({ method, url });

    expect(reply.statusCode).toBe(405);
    expect(reply.headers.allow).toBe(allow);
    if (method !== 'HEAD') expect(reply.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
  });

  it.each([
    ['OPTIONS', 204, 'POST, OPTIONS', {}],
    ['OPTIONS', 204, 'POST, OPTIONS', { payload: 'x' }],
    ['DELETE', 405, 'POST, OPTIONS', {}],
    ['PUT', 405, 'POST, OPTIONS', { payload: 'x'.repeat(20_000) }],
  ] as const)(
    '%s with a content type is answered by its method, its body unread',
    async (method, status, allow, body) => {
      const { app } = harness();
      for (const type of ['application/json', 'text/plain']) {
        const reply = await app.inject({
          method,
          url: '/v1/chat/completions',
          headers: { 'content-type': type },
          ...body,
        });
        expect([reply.statusCode, reply.headers.allow]).toEqual([status, allow]);
      }
    },
  );

  it('OPTIONS tells what there is', async () => {
    const { app } = harness();

    const reply = await app.inject({ method: 'OPTIONS', url: '/v1/chat/completions' });

    expect(reply.statusCode).toBe(204);
    expect(reply.headers.allow).toBe('POST, OPTIONS');
  });

  it('HEAD of a GET has no body', async () => {
    const { app } = harness();

    const reply = await app.inject({ method: 'HEAD', url: '/v1/models' });

    expect(reply.statusCode).toBe(200);
    expect(reply.body).toBe('');
  });
});

describe('models', () => {
  it('are listed', async () => {
    const { app, service } = harness();
    service.modelNames = ['demo', 'meta/llama'];

    const reply = await app.inject({ method: 'GET', url: '/v1/models' });

    expect(reply.json()).toMatchObject({
      object: 'list',
      data: [{ id: 'demo', object: 'model' }, { id: 'meta/llama' }],
    });
  });

  it.each(['/v1/models/meta%2Fllama', '/v1/models/meta/llama'])('are found: %s', async (url) => {
    const { app, service } = harness();
    service.modelNames = ['meta/llama'];

    const reply = await app.inject({ method: 'GET', url });

    expect(reply.json()).toMatchObject({ id: 'meta/llama', object: 'model' });
  });

  it('that aren’t there name those that are', async () => {
    const { app } = harness();

    const reply = await app.inject({ method: 'GET', url: '/v1/models/nope' });

    expect(reply.statusCode).toBe(404);
    expect(reply.json<{ error: { code: string; message: string } }>().error).toMatchObject({
      code: 'model_not_found',
      message: expect.stringContaining('demo') as string,
    });
  });
});

describe('identity', () => {
  it('may be found later', async () => {
    const { app, service } = harness({ resolveIdentity: async () => ({ ...READER, tenant: 'later' }) });

    await app.inject(chat({}));

    expect(service.requests[0]?.identity.tenant).toBe('later');
  });

  it.each([
    [
      'at once',
      () => {
        throw new RepriseError('missing_credential', 'no key');
      },
    ],
    [
      'later',
      async () => {
        throw new RepriseError('missing_credential', 'no key');
      },
    ],
  ])('that is refused %s stops the request', async (_name, resolveIdentity) => {
    const { app, service } = harness({ resolveIdentity });

    const reply = await app.inject(chat({}));

    expect(reply.statusCode).toBe(401);
    expect(reply.json()).toMatchObject({ error: { code: 'missing_credential', type: 'authentication_error' } });
    expect(service.requests).toHaveLength(0);
  });

  it('sees headers and the socket’s address', async () => {
    const seen: unknown[] = [];
    const { app } = harness({
      resolveIdentity: (headers, remoteAddress) => {
        seen.push(headers.authorization, remoteAddress);
        return READER;
      },
    });

    await app.inject(chat({}, { authorization: 'Bearer k' }));

    expect(seen).toEqual(['Bearer k', '127.0.0.1']);
  });
});

describe('request records', () => {
  it('tell what was done and no text', async () => {
    const { app, records } = harness();
    const body = { messages: [{ role: 'user', content: 'my secret' }] };

    await app.inject(chat(body, { authorization: 'Bearer key' }));

    expect(records).toEqual([
      {
        requestId: expect.any(String) as string,
        method: 'POST',
        path: '/v1/chat/completions',
        status: 200,
        outcome: 'hit',
        detail: 'exact-l1',
        durationMs: expect.any(Number) as number,
        bodyBytes: JSON.stringify(body).length,
        replyBytes: 11,
        tenant: 'acme',
        entry: 'abababababab',
        model: 'demo',
        stream: false,
      },
    ]);
    expect(JSON.stringify(records)).not.toMatch(/secret|key/);
  });

  it.each([
    [chat({}, { 'x-reprise-ttl': '0' }), 400, 'refused', 'invalid_control'],
    [chat(''), 400, 'refused', 'empty_body'],
    [{ method: 'GET', url: '/v1/completions' } as const, 405, 'refused', 'method_not_allowed'],
  ])('are made once for a failure', async (request, status, outcome, detail) => {
    const { app, records } = harness();

    await app.inject(request);

    expect(records).toMatchObject([{ status, outcome, detail }]);
  });

  it('count a stream’s bytes', async () => {
    const { app, service, records } = harness();
    service.onStream = async () => streamReply(eventsOf({ n: 1 }), MISS_STATUS);

    await app.inject(chat({ stream: true }));

    expect(records).toMatchObject([{ stream: true, outcome: 'miss', replyBytes: eventOf({ n: 1 }).length }]);
  });
});

describe('as a guest in another’s gateway', () => {
  it('takes a prefix', async () => {
    const { app } = harness({ prefix: '/ai' });

    const reply = await app.inject({ ...chat({}), url: '/ai/v1/chat/completions' });

    expect(reply.statusCode).toBe(200);
  });

  it('leaves the host’s routes their own parsers and errors', async () => {
    const { app } = harness();
    app.post('/own', (request) => request.body);

    const parsed = await app.inject({ ...chat({ a: 1 }), url: '/own' });
    const refused = await app.inject({ ...chat('{'), url: '/own' });

    expect(parsed.json()).toEqual({ a: 1 });
    expect(refused.json()).toHaveProperty('statusCode', 400);
  });

  it('keeps headers that the host’s hooks set, streams included', async () => {
    const { app, service } = harness();
    app.addHook('onRequest', (_request, reply, done) => {
      void reply.header('access-control-allow-origin', 'https://app.example');
      done();
    });
    service.onStream = async () => streamReply(eventsOf({ n: 1 }));

    const whole = await app.inject(chat({}));
    const streamed = await app.inject(chat({ stream: true }));

    expect(whole.headers['access-control-allow-origin']).toBe('https://app.example');
    expect(streamed.headers['access-control-allow-origin']).toBe('https://app.example');
  });

  it('may be there twice', async () => {
    const { app } = harness();
    void app.register(repriseGateway, { service: new FakeService(), resolveIdentity: () => READER, prefix: '/two' });

    const reply = await app.inject({ ...chat({}), url: '/two/v1/chat/completions' });

    expect(reply.statusCode).toBe(200);
  });
});
