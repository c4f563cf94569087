import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { RepriseError } from '../errors.ts';
import { signalled } from '../models/testing/test-upstream.ts';
import { answerWith, says, startScriptedUpstream, type ScriptedUpstream } from './testing/scripted-upstream.ts';
import { TestEmbedder } from './testing/test-embedder.ts';
import { startTestServer, type TestReply, type TestServer } from './testing/test-server.ts';

const CHAT = '/v1/chat/completions';
/** Far more than a look-up takes on a busy machine. */
const LOOKUP_BUDGET_MS = 1_000;

let upstream: ScriptedUpstream;
let server: TestServer;
let embedder: TestEmbedder;

beforeEach(async () => {
  upstream = await startScriptedUpstream(answerWith((call) => says(`Answer ${call.number}.`)));
  embedder = new TestEmbedder();
  server = await startTestServer(
    {
      upstreams: { test: { url: upstream.url } },
      semantic: { mode: 'serve' },
      cache: { lookupBudgetMs: LOOKUP_BUDGET_MS, joinDeadlineMs: 10_000, storeDeadlineMs: 1_000 },
    },
    { embedder },
  );
});
afterEach(async () => {
  await server.close();
  await upstream.close();
});

function ask(text: string): Promise<TestReply> {
  return server.post(CHAT, { model: 'gpt-test', temperature: 0, messages: [{ role: 'user', content: text }] });
}

/** The scope becomes known, so that the next request of it is looked up semantically. */
async function openScope(): Promise<void> {
  expect((await ask('weather today | could you say')).status).toBe(200);
  await server.settled();
}

function bypasses(cause: string): number {
  return server.telemetry.count('reprise_bypasses_total', cause);
}

async function gauge(name: string): Promise<number> {
  const { text } = await server.get('/metrics');
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}

async function semanticPart(): Promise<{ state: string; detail: string } | undefined> {
  const { parts } = (await server.get('/readyz')).json<{ parts: { name: string; state: string; detail: string }[] }>();
  return parts.find((part) => part.name === 'semantic');
}

it('a well embedder serves the same meaning in other words', async () => {
  await openScope();
  const hit = await ask('weather today | please');
  expect(hit.cache).toContain('detail=semantic');
  expect(hit.text).toContain('Answer 1.');
  expect(await gauge('reprise_embedder_up')).toBe(1);
});

it('an embedder that is slower than the questions come loses no answer', async () => {
  await openScope();
  const held = signalled();
  embedder.next = async (texts) => {
    await held.promise;
    return embedder.vectors(texts);
  };
  const texts = Array.from({ length: 40 }, (_, at) => `question ${at} | please`);
  for (const text of texts) {
    const messages = [{ role: 'user', content: text }];
    const asked = { model: 'gpt-test', temperature: 0, messages };
    expect((await server.post(CHAT, asked, { headers: { 'cache-control': 'no-cache' } })).cache).toContain('stored');
  }
  await server.telemetry.counted(texts.length + 1, 'reprise_stores_total', 'stored');
  held.resolve();
  for (const text of texts) expect((await ask(text)).cache).toContain('detail=exact-l1');
  expect(server.telemetry.count('reprise_stores_total', 'failed')).toBe(0);
});

describe('an embedder that was killed', () => {
  beforeEach(async () => {
    await openScope();
    embedder.next = () => Promise.reject(new RepriseError('embedder_unavailable', 'The embedder died.'));
  });

  it('costs semantic hits, nothing else; metrics and readiness tell', async () => {
    const first = await ask('weather today | please');
    expect(first.status).toBe(200);
    expect(first.cache).toBe('fwd=bypass; stored; detail=embedder');
    await server.settled();
    expect((await ask('weather today | please')).cache).toContain('detail=exact-l1');
    expect((await ask('weather today | tell me')).cache).toContain('detail=embedder');
    expect(bypasses('embedder')).toBe(2);
    expect(await gauge('reprise_embedder_up')).toBe(0);
    expect(await semanticPart()).toMatchObject({
      state: 'degraded',
      detail: expect.stringContaining('embedder') as string,
    });
    expect((await server.get('/readyz')).status).toBe(200);
  });

  it('is used again once it works again', async () => {
    await ask('weather today | please');
    await server.settled();
    embedder.next = undefined;
    await ask('something else | please');
    await server.settled();
    expect((await ask('weather today | please do')).cache).toContain('detail=semantic');
    expect(await semanticPart()).toMatchObject({ state: 'ready' });
    expect(await gauge('reprise_embedder_up')).toBe(1);
  });

  it('streams too', async () => {
    const reply = await server.post(CHAT, {
      model: 'gpt-test',
      temperature: 0,
      stream: true,
      messages: [{ role: 'user', content: 'weather today | streamed' }],
    });
    expect(reply.text.endsWith('data: [DONE]\n\n')).toBe(true);
  });
});

