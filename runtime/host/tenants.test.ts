import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { respondJson, signalled } from '../models/testing/test-upstream.ts';
import { passTime } from './testing/pass-time.ts';
import { answerWith, says, startScriptedUpstream } from './testing/scripted-upstream.ts';
import type { CallAnswer, ScriptedUpstream } from './testing/scripted-upstream.ts';
import { TestEmbedder } from './testing/test-embedder.ts';
import { startTestServer, type TestReply, type TestServer } from './testing/test-server.ts';

const CHAT = '/v1/chat/completions';
const EMBEDDINGS = '/v1/embeddings';
const MEANINGS = ['weather today', 'opening hours', 'price list'];
const WORDS = ['please', 'tell me', 'could you say'];

let upstream: ScriptedUpstream;

afterEach(() => upstream.close());

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

function errorOf(reply: TestReply): unknown {
  return reply.json<{ error: { code: unknown } }>().error.code;
}

/** Numbers of the model calls that an answer is made of: `call-7` in a text, the second component of a vector. */
function callsOf(reply: TestReply): number[] {
  if (!reply.text.includes('"embedding"'))
    return [...reply.text.matchAll(/"call-(\d+)"/g)].map((match) => Number(match[1]));
  const { data } = reply.json<{ data: { embedding: number[] }[] }>();
  return data.map((row) => row.embedding[1] ?? -1);
}

/** One request of a fuzzed run. */
interface Asked {
  readonly key: string;
  readonly meaning: string;
  readonly words: string;
  readonly kind: 'whole' | 'stream' | 'embeddings';
  readonly namespace: string;
  readonly tags: string;
  readonly cacheControl: string;
}

function requests(keys: readonly string[]): fc.Arbitrary<readonly (readonly Asked[])[]> {
  const one = fc.record({
    key: fc.constantFrom(...keys),
    meaning: fc.constantFrom(...MEANINGS),
    words: fc.constantFrom(...WORDS),
    kind: fc.constantFrom('whole' as const, 'whole' as const, 'stream' as const, 'embeddings' as const),
    namespace: fc.constantFrom('', '', 'other'),
    tags: fc.constantFrom('', '', 'news'),
    cacheControl: fc.constantFrom('', '', '', 'no-cache', 'no-store', 'only-if-cached'),
  });
  const mixed = fc.array(one, { minLength: 1, maxLength: 6 });
  const everybody = one.map((asked) => [...keys, ...keys].map((key) => ({ ...asked, key })));
  return fc.array(fc.oneof(mixed, everybody), { minLength: 1, maxLength: 6 });
}

function send(server: TestServer, asked: Asked): Promise<TestReply> {
  const headers: Record<string, string> = { ...bearer(asked.key) };
  if (asked.namespace !== '') headers['x-reprise-namespace'] = asked.namespace;
  if (asked.tags !== '') headers['x-reprise-tags'] = asked.tags;
  if (asked.cacheControl !== '') headers['cache-control'] = asked.cacheControl;
  const text = `${asked.meaning} | ${asked.words}`;
  if (asked.kind === 'embeddings') {
    return server.post(EMBEDDINGS, { model: 'e', input: [text, asked.meaning] }, { headers });
  }
  const messages = [{ role: 'user', content: text }];
  const stream = asked.kind === 'stream' ? { stream: true } : {};
  return server.post(CHAT, { model: 'm', temperature: 0, messages, ...stream }, { headers });
}

/** Answers chat with the call's number and embeddings with vectors that carry it. */
const numbered: CallAnswer = (call) => {
  if (!call.path.endsWith('/embeddings')) return answerWith(says(`Answer ${call.number}.`))(call);
  const data = [call.body['input']]
    .flat()
    .map((_, index) => ({ object: 'embedding', index, embedding: [1, call.number] }));
  respondJson(call.response, { object: 'list', data, model: 'e', usage: { prompt_tokens: 2, total_tokens: 2 } });
};

/** Learns whose each model call is, and fails on an answer that two tenants got. */
class Owners {
  readonly #ownerByCall = new Map<number, string>();
  hits = 0;
  /** Requests, embeddings counted by item. */
  requests = 0;

