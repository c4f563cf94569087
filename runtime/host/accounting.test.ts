import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { respondJson, signalled } from '../models/testing/test-upstream.ts';
import {
  answerWith,
  says,
  startScriptedUpstream,
  type CallAnswer,
  type ScriptedUpstream,
} from './testing/scripted-upstream.ts';
import { startTestServer, type TestServer } from './testing/test-server.ts';

const CHAT = '/v1/chat/completions';
const PRICE = { promptPerMillion: 2_000_000, completionPerMillion: 3_000_000 };
const PROMPT = 7;
const COMPLETION = 11;
const COST = PROMPT * 2 + COMPLETION * 3;

interface Stats {
  readonly requests: number;
  readonly byOutcome: Record<string, number>;
  readonly modelCalls: number;
  readonly modelCallsSaved: number;
  readonly tokensBilled: { promptTokens: number; completionTokens: number };
  readonly tokensSaved: { promptTokens: number; completionTokens: number };
  readonly costBilled: number;
  readonly costSaved: number;
}

let upstream: ScriptedUpstream;
let server: TestServer;

const whole: CallAnswer = answerWith(says('Yes, of course.', PROMPT, COMPLETION));

/** Answers embeddings with one token an item, all else with `whole`. */
const everything: CallAnswer = (call) => {
  if (!call.path.endsWith('/embeddings')) return whole(call);
  const input = [call.body['input']].flat();
  const data = input.map((_, index) => ({ object: 'embedding', index, embedding: [index, 1] }));
  const usage = { prompt_tokens: input.length, total_tokens: input.length };
  respondJson(call.response, { object: 'list', data, model: 'e', usage });
};

beforeEach(async () => {
  upstream = await startScriptedUpstream(everything);
  server = await startTestServer({
    upstreams: { test: { url: upstream.url } },
    models: [{ match: '*', price: PRICE }],
    namespaces: { graceful: { graceMs: 600_000 } },
    cache: { joinDeadlineMs: 10_000 },
  });
});
afterEach(async () => {
  await server.close();
  await upstream.close();
});

function chat(text: string, stream = false): object {
  return { model: 'gpt-test', messages: [{ role: 'user', content: text }], ...(stream ? { stream: true } : {}) };
}

async function stats(): Promise<Stats> {
  await server.settled();
  return (await server.get('/admin/stats')).json<Stats>();
}

