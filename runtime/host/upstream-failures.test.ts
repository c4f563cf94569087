import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { respondJson, signalled, startEvents } from '../models/testing/test-upstream.ts';
import {
  answerEvents,
  answerWith,
  endEvents,
  says,
  startScriptedUpstream,
  wholeAnswer,
  writeEvent,
  type CallAnswer,
  type ScriptedUpstream,
} from './testing/scripted-upstream.ts';
import { startTestServer, type TestReply, type TestServer } from './testing/test-server.ts';

const CHAT = '/v1/chat/completions';
const CALL_TIMEOUT_MS = 400;

let upstream: ScriptedUpstream;
let server: TestServer;

beforeAll(async () => {
  upstream = await startScriptedUpstream(answerWith(says('Fine.')));
});
afterAll(() => upstream.close());
beforeEach(async () => {
  upstream.answer = answerWith(says('Fine.'));
  server = await startTestServer({
    upstreams: { test: { url: upstream.url, timeoutMs: CALL_TIMEOUT_MS } },
    cache: { joinDeadlineMs: 10_000 },
  });
});
afterEach(() => server.close());

function chat(stream: boolean): object {
  return { model: 'gpt-test', messages: [{ role: 'user', content: 'Does it work?' }], ...(stream ? { stream } : {}) };
}

function errorOf(reply: TestReply): { code: unknown; type: unknown; message: unknown } {
  return reply.json<{ error: { code: unknown; type: unknown; message: unknown } }>().error;
}

async function entries(): Promise<number> {
  await server.settled();
  return (await server.get('/admin/stats')).json<{ entries: number }>().entries;
}

/** Nothing was stored, and the same request calls the model again and is then stored. */
async function expectNothingKept(stream: boolean): Promise<void> {
  expect(await entries()).toBe(0);
  const calls = upstream.calls.length;
  upstream.answer = answerWith(says('Better now.'));
  const next = await server.post(CHAT, chat(stream));
  expect(next.status).toBe(200);
  expect(next.cache).toBe('fwd=miss; stored');
  expect(next.text).toContain('now.');
  expect(upstream.calls.length).toBe(calls + 1);
  expect(await entries()).toBe(1);
}

