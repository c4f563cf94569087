import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeService, READER, eventOf, hitStatus, jsonReply, streamReply } from '../../clients/gateway/fake-service.ts';
import { ModelError, RepriseError } from '../errors.ts';
import { HttpServer } from './http-server.ts';

const servers: HttpServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close(0)));
});

async function start(): Promise<{ service: FakeService; client: OpenAI }> {
  const service = new FakeService();
  const resolveIdentity = (headers: { authorization?: string | undefined }): typeof READER => {
    if (headers.authorization !== 'Bearer key') throw new RepriseError('invalid_credential', 'The key is not known.');
    return READER;
  };
  const server = new HttpServer({ service, resolveIdentity, host: '127.0.0.1', port: 0, bodyBytesMax: 100_000 });
  servers.push(server);
  const { url } = await server.start();
  return { service, client: new OpenAI({ apiKey: 'key', baseURL: `${url}/v1`, maxRetries: 0 }) };
}

async function failureOf(call: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await call;
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error;
    throw error;
  }
  throw new Error('the call was meant to fail');
}

const COMPLETION = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'demo',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, finish_reason: 'stop', logprobs: null },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};

function chunkOf(content: string, finish: string | null = null): object {
  return {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'demo',
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  };
}

const QUESTION = { model: 'demo', messages: [{ role: 'user' as const, content: 'Hello "stream": true' }] };

describe('the openai client', () => {
  it('gets the stored object', async () => {
    const { service, client } = await start();
    service.onInfer = async () => jsonReply(COMPLETION);

    const { data, response, request_id } = await client.chat.completions.create(QUESTION).withResponse();

    expect(data).toMatchObject(COMPLETION);
    expect(response.headers.get('cache-status')).toBe('reprise; hit; ttl=3600; detail=exact-l1');
    expect(request_id).toBeTruthy();
  });

  it.each([
    ['live', hitStatus({ outcome: 'miss', detail: '', stored: true })],
    ['stored', hitStatus()],
  ])('gets every event of a %s stream', async (_name, status) => {
    const { service, client } = await start();
    const chunks = [chunkOf('He'), chunkOf('llo'), chunkOf('', 'stop')];
    service.onStream = async () =>
      streamReply(
        (async function* () {
          for (const chunk of chunks) yield eventOf(chunk);
        })(),
        status,
      );

    const received: unknown[] = [];
    for await (const chunk of await client.chat.completions.create({ ...QUESTION, stream: true })) received.push(chunk);

    expect(received).toEqual(chunks);
  });

  it('sees a stream break', async () => {
    const { service, client } = await start();
    service.onStream = async () =>
      streamReply(
        (async function* () {
          yield eventOf(chunkOf('He'));
          throw new ModelError('model_stream_truncated', 'The model stopped early.');
        })(),
      );
    const received: unknown[] = [];

    const failure = await failureOf(
      (async () => {
        for await (const chunk of await client.chat.completions.create({ ...QUESTION, stream: true }))
          received.push(chunk);
      })(),
    );

    expect(received).toHaveLength(1);
    expect(failure).toMatchObject({ code: 'model_stream_truncated', type: 'upstream_error' });
  });

  it('sees our errors as its own classes', async () => {
    const { service, client } = await start();
    service.onInfer = async () => {
      throw new RepriseError('model_not_found', 'There is no such model.', { param: 'model' });
    };

    const failure = await failureOf(client.chat.completions.create(QUESTION));

    expect(failure).toBeInstanceOf(OpenAI.NotFoundError);
    expect(failure).toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
      type: 'invalid_request_error',
    });
  });

  it('sees an upstream’s errors as if it had asked it', async () => {
    const { service, client } = await start();
    service.onStream = async () => {
      throw new ModelError('model_error', 'x', {
        status: 429,
        body: Buffer.from(
          '{"error":{"message":"slow down","type":"tokens","param":null,"code":"rate_limit_exceeded"}}',
        ),
        contentType: 'application/json',
        retryAfterMs: 3_000,
      });
    };

    const failure = await failureOf(client.chat.completions.create({ ...QUESTION, stream: true }));

    expect(failure).toBeInstanceOf(OpenAI.RateLimitError);
    expect(failure.code).toBe('rate_limit_exceeded');
    expect(failure.headers?.get('retry-after')).toBe('3');
  });

  it('sees a wrong key', async () => {
    const { client } = await start();

    const failure = await failureOf(client.withOptions({ apiKey: 'other' }).models.list());

    expect(failure).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(failure.code).toBe('invalid_credential');
  });

  it('sees a body above the limit', async () => {
    const { client } = await start();
    const content = 'x'.repeat(300_000);

    const failure = await failureOf(
      client.chat.completions.create({ model: 'demo', messages: [{ role: 'user', content }] }),
    );

    expect(failure).toMatchObject({ status: 413, code: 'body_too_large' });
  });

  it('lists and finds models', async () => {
    const { service, client } = await start();
    service.modelNames = ['demo', 'meta/llama'];

    const names: string[] = [];
    for await (const model of client.models.list()) names.push(model.id);
    const found = await client.models.retrieve('meta/llama');

    expect(names).toEqual(['demo', 'meta/llama']);
    expect(found.id).toBe('meta/llama');
  });

  it('asks for completions and embeddings', async () => {
    const { service, client } = await start();
    const vectors = Buffer.from(new Float32Array([0.5, -0.25]).buffer).toString('base64');
    service.onInfer = async ({ operation }) =>
      operation === 'embeddings'
        ? jsonReply({ object: 'list', model: 'demo', data: [{ object: 'embedding', index: 0, embedding: vectors }] })
        : jsonReply({
            id: 't',
            object: 'text_completion',
            choices: [{ index: 0, text: 'yes', finish_reason: 'stop' }],
          });

    const completion = await client.completions.create({ model: 'demo', prompt: 'well?' });
    const embeddings = await client.embeddings.create({ model: 'demo', input: 'well?' });

    expect(completion.choices[0]?.text).toBe('yes');
    expect(embeddings.data[0]?.embedding).toEqual([0.5, -0.25]);
    expect(service.requests.map(({ operation }) => operation)).toEqual(['completions', 'embeddings']);
  });

  it('aborts by closing', async () => {
    const { service, client } = await start();
    const controller = new AbortController();
    const aborted = new Promise<void>((resolve) => {
      service.onInfer = ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error);
            resolve();
          });
          controller.abort();
        });
    });

    const failure = await failureOf(client.chat.completions.create(QUESTION, { signal: controller.signal }));
    await aborted;

    expect(failure).toBeInstanceOf(OpenAI.APIUserAbortError);
  });
});