  note(tenant: string, asked: Asked, reply: TestReply): void {
    this.requests += asked.kind === 'embeddings' ? 2 : 1;
    const calls = callsOf(reply);
    if (reply.status === 200) expect(calls.length).toBeGreaterThan(0);
    for (const call of calls) {
      const owner = this.#ownerByCall.get(call) ?? tenant;
      expect(owner, `call ${call} answers ${tenant}`).toBe(tenant);
      this.#ownerByCall.set(call, owner);
    }
    if (reply.cache.startsWith('hit')) this.hits += 1;
  }
}

describe('mode keys', () => {
  const KEYS = [
    { name: 'a1', key: 'key-a-1', tenant: 'a', role: 'admin' as const },
    { name: 'a2', key: 'key-a-2', tenant: 'a', role: 'write' as const },
    { name: 'b', key: 'key-b', tenant: 'b', role: 'write' as const },
    { name: 'c', key: 'key-c', tenant: 'c', role: 'read' as const },
  ];
  const tenantOf = (key: string): string => KEYS.find((known) => known.key === key)?.tenant ?? '';
  let server: TestServer;

  beforeEach(async () => {
    upstream = await startScriptedUpstream(numbered);
    server = await startTestServer(
      {
        upstreams: { test: { url: upstream.url } },
        identity: {
          keys: KEYS.map(({ name, key, tenant, role }) => ({ name, sha256: sha256(key), tenant, role })),
        },
        semantic: { mode: 'serve' },
        cache: { lookupBudgetMs: 10_000, joinDeadlineMs: 10_000 },
      },
      { embedder: new TestEmbedder() },
    );
  });
  afterEach(() => server.close());

  it('no answer of one tenant ever reaches another, exact, semantic or shared', async () => {
    const owners = new Owners();
    await fc.assert(
      fc.asyncProperty(requests(KEYS.map(({ key }) => key)), async (rounds) => {
        for (const round of rounds) {
          const replies = await Promise.all(round.map((asked) => send(server, asked)));
          replies.forEach((reply, index) => owners.note(tenantOf(round[index]!.key), round[index]!, reply));
        }
      }),
      { numRuns: 40 },
    );
    await server.settled();
    const served = (detail: string): number =>
      server.telemetry.count('reprise_requests_total', 'chat.completions', 'hit', detail);
    expect(owners.hits).toBeGreaterThan(100);
    for (const detail of ['exact-l1', 'semantic', 'coalesced']) expect(served(detail), detail).toBeGreaterThan(0);
    await expectAccountsToAddUp(owners.requests);
  });

  /** Every request is counted once, and every model call billed once, whoever shared it. */
  async function expectAccountsToAddUp(requestCount: number): Promise<void> {
    const stats = (await server.get('/admin/stats', bearer('key-a-1'))).json<{
      requests: number;
      byOutcome: Record<string, number>;
      modelCalls: number;
      tokensBilled: { promptTokens: number; completionTokens: number };
    }>();
    const embeddings = upstream.calls.filter((call) => call.path.endsWith('/embeddings')).length;
    const chats = upstream.calls.length - embeddings;
    expect(stats.requests).toBe(requestCount);
    expect(Object.values(stats.byOutcome).reduce((sum, count) => sum + count, 0)).toBe(requestCount);
    expect(stats.modelCalls).toBe(upstream.calls.length);
    expect(stats.tokensBilled).toEqual({
      promptTokens: chats * 7 + embeddings * 2,
      completionTokens: chats * 11,
    });
  }

  it('what other words would hit in one tenant misses in another', async () => {
    const ask = (key: string, words: string): Promise<TestReply> =>
      send(server, { key, meaning: 'price list', words, kind: 'whole', namespace: '', tags: '', cacheControl: '' });
    for (const key of ['key-a-1', 'key-b']) {
      expect((await ask(key, 'please')).cache).toBe('fwd=miss; stored');
      await server.settled();
    }
    expect((await ask('key-a-2', 'tell me')).text).toContain('"call-1"');
    expect((await ask('key-b', 'tell me')).text).toContain('"call-2"');
    expect((await ask('key-c', 'tell me')).cache).toBe('fwd=miss; stored');
  });

  it('Explain, lookup, feedback and invalidation show and touch nothing of another tenant', async () => {
    const body = { model: 'm', temperature: 0, messages: [{ role: 'user', content: 'price list | please' }] };
    const stored = await server.post(CHAT, body, { headers: bearer('key-a-1') });
    await server.settled();
    const entry = stored.headers.get('x-reprise-entry');
    const foreign = { headers: bearer('key-b') };
    const explained = (await server.post('/admin/explain', { body }, foreign)).json<Record<string, unknown>>();
    expect(explained).toMatchObject({ status: { outcome: 'miss' }, semantic: { candidates: [] } });
    expect(explained['nearest']).toBeUndefined();
    expect((await server.post('/admin/lookup', { body }, foreign)).status).toBe(504);
    expect((await server.post('/admin/feedback', { entry, verdict: 'wrong' }, foreign)).status).toBe(404);
    expect((await server.post('/admin/invalidate', { entry }, foreign)).status).toBe(404);
    expect((await server.post('/admin/invalidate', { tenant: 'a' }, foreign)).status).toBe(403);
    expect((await server.post('/admin/invalidate', { namespace: 'default', tenant: 'a' }, foreign)).status).toBe(403);
    expect((await server.post('/admin/invalidate', { model: 'm' }, foreign)).status).toBe(403);
    expect((await server.post('/admin/invalidate', { namespace: 'default' }, foreign)).status).toBe(200);
    expect((await server.post('/admin/invalidate', { entry }, { headers: bearer('key-c') })).status).toBe(403);
    expect((await server.post(CHAT, body, { headers: bearer('key-a-2') })).cache).toContain('detail=exact-l1');
    const byAdmin = await server.post(
      '/admin/invalidate',
      { namespace: 'default', tenant: 'b' },
      { headers: bearer('key-a-1') },
    );
    expect(byAdmin.status).toBe(200);
  });

  it('a key that is not known, or none, is refused; a revoked one at once', async () => {
    const asked: Asked = {
      key: 'key-b',
      meaning: 'price list',
      words: 'please',
      kind: 'whole',
      namespace: '',
      tags: '',
      cacheControl: '',
    };
    expect((await send(server, asked)).status).toBe(200);
    await server.settled();
    expect(errorOf(await send(server, { ...asked, key: 'guess' }))).toBe('invalid_credential');
    expect(errorOf(await server.post(CHAT, {}))).toBe('missing_credential');
    expect(server.assembly.identity.revoke('b')).toBe(true);
    const revoked = await send(server, asked);
    expect(revoked.status).toBe(401);
    expect(revoked.text).not.toContain('Answer');
  });
});