interface Failure {
  readonly name: string;
  readonly answer: CallAnswer;
  readonly status: number;
  /** Code of our own; undefined: the upstream's body passes as it is. */
  readonly code?: string;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

const UPSTREAM_ERROR = {
  error: { message: 'The server had an error.', type: 'server_error', param: null, code: 'oops' },
};
const LIMIT_ERROR = { error: { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' } };

const FAILURES: readonly Failure[] = [
  {
    name: 'answers 500',
    answer: (call) => respondJson(call.response, UPSTREAM_ERROR, 500),
    status: 500,
    body: UPSTREAM_ERROR,
  },
  {
    name: 'answers 400',
    answer: (call) => respondJson(call.response, UPSTREAM_ERROR, 400),
    status: 400,
    body: UPSTREAM_ERROR,
  },
  {
    name: 'answers 401',
    answer: (call) => respondJson(call.response, UPSTREAM_ERROR, 401),
    status: 401,
    body: UPSTREAM_ERROR,
  },
  {
    name: 'answers 429',
    answer: (call) => respondJson(call.response, LIMIT_ERROR, 429),
    status: 429,
    body: LIMIT_ERROR,
  },
  { name: 'hangs', answer: () => undefined, status: 504, code: 'model_timeout' },
  { name: 'closes at once', answer: (call) => void call.response.destroy(), status: 502, code: 'model_unavailable' },
  {
    name: 'answers invalid JSON',
    answer: (call) => respondJson(call.response, '{"choices": [{"mess'),
    status: 502,
    code: 'model_invalid_answer',
  },
  {
    name: 'answers a page of HTML',
    answer: (call) => {
      call.response.writeHead(200, { 'content-type': 'text/html' });
      call.response.end('<html>Welcome</html>');
    },
    status: 502,
  },
];

describe.each(FAILURES)('an upstream that $name', (failure) => {
  it.each([false, true])(
    'gives a faithful error, nothing is stored, the next request calls again; stream %s',
    async (stream) => {
      upstream.answer = failure.answer;
      const reply = await server.post(CHAT, chat(stream));
      expect(reply.status).toBe(failure.status);
      expect(reply.cache).toBe('');
      expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
      if (failure.body !== undefined) expect(reply.json()).toEqual(failure.body);
      if (failure.code !== undefined) expect(errorOf(reply).code).toBe(failure.code);
      await expectNothingKept(stream);
    },
  );

  it('gives every participant of the flight the same error, after one call', async () => {
    const gate = signalled();
    const before = upstream.calls.length;
    upstream.answer = async (call) => {
      await gate.promise;
      await failure.answer(call);
    };
    const replies = [false, true, false, true].map((stream) => server.post(CHAT, chat(stream)));
    await server.telemetry.counted(3, 'reprise_flight_followers_total');
    gate.resolve();
    for (const reply of await Promise.all(replies)) expect(reply.status).toBe(failure.status);
    expect(upstream.calls.length).toBe(before + 1);
  });
});

describe('an upstream that asks for quiet', () => {
  it('passes Retry-After on, is left alone for as long, then called again', async () => {
    upstream.answer = (call) => respondJson(call.response, LIMIT_ERROR, 429, { 'retry-after': '1' });
    const refused = await server.post(CHAT, chat(false));
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.json()).toEqual(LIMIT_ERROR);
    const calls = upstream.calls.length;
    const early = await server.post(CHAT, chat(false));
    expect(early.status).toBe(429);
    expect(errorOf(early).code).toBe('upstream_queue_full');
    expect(Number(early.headers.get('retry-after'))).toBe(1);
    expect(upstream.calls.length).toBe(calls);
    expect(await entries()).toBe(0);
  });

  it('is waited for by a call with time enough', async () => {
    const own = await startTestServer({ upstreams: { test: { url: upstream.url } } });
    try {
      upstream.answer = (call) => respondJson(call.response, LIMIT_ERROR, 429, { 'retry-after': '1' });
      await own.post(CHAT, chat(false));
      upstream.answer = answerWith(says('Rested.'));
      expect((await own.post(CHAT, chat(false))).cache).toBe('fwd=miss; stored');
    } finally {
      await own.close();
    }
  });
});

describe('an upstream that nobody listens at', () => {
  it('is model_unavailable', async () => {
    const listener = createServer();
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    listener.close();
    await once(listener, 'close');
    const own = await startTestServer({ upstreams: { gone: { url: `http://127.0.0.1:${port}`, retriesMax: 0 } } });
    try {
      for (const stream of [false, true]) {
        const reply = await own.post(CHAT, chat(stream));
        expect(reply.status).toBe(502);
        expect(errorOf(reply).code).toBe('model_unavailable');
      }
    } finally {
      await own.close();
    }
  });
});

describe('an upstream that fails again and again', () => {
  it('is told by /readyz, which stays ready, until it answers', async () => {
    const models = async (): Promise<{ status: number; state: string; detail: string }> => {
      const reply = await server.get('/readyz');
      const { parts } = reply.json<{ parts: readonly { name: string; state: string; detail: string }[] }>();
      const { state = '', detail = '' } = parts.find(({ name }) => name === 'models') ?? {};
      return { status: reply.status, state, detail };
    };
    expect(await models()).toMatchObject({ status: 200, state: 'ready' });
    upstream.answer = (call) => void call.response.destroy();
    for (let count = 0; count < 3; count += 1) await server.post(CHAT, chat(false));
    expect(await models()).toMatchObject({ status: 200, state: 'degraded' });
    expect((await models()).detail).toMatch(/^test: the last 3 calls failed \(model_unavailable\), for \d+ s$/);
    upstream.answer = answerWith(says('Back.'));
    await server.post(CHAT, chat(false));
    expect(await models()).toMatchObject({ status: 200, state: 'ready' });
  });
});

describe('a stream that breaks after its beginning', () => {
  const BREAKS: readonly { readonly name: string; readonly end: CallAnswer; readonly code: string }[] = [
    {
      name: 'the connection is cut',
      end: (call) => void call.response.write(':', () => call.response.destroy()),
      code: 'model_stream_truncated',
    },
    { name: 'it ends without [DONE]', end: (call) => void call.response.end(), code: 'model_stream_truncated' },
    { name: 'nothing more comes', end: () => undefined, code: 'model_timeout' },
    {
      name: 'an event is not JSON',
      end: (call) => void call.response.write('data: {"choices": [{"del\n\n'),
      code: 'model_invalid_answer',
    },
  ];

  it.each(BREAKS)('$name: the partial stream, then the error, no [DONE]; nothing is stored', async ({ end, code }) => {
    upstream.answer = async (call) => {
      const events = answerEvents(call, says('Half of the answer.'));
      startEvents(call.response);
      for (const event of events.slice(0, 3)) writeEvent(call.response, event);
      await end(call);
    };
    const reply = await server.post(CHAT, chat(true));
    expect(reply.status).toBe(200);
    expect(reply.text).toContain('Half ');
    expect(reply.text).not.toContain('[DONE]');
    const last = reply.text.trimEnd().split('\n\n').at(-1) ?? '';
    expect(JSON.parse(last.slice('data: '.length))).toMatchObject({ error: { code } });
    await expectNothingKept(true);
  });

  it('a whole request that follows a stream that breaks gets the error, not half an answer', async () => {
    const gate = signalled();
    upstream.answer = async (call) => {
      const events = answerEvents(call, says('Half of the answer.'));
      startEvents(call.response);
      for (const event of events.slice(0, 3)) writeEvent(call.response, event);
      await gate.promise;
      call.response.destroy();
    };
    const leader = server.post(CHAT, chat(true));
    await upstream.arrived(upstream.calls.length + 1);
    const follower = server.post(CHAT, chat(false));
    await server.telemetry.counted(1, 'reprise_flight_followers_total');
    gate.resolve();
    expect((await leader).text).toContain('model_stream_truncated');
    const reply = await follower;
    expect(reply.status).toBe(502);
    expect(errorOf(reply).code).toBe('model_stream_truncated');
  });

  it('an error event of the upstream’s own reaches the client as it is', async () => {
    upstream.answer = (call) => {
      startEvents(call.response);
      writeEvent(call.response, answerEvents(call, says('Half.'))[1]);
      writeEvent(call.response, UPSTREAM_ERROR);
      endEvents(call.response);
    };
    const reply = await server.post(CHAT, chat(true));
    expect(reply.text).toContain(JSON.stringify(UPSTREAM_ERROR));
    await expectNothingKept(true);
  });
});

describe('answers that are passed on and never stored', () => {
  const ANSWERS: readonly { readonly name: string; readonly answer: CallAnswer; readonly streams: boolean }[] = [
    {
      name: 'empty choices',
      answer: answerWith({ choices: [], promptTokens: 3, completionTokens: 0 }),
      streams: true,
    },
    {
      name: 'a content-filter stop',
      answer: answerWith({
        choices: [{ content: 'I was', finishReason: 'content_filter' }],
        promptTokens: 3,
        completionTokens: 2,
      }),
      streams: true,
    },
    {
      name: 'one filtered choice of two',
      answer: answerWith({
        choices: [{ content: 'Fine.' }, { content: 'Not', finishReason: 'content_filter' }],
        promptTokens: 3,
        completionTokens: 2,
      }),
      streams: true,
    },
    {
      name: 'an error object with status 200',
      answer: (call) => respondJson(call.response, UPSTREAM_ERROR),
      streams: false,
    },
    {
      name: 'a choice that did not end',
      answer: (call) => {
        const body = wholeAnswer(call, says('On and on')) as { choices: { finish_reason: unknown }[] };
        body.choices[0]!.finish_reason = null;
        respondJson(call.response, body);
      },
      streams: false,
    },
  ];

  it.each(ANSWERS)('$name, whole: passed on byte for byte, not stored, and not said to be', async ({ answer }) => {
    let sent = '';
    upstream.answer = (call) => {
      const { response } = call;
      const end = response.end.bind(response);
      response.end = ((chunk?: unknown) => {
        sent = String(chunk);
        return end(chunk as string);
      }) as typeof response.end;
      return answer(call);
    };
    const reply = await server.post(CHAT, chat(false));
    expect(reply.status).toBe(200);
    expect(reply.text).toBe(sent);
    expect(reply.cache).toBe('fwd=miss');
    await expectNothingKept(false);
  });

  it.each(ANSWERS.filter(({ streams }) => streams))('$name, streamed: passed on, not stored', async ({ answer }) => {
    upstream.answer = answer;
    const reply = await server.post(CHAT, chat(true));
    expect(reply.status).toBe(200);
    expect(reply.text.endsWith('data: [DONE]\n\n')).toBe(true);
    await expectNothingKept(true);
  });
});

describe('an answer above the size limit', () => {
  it.each([false, true])('reaches the client whole and is not stored, stream %s', async (stream) => {
    const own = await startTestServer({ upstreams: { test: { url: upstream.url } }, cache: { entryBytesMax: 2_048 } });
    try {
      const long = Array.from({ length: 600 }, (_, index) => `word${index}`).join(' ');
      upstream.answer = answerWith(says(long));
      const reply = await own.post(CHAT, chat(stream));
      expect(reply.text).toContain('word599');
      if (stream) expect(reply.text.endsWith('data: [DONE]\n\n')).toBe(true);
      await own.settled();
      expect((await own.get('/admin/stats')).json<{ entries: number }>().entries).toBe(0);
      const calls = upstream.calls.length;
      await own.post(CHAT, chat(stream));
      expect(upstream.calls.length).toBe(calls + 1);
    } finally {
      await own.close();
    }
  });
});
