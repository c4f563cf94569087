import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerWith, says, startScriptedUpstream, type ScriptedUpstream } from './testing/scripted-upstream.ts';
import { startTestServer, type TestReply, type TestServer } from './testing/test-server.ts';

const PATHS = ['/v1/chat/completions', '/v1/completions', '/v1/embeddings'];
const CHAT = '/v1/chat/completions';
const BODY_BYTES_MAX = 8 * 1024 * 1024;
const MIB = 1024 * 1024;

let upstream: ScriptedUpstream;
let server: TestServer;

beforeAll(async () => {
  upstream = await startScriptedUpstream(answerWith(says('Yes.')));
  server = await startTestServer({ upstreams: { test: { url: upstream.url } } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const encoder = new TextEncoder();
const nested = (depth: number): string => `{"model":"m","messages":[],"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;

function chat(content: string): string {
  return `{"model":"m","messages":[{"role":"user","content":${content}}]}`;
}

function errorOf(reply: TestReply): { code: unknown; type: unknown; param: unknown; message: unknown } {
  return reply.json<{ error: { code: unknown; type: unknown; param: unknown; message: unknown } }>().error;
}

interface Bad {
  readonly name: string;
  readonly body: string | Uint8Array;
  readonly status: number;
  readonly code: string;
  readonly param?: string;
}

const BODIES: readonly Bad[] = [
  { name: 'empty', body: '', status: 400, code: 'empty_body' },
  { name: 'white space', body: ' \n ', status: 400, code: 'invalid_json' },
  { name: 'not JSON', body: 'model=m', status: 400, code: 'invalid_json' },
  { name: 'cut off', body: '{"model":"m","messages":[', status: 400, code: 'invalid_json' },
  { name: 'followed by more', body: `${chat('"a"')}x`, status: 400, code: 'invalid_json' },
  { name: 'a list', body: '[]', status: 400, code: 'invalid_request' },
  { name: 'a number', body: '7', status: 400, code: 'invalid_request' },
  { name: 'not UTF-8', body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), status: 400, code: 'invalid_unicode' },
  { name: 'half a surrogate pair', body: chat('"\\ud800"'), status: 400, code: 'invalid_unicode' },
  { name: 'a member twice', body: '{"model":"m","model":"n","messages":[]}', status: 400, code: 'duplicate_member' },
  { name: 'a nested member twice', body: chat('"a","role":"system"'), status: 400, code: 'duplicate_member' },
  { name: 'nested 300 deep', body: nested(300), status: 400, code: 'json_too_deep' },
  { name: 'nested 10,000 deep', body: nested(10_000), status: 400, code: 'json_too_deep' },
  { name: 'nested 4,000,000 deep', body: nested(4_000_000), status: 400, code: 'json_too_deep' },
  { name: 'without a model', body: '{"messages":[]}', status: 400, code: 'invalid_request', param: 'model' },
];

describe.each(PATHS)('a body at %s', (path) => {
  it.each(BODIES)('$name is refused with a code', async ({ body, status, code, param }) => {
    const reply = await server.post(path, body);
    expect({ status: reply.status, code: errorOf(reply).code }).toEqual({ status, code });
    expect(errorOf(reply).type).toBe('invalid_request_error');
    if (param !== undefined) expect(errorOf(reply).param).toBe(param);
    expect(errorOf(reply).message).not.toBe('');
    expect(upstream.calls).toHaveLength(0);
  });
});

describe('wrong types', () => {
  it.each([
    [{ messages: 'hello' }, 'messages'],
    [{ messages: [5] }, 'messages[0]'],
    [{ messages: [{ content: 'a' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [{ type: 'text', text: 1 }] }] }, 'messages[0].content[0].text'],
    [{ messages: [], stream: 'yes' }, 'stream'],
    [{ messages: [], n: 0 }, 'n'],
    [{ messages: [], n: 1.5 }, 'n'],
    [{ messages: [], temperature: 'hot' }, 'temperature'],
    [{ messages: [], tools: {} }, 'tools'],
    [{ messages: [], stream_options: true }, 'stream_options'],
    [{ messages: [], model: 7 }, 'model'],
    [{}, 'messages'],
  ])('%j names the field', async (fields, param) => {
    const reply = await server.post(CHAT, { model: 'm', ...fields });
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code: 'invalid_request', param });
  });
});

describe('size', () => {
  it('a body above the limit is refused, one at it is not', async () => {
    const filled = (bytes: number): string => {
      const empty = chat('""');
      return chat(`"${'x'.repeat(bytes - empty.length)}"`);
    };
    const over = await server.post(CHAT, filled(BODY_BYTES_MAX + 1));
    expect(over.status).toBe(413);
    expect(errorOf(over).code).toBe('body_too_large');
    const calls = upstream.calls.length;
    expect((await server.post(CHAT, filled(BODY_BYTES_MAX))).status).toBe(200);
    expect(upstream.calls.length).toBe(calls + 1);
  });

  it('a large body is looked up however long it takes to understand it', async () => {
    const own = await startTestServer({
      upstreams: { test: { url: upstream.url } },
      cache: { lookupBudgetMs: 20, bodyMemoBytesMax: 0 },
    });
    try {
      const items = Array.from({ length: 40_000 }, (_, at) => ({ role: 'user', content: `line ${at} é` }));
      const body = { model: 'm', temperature: 0, messages: items };
      expect((await own.post(CHAT, body)).cache).toBe('fwd=miss; stored');
      await own.settled();
      expect((await own.post(CHAT, body)).cache).toContain('detail=exact-l1');
    } finally {
      await own.close();
    }
  });

  it('memory stays steady under thousands of bad bodies', async () => {
    const bodies: (string | Uint8Array)[] = [nested(50_000), chat('"\\ud800"'), `{"model":"m","x":"${'y'.repeat(MIB)}`];
    const round = async (times: number): Promise<void> => {
      for (let turn = 0; turn < times; turn += 1) {
        await Promise.all(bodies.map((body) => server.post(CHAT, body)));
      }
    };
    await round(40);
    collectGarbage();
    const before = process.memoryUsage();
    await round(160);
    collectGarbage();
    const after = process.memoryUsage();
    expect(after.heapUsed - before.heapUsed).toBeLessThan(64 * MIB);
    expect(after.rss - before.rss).toBeLessThan(192 * MIB);
  });
});

describe('paths and methods', () => {
  it.each([
    ['GET', '/', 404, 'unknown_path'],
    ['POST', '/v1/nothing', 404, 'unknown_path'],
    ['POST', '/v1/chat/completions/x', 404, 'unknown_path'],
    ['GET', '/v1/chat/completions', 405, 'method_not_allowed'],
    ['PUT', '/v1/embeddings', 405, 'method_not_allowed'],
    ['DELETE', '/v1/models', 405, 'method_not_allowed'],
    ['POST', '/metrics', 405, 'method_not_allowed'],
    ['GET', '/v1/%zz', 400, 'invalid_request'],
  ])('%s %s is %i %s', async (method, path, status, code) => {
    const response = await fetch(`${server.url}${path}`, { method });
    const body = (await response.json()) as { error: { code: string } };
    expect({ status: response.status, code: body.error.code }).toEqual({ status, code });
    if (status === 405) expect(response.headers.get('allow')).toMatch(/GET|POST/);
  });

  it('a method that HTTP does not know closes the connection with 400', async () => {
    const { hostname, port } = new URL(server.url);
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(Number(port), hostname, () => socket.write('HELLO\r\n\r\n'));
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"invalid_request"');
  });

  it('a model that nobody serves is model_not_found', async () => {
    const own = await startTestServer({
      upstreams: { test: { url: upstream.url }, other: { url: upstream.url } },
      models: [{ match: 'known', upstream: 'test' }],
    });
    try {
      const reply = await own.post(CHAT, { model: 'unknown', messages: [] });
      expect(reply.status).toBe(404);
      expect(errorOf(reply).code).toBe('model_not_found');
    } finally {
      await own.close();
    }
  });
});

it('the server still serves', async () => {
  const reply = await server.post(CHAT, encoder.encode(chat('"Still there?"')));
  expect(reply.status).toBe(200);
});