describe('mode forward', () => {
  const VERIFIED_MS = 300_000;
  const CREDENTIALS = ['sk-one', 'sk-two', 'sk-three', 'sk-bad'];
  let rejected: Set<string>;
  let clock: ManualClock;
  let server: TestServer;

  beforeEach(async () => {
    rejected = new Set(['sk-bad']);
    upstream = await startScriptedUpstream((call) => {
      if (!rejected.has(call.credential)) return numbered(call);
      const error = {
        message: 'Incorrect API key.',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_api_key',
      };
      respondJson(call.response, { error }, 401);
    });
    clock = new ManualClock();
    server = await startTestServer(
      {
        upstreams: { test: { url: upstream.url } },
        identity: { mode: 'forward', verifiedMs: VERIFIED_MS },
        semantic: { mode: 'serve' },
      },
      { embedder: new TestEmbedder(), clock },
    );
  });
  afterEach(() => server.close());

  function asks(key: string, words = 'please', more: Partial<Asked> = {}): Promise<TestReply> {
    const asked: Asked = {
      key,
      meaning: 'price list',
      words,
      kind: 'whole',
      namespace: '',
      tags: '',
      cacheControl: '',
    };
    return send(server, { ...asked, ...more });
  }

  it('no answer of one credential ever reaches another', async () => {
    const owners = new Owners();
    await fc.assert(
      fc.asyncProperty(requests(CREDENTIALS), async (rounds) => {
        for (const round of rounds) {
          const replies = await Promise.all(round.map((asked) => send(server, asked)));
          replies.forEach((reply, index) => {
            const { key } = round[index]!;
            if (key === 'sk-bad') expect(reply.status).not.toBe(200);
            owners.note(key, round[index]!, reply);
          });
        }
      }),
      { numRuns: 30 },
    );
    expect(owners.hits).toBeGreaterThan(50);
    const semantic = server.telemetry.count('reprise_requests_total', 'chat.completions', 'hit', 'semantic');
    expect(semantic).toBeGreaterThan(0);
    for (const call of upstream.calls) expect(CREDENTIALS).toContain(call.credential);
  });

  it('a credential is read for, joined and written for only after the upstream took it', async () => {
    const gate = signalled();
    const answer = upstream.answer;
    upstream.answer = async (call) => {
      await gate.promise;
      await answer(call);
    };
    const first = asks('sk-one');
    await upstream.arrived(1);
    const second = asks('sk-one');
    await upstream.arrived(2);
    gate.resolve();
    for (const reply of [await first, await second]) expect(reply.cache).toBe('fwd=bypass; stored; detail=unverified');
    upstream.answer = answer;
    await server.settled();
    expect((await asks('sk-one')).cache).toContain('detail=exact-l1');
    expect((await asks('sk-one', 'tell me')).cache).toContain('detail=semantic');
    expect((await asks('sk-two')).cache).toContain('detail=unverified');
  });

  it('a credential that the upstream refuses gets the upstream’s own 401, and stores nothing', async () => {
    const reply = await asks('sk-bad');
    expect(reply.status).toBe(401);
    expect(errorOf(reply)).toBe('invalid_api_key');
    await server.settled();
    expect((await server.get('/metrics')).text).toMatch(/^reprise_grid_entries\{role="entries"\} 0$/m);
  });

  it('a credential that was revoked upstream stops reading within verifiedMs', async () => {
    await asks('sk-one');
    await server.settled();
    rejected.add('sk-one');
    await passTime(clock, VERIFIED_MS - 10_000);
    expect((await asks('sk-one')).cache).toContain('detail=exact-l1');
    await passTime(clock, 10_000);
    for (const kind of ['whole', 'stream'] as const) {
      const reply = await asks('sk-one', 'please', { kind });
      expect(reply.status).toBe(401);
      expect(reply.text).not.toContain('Answer');
    }
    const headers = bearer('sk-one');
    const body = { model: 'm', temperature: 0, messages: [{ role: 'user', content: 'price list | tell me' }] };
    const explained = await server.post('/admin/explain', { body }, { headers });
    expect(explained.text).not.toContain('price list');
    expect(explained.json()).not.toHaveProperty('nearest');
    expect((await server.post('/admin/lookup', { body }, { headers })).status).toBe(504);
    expect((await server.post(CHAT, body, { headers: { ...headers, 'cache-control': 'only-if-cached' } })).status).toBe(
      504,
    );
  });

  it('one refusal by the upstream stops it at once', async () => {
    await asks('sk-one');
    await server.settled();
    rejected.add('sk-one');
    expect((await asks('sk-one', 'please', { meaning: 'opening hours' })).status).toBe(401);
    const reply = await asks('sk-one');
    expect(reply.status).toBe(401);
    rejected.delete('sk-one');
    await passTime(clock, 1_000);
    expect((await asks('sk-one')).cache).toContain('detail=unverified');
    expect((await asks('sk-one')).cache).toContain('detail=exact-l1');
  });

  it('embeddings are kept apart in the same way', async () => {
    const ask = (key: string): Promise<TestReply> => asks(key, 'please', { kind: 'embeddings' });
    expect((await ask('sk-one')).cache).toContain('detail=unverified');
    await server.settled();
    expect((await ask('sk-one')).cache).toContain('detail=exact-l1');
    expect((await ask('sk-two')).cache).toContain('detail=unverified');
    rejected.add('sk-one');
    await passTime(clock, VERIFIED_MS);
    expect((await ask('sk-one')).status).toBe(401);
  });

  it('a request without a credential is refused', async () => {
    const reply = await server.post(CHAT, { model: 'm', messages: [] });
    expect(reply.status).toBe(401);
    expect(errorOf(reply)).toBe('missing_credential');
  });
});