describe('an embedder that is slow', () => {
  it('never holds a request: it is answered while the embedder still works', async () => {
    await openScope();
    const gate = signalled();
    embedder.next = async (texts) => {
      await gate.promise;
      return embedder.vectors(texts);
    };
    const replies = await Promise.all(
      ['please', 'tell me', 'could you', 'please do'].map((words) => ask(`weather today | ${words}`)),
    );
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200, 200]);
    expect(replies.every((reply) => reply.cache.startsWith('fwd=bypass; stored'))).toBe(true);
    expect(bypasses('lookup-budget') + bypasses('embed-queue')).toBe(4);
    gate.resolve();
    embedder.next = undefined;
    await server.settled();
    expect((await ask('weather today | please')).cache).toContain('detail=exact-l1');
  });

  it('skips the look-up at once when the expected wait is longer than the budget', async () => {
    await openScope();
    const gate = signalled();
    embedder.next = async (texts) => {
      await gate.promise;
      return embedder.vectors(texts);
    };
    await ask('weather today | please');
    const next = await ask('weather today | tell me');
    expect(next.cache).toContain('detail=embed-queue');
    gate.resolve();
  });
});

describe('an embedder whose vectors are not numbers', () => {
  it.each([
    ['NaN', NaN],
    ['infinite', Infinity],
    ['all zero', 0],
  ])('%s: requests are answered, nothing is matched or indexed; metrics tell', async (_name, value) => {
    await openScope();
    embedder.next = (texts) =>
      Promise.resolve(texts.map(() => ({ vector: new Float32Array(16).fill(value), tokenCount: 3, truncated: false })));
    const first = await ask('weather today | please');
    expect(first.status).toBe(200);
    expect(first.cache).toContain('fwd=bypass; stored');
    await server.settled();
    expect((await ask('weather today | please')).cache).toContain('detail=exact-l1');
    expect(server.telemetry.count('reprise_embeddings_total', 'invalid')).toBeGreaterThan(0);
    expect(bypasses('degenerate-vector') + bypasses('embedder')).toBeGreaterThan(0);
    expect((await server.get('/admin/stats')).json<{ vectors: number }>().vectors).toBe(1);
  });

  it('fewer vectors than texts: requests are answered', async () => {
    await openScope();
    embedder.next = () => Promise.resolve([]);
    expect((await ask('weather today | please')).status).toBe(200);
  });
});

describe('the lookup budget on a clock of the test', () => {
  it('is all that a hung embedder adds', async () => {
    const clock = new ManualClock();
    const hung = new TestEmbedder();
    const own = await startTestServer(
      { demo: { firstTokenMs: 0, perTokenMs: 0 }, semantic: { mode: 'serve' }, cache: { lookupBudgetMs: 50 } },
      { embedder: hung, clock },
    );
    try {
      const post = (text: string): Promise<TestReply> =>
        own.post(CHAT, { model: 'demo', temperature: 0, messages: [{ role: 'user', content: text }] });
      await post('weather today | first');
      await own.settled();
      const called = signalled();
      hung.next = () => {
        called.resolve();
        return new Promise(() => undefined);
      };
      let isAnswered = false;
      const reply = post('weather today | second').then((answer) => {
        isAnswered = true;
        return answer;
      });
      await called.promise;
      clock.advance(49);
      await new Promise(setImmediate);
      expect(isAnswered).toBe(false);
      clock.advance(1);
      expect((await reply).cache).toBe('fwd=bypass; stored; detail=lookup-budget');
      clock.advance(10_000);
    } finally {
      await own.close();
    }
  });
});

describe('a node without an embedder', () => {
  it('serves, and says so', async () => {
    const own = await startTestServer(
      { upstreams: { test: { url: upstream.url } }, semantic: { mode: 'serve' } },
      { embedder: { missing: 'its files are not there' } },
    );
    try {
      expect((await own.post(CHAT, { model: 'm', messages: [{ role: 'user', content: 'Hi' }] })).status).toBe(200);
      const ready = await own.get('/readyz');
      expect(ready.status).toBe(200);
      expect(ready.text).toContain('off: its files are not there');
      expect((await own.get('/metrics')).text).toMatch(/^reprise_embedder_up 0$/m);
    } finally {
      await own.close();
    }
  });
});
