import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerWith, says, startScriptedUpstream, type ScriptedUpstream } from './testing/scripted-upstream.ts';
import { TestEmbedder } from './testing/test-embedder.ts';
import { startTestServer, type TestReply, type TestServer } from './testing/test-server.ts';

const CHAT = '/v1/chat/completions';

let upstream: ScriptedUpstream;
let server: TestServer;

beforeEach(async () => {
  upstream = await startScriptedUpstream(answerWith((call) => says(`Answer ${call.number}.`)));
  server = await startTestServer(
    {
      upstreams: { test: { url: upstream.url } },
      models: [{ match: 'alias-*', as: 'gpt-real' }],
      semantic: { mode: 'serve' },
      namespaces: { graceful: { graceMs: 600_000 } },
      cache: { lookupBudgetMs: 10_000 },
    },
    { embedder: new TestEmbedder() },
  );
});
afterEach(async () => {
  await server.close();
  await upstream.close();
});

interface Asked {
  readonly text: string;
  readonly model?: string;
  readonly headers?: Record<string, string>;
}

async function ask({ text, model = 'gpt-test', headers = {} }: Asked): Promise<TestReply> {
  const body = { model, temperature: 0, messages: [{ role: 'user', content: text }] };
  const reply = await server.post(CHAT, body, { headers });
  await server.settled();
  return reply;
}

async function held(): Promise<{ entries: number; vectors: number; ledgerSequence: number }> {
  return (await server.get('/admin/stats')).json();
}

async function invalidate(target: object): Promise<TestReply> {
  return server.post('/admin/invalidate', target);
}

interface Kind {
  readonly name: string;
  readonly within: Asked;
  readonly outside: Asked;
  readonly target: (entry: string) => object;
}

const TAGGED = { 'x-reprise-tags': 'news,sport' };
const KINDS: readonly Kind[] = [
  {
    name: 'entry',
    within: { text: 'weather today | please' },
    outside: { text: 'opening hours | please' },
    target: (entry) => ({ entry }),
  },
  {
    name: 'tag',
    within: { text: 'weather today | please', headers: TAGGED },
    outside: { text: 'weather today | please', headers: { 'x-reprise-tags': 'news' } },
    target: () => ({ tag: 'sport' }),
  },
  {
    name: 'namespace',
    within: { text: 'weather today | please', headers: { 'x-reprise-namespace': 'own' } },
    outside: { text: 'weather today | please' },
    target: () => ({ namespace: 'own' }),
  },
  {
    name: 'model, by its effective name',
    within: { text: 'weather today | please', model: 'alias-7' },
    outside: { text: 'weather today | please' },
    target: () => ({ model: 'gpt-real' }),
  },
];

describe.each(KINDS)('invalidation by $name', ({ within, outside, target }) => {
  it.each([{}, { purge: true }, { soft: true }, { soft: true, purge: true }])(
    'reaches exactly its entries, exact and semantic (%o)',
    async (how: { soft?: boolean; purge?: boolean }) => {
      const stored = await ask(within);
      await ask(outside);
      const before = await held();
      const reply = await invalidate({ ...target(stored.headers.get('x-reprise-entry') ?? ''), ...how });
      expect(reply.json()).toEqual({
        sequence: before.ledgerSequence + 1,
        stalenessBoundMs: 2_000,
        reach: 'node',
        removedEntries: how.purge === true ? 1 : 0,
      });
      if (how.purge === true) expect(await held()).toMatchObject({ entries: 1, vectors: 1 });
      expect((await ask(outside)).cache).toContain('detail=exact-l1');
      expect((await ask({ ...within, text: 'weather today | tell me' })).cache).toBe('fwd=miss; stored');
      expect(
        (await ask({ ...within, headers: { ...within.headers, 'cache-control': 'only-if-cached' } })).text,
      ).not.toContain('Answer 1.');
      const anew = await ask({ ...outside, text: `${outside.text.split('|')[0]}| tell me` });
      expect(anew.cache).toContain('detail=semantic');
    },
  );

  it('lets a new answer in', async () => {
    const stored = await ask(within);
    await invalidate(target(stored.headers.get('x-reprise-entry') ?? ''));
    expect((await ask(within)).cache).toBe('fwd=miss; stored');
    expect((await ask(within)).cache).toContain('detail=exact-l1');
  });
});

describe('invalidation by tenant', () => {
  it('reaches everything of the tenant', async () => {
    for (const { within } of KINDS) await ask(within);
    const reply = await invalidate({ tenant: 'local', purge: true });
    expect(reply.json()).toMatchObject({ removedEntries: 4 });
    expect(await held()).toMatchObject({ entries: 0, vectors: 0 });
    for (const { within } of KINDS) expect((await ask(within)).cache).toBe('fwd=miss; stored');
  });
});