/** The same totals as `/metrics` has them. */
async function requestsInMetrics(): Promise<number> {
  const { text } = await server.get('/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith('reprise_requests_total{'));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

describe('the outcomes', () => {
  it('sum to the requests, whatever became of them', async () => {
    await server.post(CHAT, chat('One'));
    await server.post(CHAT, chat('Two', true));
    await server.settled();
    await server.post(CHAT, chat('One'));
    await server.post(CHAT, chat('One', true));
    await server.post(CHAT, chat('Two', true));
    await server.post(CHAT, chat('Three'), { headers: { 'cache-control': 'only-if-cached' } });
    await server.post(CHAT, chat('One'), { headers: { 'cache-control': 'no-cache' } });
    await server.post(CHAT, chat('One'), { headers: { 'cache-control': 'no-store' } });
    await server.post(CHAT, { ...chat('Live'), background: true });
    await server.post(CHAT, '{"model":');
    await server.post(CHAT, { model: 'gpt-test', messages: 5 });
    upstream.answer = (call) => respondJson(call.response, { error: { message: 'No.' } }, 500);
    await server.post(CHAT, chat('Broken'));
    await server.post(CHAT, chat('Broken', true));
    upstream.answer = everything;
    await server.post('/v1/embeddings', { model: 'e', input: ['a', 'b', 'c'] });
    await server.settled();
    await server.post('/v1/embeddings', { model: 'e', input: ['b', 'x', 'a'] });
    const { requests, byOutcome } = await stats();
    expect(byOutcome).toEqual({
      miss: 6,
      'hit-exact-l1': 6,
      bypass: 2,
      refused: 3,
      error: 2,
    });
    expect(requests).toBe(sum(byOutcome));
    expect(requests).toBe(13 + 6);
    expect(await requestsInMetrics()).toBe(requests);
  });
});

describe('tokens and cost', () => {
  it('are billed for model calls and saved by hits', async () => {
    await server.post(CHAT, chat('One'));
    await server.post(CHAT, chat('Two', true));
    await server.settled();
    for (const stream of [false, true]) {
      await server.post(CHAT, chat('One', stream));
      await server.post(CHAT, chat('Two', stream));
    }
    const seen = await stats();
    expect(seen).toMatchObject({
      modelCalls: 2,
      modelCallsSaved: 4,
      tokensBilled: { promptTokens: 2 * PROMPT, completionTokens: 2 * COMPLETION },
      tokensSaved: { promptTokens: 4 * PROMPT, completionTokens: 4 * COMPLETION },
      costBilled: 2 * COST,
      costSaved: 4 * COST,
    });
  });

  it('of one call are billed once, however many share it', async () => {
    const gate = signalled();
    upstream.answer = async (call) => {
      await gate.promise;
      await whole(call);
    };
    const replies = [server.post(CHAT, chat('Shared'))];
    await upstream.arrived(1);
    replies.push(server.post(CHAT, chat('Shared', true)), server.post(CHAT, chat('Shared')));
    await server.telemetry.counted(2, 'reprise_flight_followers_total');
    gate.resolve();
    await Promise.all(replies);
    const { text } = await server.get('/metrics');
    expect(text).toMatch(/^reprise_lookup_seconds_count\{operation="chat.completions"\} 3$/m);
    expect(text).toMatch(/^reprise_join_seconds_count\{operation="chat.completions"\} 2$/m);
    expect(text).toMatch(/^reprise_model_seconds_count\{operation="chat.completions",result="ok"\} 1$/m);
    expect(await stats()).toMatchObject({
      byOutcome: { miss: 1, 'hit-coalesced': 2 },
      tokensBilled: { promptTokens: PROMPT, completionTokens: COMPLETION },
      tokensSaved: { promptTokens: 2 * PROMPT, completionTokens: 2 * COMPLETION },
    });
  });

  it.each([false, true])('of a call whose leader left are billed all the same, stream %s', async (stream) => {
    const gate = signalled();
    upstream.answer = async (call) => {
      await gate.promise;
      await whole(call);
    };
    const leaving = new AbortController();
    const leader = server.post(CHAT, chat('Left', stream), { signal: leaving.signal });
    await upstream.arrived(1);
    const follower = server.post(CHAT, chat('Left', stream));
    await server.telemetry.counted(1, 'reprise_flight_followers_total');
    leaving.abort();
    await expect(leader).rejects.toThrow();
    await server.telemetry.counted(1, 'reprise_requests_total', 'chat.completions', 'cancelled', '');
    gate.resolve();
    await follower;
    expect(await stats()).toMatchObject({
      requests: 2,
      byOutcome: { cancelled: 1, 'hit-coalesced': 1 },
      modelCalls: 1,
      tokensBilled: { promptTokens: PROMPT, completionTokens: COMPLETION },
      costBilled: COST,
    });
  });

  it('of a refresh behind a stale answer are billed', async () => {
    const headers = { 'x-reprise-namespace': 'graceful' };
    await server.post(CHAT, chat('Soft'), { headers });
    await server.settled();
    await server.post('/admin/invalidate', { namespace: 'graceful', soft: true });
    const stale = await server.post(CHAT, chat('Soft'), { headers });
    expect(stale.cache).toContain('detail=stale');
    await server.telemetry.counted(2, 'reprise_stores_total', 'stored');
    expect(await stats()).toMatchObject({
      requests: 2,
      byOutcome: { miss: 1, 'hit-stale': 1 },
      modelCalls: 2,
      tokensBilled: { promptTokens: 2 * PROMPT, completionTokens: 2 * COMPLETION },
      costBilled: 2 * COST,
      tokensSaved: { promptTokens: PROMPT, completionTokens: COMPLETION },
    });
    expect((await server.post(CHAT, chat('Soft'), { headers })).cache).toContain('detail=exact-l1');
  });

  it('of an embeddings batch are billed for its misses only', async () => {
    await server.post('/v1/embeddings', { model: 'e', input: ['a', 'b'] });
    await server.settled();
    const reply = await server.post('/v1/embeddings', { model: 'e', input: ['a', 'c', 'b', 'd'] });
    expect(reply.cache).toBe('fwd=miss; stored; detail=partial-2/4');
    expect(reply.json<{ usage: object }>().usage).toEqual({ prompt_tokens: 4, total_tokens: 4 });
    expect(await stats()).toMatchObject({
      requests: 6,
      byOutcome: { miss: 4, 'hit-exact-l1': 2 },
      modelCalls: 2,
      tokensBilled: { promptTokens: 4, completionTokens: 0 },
      tokensSaved: { promptTokens: 2, completionTokens: 0 },
    });
  });
});
