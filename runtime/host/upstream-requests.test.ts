import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { signalled } from '../models/testing/test-upstream.ts';
import { answerWith, says, startScriptedUpstream } from './testing/scripted-upstream.ts';
import type { ScriptedUpstream, UpstreamCallSeen } from './testing/scripted-upstream.ts';
import { passTime } from './testing/pass-time.ts';
import { startTestServer, type TestReply, type TestServer } from './testing/test-server.ts';

const CHAT = '/v1/chat/completions';
const MESSAGES = [{ role: 'user', content: 'Hi' }];
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

let upstream: ScriptedUpstream;
let server: TestServer;

beforeEach(async () => {
  upstream = await startScriptedUpstream(answerWith((call) => says(`Answer ${call.number}.`)));
  server = await startTestServer({
    upstreams: { test: { url: upstream.url } },
    models: [{ match: 'fast', as: 'gpt-real', defaults: { top_p: 0.5 }, overrides: { max_tokens: 9 } }],
  });
});
afterEach(async () => {
  await server.close();
  await upstream.close();
});

function lastCall(): UpstreamCallSeen {
  return upstream.calls.at(-1)!;
}

describe('what the upstream is asked', () => {
  it('is the body as it came, unknown fields and large numbers included', async () => {
    const body = `{"seed":9007199254740993,"model":"m","zz":{"b":1e400,"a":[]},"messages":[{"role":"user","content":"é\\u0000"}]}`;
    await server.post(CHAT, body);
    expect(lastCall().raw).toContain('9007199254740993');
    expect(lastCall().raw).toContain('"b":1e400');
    expect(lastCall().body).toEqual(JSON.parse(body));
  });

  it('has the rule’s alias, defaults and overrides; the key has the effective request', async () => {
    await server.post(CHAT, { model: 'fast', max_tokens: 100, messages: MESSAGES });
    expect(lastCall().body).toEqual({ model: 'gpt-real', top_p: 0.5, max_tokens: 9, messages: MESSAGES });
    await server.settled();
    const same = await server.post(CHAT, { model: 'fast', top_p: 0.5, messages: MESSAGES });
    expect(same.cache).toContain('hit');
    const other = await server.post(CHAT, { model: 'fast', top_p: 0.6, messages: MESSAGES });
    expect(other.cache).toContain('fwd=miss');
  });

  it('is the same whatever the query string says', async () => {
    await server.post(CHAT, { model: 'a', messages: MESSAGES });
    await server.settled();
    const same = await server.post(`${CHAT}?api-version=2&x`, { model: 'a', messages: MESSAGES });
    expect(same.cache).toContain('hit');
    await server.post(`${CHAT}?api-version=2`, { model: 'b', messages: MESSAGES });
    expect(lastCall().path).toBe(CHAT);
  });

  it('carries the trace context when it is one', async () => {
    await server.post(CHAT, { model: 'a', messages: MESSAGES }, { headers: { traceparent: TRACEPARENT } });
    expect(lastCall().headers['traceparent']).toBe(TRACEPARENT);
    await server.post(CHAT, { model: 'b', messages: MESSAGES }, { headers: { traceparent: 'nonsense' } });
    expect(lastCall().headers['traceparent']).toBeUndefined();
  });

  it('carries no credential of the caller’s where the mode is local', async () => {
    await server.post(CHAT, { model: 'a', messages: MESSAGES }, { headers: { authorization: 'Bearer own' } });
    expect(lastCall().credential).toBe('');
    expect(lastCall().headers['x-api-key']).toBeUndefined();
  });
});

describe('a refresh behind stale answers', () => {
  let clock: ManualClock;
  let own: TestServer;

  beforeEach(async () => {
    clock = new ManualClock();
    own = await startTestServer(
      { upstreams: { test: { url: upstream.url } }, namespaces: { default: { ttlMs: 30_000, graceMs: 600_000 } } },
      { embedder: { missing: 'not in this test' }, clock },
    );
    await ask();
    await own.settled();
    await passTime(clock, 40_000);
  });
  afterEach(() => own.close());

  function ask(headers: Record<string, string> = {}): Promise<TestReply> {
    return own.post(CHAT, { model: 'm', messages: MESSAGES }, { headers });
  }

  it('is one call for all, and for those who want nothing stale', async () => {
    const gate = signalled();
    const answer = upstream.answer;
    upstream.answer = async (call) => {
      await gate.promise;
      await answer(call);
    };
    const stale = await Promise.all([ask(), ask(), ask(), ask()]);
    expect(stale.every((reply) => reply.cache.includes('detail=stale'))).toBe(true);
    await upstream.arrived(2);
    const fresh = ask({ 'cache-control': 'max-age=10' });
    await own.telemetry.counted(4, 'reprise_flight_followers_total');
    gate.resolve();
    expect((await fresh).text).toContain('Answer 2.');
    await own.telemetry.counted(2, 'reprise_stores_total', 'stored');
    expect((await ask()).text).toContain('Answer 2.');
    expect(upstream.calls).toHaveLength(2);
  });

  it('that fails leaves the stale answer in place', async () => {
    upstream.answer = (call) => void call.response.destroy();
    expect((await ask()).cache).toContain('detail=stale');
    await own.telemetry.counted(1, 'reprise_background_failures_total', 'refresh');
    expect((await ask()).text).toContain('Answer 1.');
  });
});