describe('soft invalidation in a namespace with grace', () => {
  it('serves the old answer once more, marked stale, and then the fresh one', async () => {
    const headers = { 'x-reprise-namespace': 'graceful' };
    await ask({ text: 'weather today | please', headers });
    await invalidate({ namespace: 'graceful', soft: true });
    const stale = await ask({ text: 'weather today | please', headers });
    expect(stale.cache).toContain('detail=stale');
    expect(stale.text).toContain('Answer 1.');
    await server.telemetry.counted(2, 'reprise_stores_total', 'stored');
    expect((await ask({ text: 'weather today | please', headers })).text).toContain('Answer 2.');
  });

  it('a hard one after it ends the grace', async () => {
    const headers = { 'x-reprise-namespace': 'graceful' };
    await ask({ text: 'weather today | please', headers });
    await invalidate({ namespace: 'graceful', soft: true });
    await invalidate({ namespace: 'graceful' });
    expect((await ask({ text: 'weather today | please', headers })).cache).toBe('fwd=miss; stored');
  });
});

describe('what is refused', () => {
  it.each([
    [{}, 400],
    [{ tag: 'a', namespace: 'b' }, 400],
    [{ entry: 'not an id' }, 400],
    [{ tag: '' }, 400],
    [{ tag: 'a', purge: 'yes' }, 400],
    [{ tag: 'x'.repeat(129) }, 400],
    [{ tag: 'a b' }, 400],
    [{ namespace: 'a b' }, 400],
    [{ namespace: 'häuser', purge: true }, 400],
    [{ tenant: 'x'.repeat(257) }, 400],
    [{ what: 'a' }, 400],
  ])('%o', async (target, status) => {
    expect((await invalidate(target)).status).toBe(status);
    expect((await held()).ledgerSequence).toBe(0);
  });
});

describe('feedback', () => {
  it('refuses a pair for good, and leaves the entry to others', async () => {
    await ask({ text: 'weather today | please' });
    const wrong = await ask({ text: 'weather today | tell me' });
    expect(wrong.cache).toContain('detail=semantic');
    const entry = wrong.headers.get('x-reprise-entry');
    const accepted = await server.post('/admin/feedback', {
      entry,
      verdict: 'wrong',
      askedText: 'weather today | tell me',
    });
    expect(accepted.status).toBe(200);
    expect((await ask({ text: 'weather today | could you' })).cache).toContain('detail=semantic');
    expect((await ask({ text: 'weather today | tell me' })).cache).toBe('fwd=miss; stored');
    expect((await ask({ text: 'weather today | please' })).cache).toContain('detail=exact-l1');
  });

  it('is remembered on disk: a refused pair stays refused after a restart', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'reprise-feedback-'));
    const restart = (): Promise<TestServer> =>
      startTestServer(
        {
          dataDir,
          upstreams: { test: { url: upstream.url } },
          semantic: { mode: 'serve' },
          cache: { lookupBudgetMs: 10_000 },
        },
        { embedder: new TestEmbedder() },
      );
    const asks = async (on: TestServer, text: string): Promise<TestReply> => {
      const messages = [{ role: 'user', content: text }];
      const reply = await on.post(CHAT, { model: 'm', temperature: 0, messages });
      await on.settled();
      return reply;
    };
    const first = await restart();
    const stored = await asks(first, 'weather today | please');
    const entry = stored.headers.get('x-reprise-entry');
    await first.post('/admin/feedback', { entry, verdict: 'wrong', askedText: 'weather today | tell me' });
    await first.close();
    const second = await restart();
    try {
      await asks(second, 'weather today | please');
      expect((await asks(second, 'weather today | could you')).cache).toContain('detail=semantic');
      expect((await asks(second, 'weather today | tell me')).cache).toBe('fwd=miss; stored');
    } finally {
      await second.close();
      await rm(dataDir, { recursive: true });
    }
  });

  it('without an asked text invalidates the entry', async () => {
    const stored = await ask({ text: 'weather today | please' });
    const entry = stored.headers.get('x-reprise-entry');
    await server.post('/admin/feedback', { entry, verdict: 'right' });
    expect((await ask({ text: 'weather today | please' })).cache).toContain('hit');
    await server.post('/admin/feedback', { entry, verdict: 'wrong' });
    expect((await ask({ text: 'weather today | please' })).cache).toBe('fwd=miss; stored');
  });

  it('about an entry that is not there is refused', async () => {
    const reply = await server.post('/admin/feedback', { entry: '0'.repeat(64), verdict: 'wrong' });
    expect(reply.status).toBe(404);
  });
});
