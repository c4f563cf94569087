import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { signalled } from '../models/testing/test-upstream.ts';
import { passTime } from './testing/pass-time.ts';
import { answerWith, says, startScriptedUpstream, type ScriptedUpstream } from './testing/scripted-upstream.ts';
import { TestEmbedder } from './testing/test-embedder.ts';
import { startTestServer, type TestReply, type TestServer } from './testing/test-server.ts';

const CHAT = '/v1/chat/completions';
const SECOND_MS = 1_000;

let clock: ManualClock;
let upstream: ScriptedUpstream;
let server: TestServer;

beforeEach(async () => {
  clock = new ManualClock();
  upstream = await startScriptedUpstream(answerWith((call) => says(`Answer ${call.number}.`)));
  server = await startTestServer(
    {
      upstreams: { test: { url: upstream.url } },
      semantic: { mode: 'serve' },
      namespaces: {
        hour: { ttlMs: 3_600_000 },
        graceful: { ttlMs: 60_000, graceMs: 60_000 },
        drawn: { sampling: { kind: 'buckets', count: 2 } },
        fresh: { sampling: { kind: 'bypass' } },
      },
    },
    { embedder: new TestEmbedder(), clock },
  );
});
afterEach(async () => {
  await server.close();
  await upstream.close();
});

type Headers = Record<string, string>;

async function ask(text: string, headers: Headers = {}, fields: object = {}): Promise<TestReply> {
  const body = { model: 'gpt-test', temperature: 0, messages: [{ role: 'user', content: text }], ...fields };
  const reply = await server.post(CHAT, body, { headers });
  await server.settled();
  return reply;
}

function answerOf(reply: TestReply): string {
  return reply.json<{ choices: { message: { content: string } }[] }>().choices[0]?.message.content ?? '';
}

function errorOf(reply: TestReply): unknown {
  return reply.json<{ error: { code: unknown } }>().error.code;
}

describe('age', () => {
  it('max-age takes what is younger, and replaces what is older', async () => {
    await ask('How old?');
    await passTime(clock, 30 * SECOND_MS);
    const young = await ask('How old?', { 'cache-control': 'max-age=31' });
    expect(young.cache).toContain('hit');
    expect(young.headers.get('age')).toBe('30');
    const old = await ask('How old?', { 'cache-control': 'max-age=29' });
    expect(old.cache).toBe('fwd=miss; stored');
    expect(answerOf(await ask('How old?'))).toBe('Answer 2.');
  });

  it('x-reprise-ttl bounds the life of what it stores and the age of what it reads', async () => {
    const short = await ask('How long?', { 'x-reprise-ttl': '10' });
    expect(short.cache).toBe('fwd=miss; stored');
    expect((await ask('How long?')).cache).toBe('hit; ttl=10; detail=exact-l1');
    await passTime(clock, 11 * SECOND_MS);
    expect((await ask('How long?')).cache).toBe('fwd=miss; stored');
    await passTime(clock, 11 * SECOND_MS);
    expect((await ask('How long?')).cache).toContain('hit');
    expect((await ask('How long?', { 'x-reprise-ttl': '10' })).cache).toBe('fwd=miss; stored');
  });

  it('the namespace’s ttl ends the life of an answer', async () => {
    const headers = { 'x-reprise-namespace': 'hour' };
    await ask('Until when?', headers);
    await passTime(clock, 3_599 * SECOND_MS);
    expect((await ask('Until when?', headers)).cache).toContain('hit; ttl=1;');
    await passTime(clock, SECOND_MS);
    expect((await ask('Until when?', headers)).cache).toBe('fwd=miss; stored');
  });

  it('counts from the start of the model call, also for who joined it', async () => {
    const gate = signalled();
    upstream.answer = async (call) => {
      await gate.promise;
      await answerWith(says('Slow.'))(call);
    };
    const body = { model: 'gpt-test', temperature: 0, messages: [{ role: 'user', content: 'Slow?' }] };
    const leader = server.post(CHAT, body);
    await upstream.arrived(1);
    await passTime(clock, 20 * SECOND_MS);
    const patient = server.post(CHAT, body);
    await server.telemetry.counted(1, 'reprise_flight_followers_total');
    const impatient = server.post(CHAT, body, { headers: { 'cache-control': 'max-age=10' } });
    await upstream.arrived(2);
    gate.resolve();
    expect((await impatient).cache).not.toContain('hit');
    expect((await patient).headers.get('age')).toBe('20');
    await leader;
  });

  it('a source that is too old for one reader is neither served to it nor lost to others', async () => {
    await ask('weather today | please');
    await passTime(clock, 30 * SECOND_MS);
    const strict = await ask('weather today | tell me', { 'cache-control': 'max-age=5' });
    expect(strict.cache).toBe('fwd=miss; stored');
    const { semantic } = (
      await server.post('/admin/explain', {
        body: { model: 'gpt-test', temperature: 0, messages: [{ role: 'user', content: 'weather today | could you' }] },
      })
    ).json<{ semantic: { candidates: { storedText: string }[] } }>();
    expect(semantic.candidates.length).toBeGreaterThan(0);
    const relaxed = await ask('weather today | could you', { 'x-reprise-threshold': '0.91' });
    expect(relaxed.cache).toContain('detail=semantic');
    await server.post('/admin/invalidate', { entry: strict.headers.get('x-reprise-entry') });
    expect(answerOf(await ask('weather today | could you'))).toBe('Answer 1.');
  });
});

describe('grace', () => {
  const headers = { 'x-reprise-namespace': 'graceful' };

  it('serves a stale answer once more and fetches a fresh one behind it', async () => {
    await ask('Fresh?', headers);
    await passTime(clock, 70 * SECOND_MS);
    const stale = await ask('Fresh?', headers);
    expect(stale.cache).toBe('hit; ttl=-10; detail=stale');
    expect(answerOf(stale)).toBe('Answer 1.');
    await server.telemetry.counted(2, 'reprise_stores_total', 'stored');
    const fresh = await ask('Fresh?', headers);
    expect(fresh.cache).toContain('detail=exact-l1');
    expect(answerOf(fresh)).toBe('Answer 2.');
  });

  it('ends', async () => {
    await ask('Fresh?', headers);
    await passTime(clock, 121 * SECOND_MS);
    expect((await ask('Fresh?', headers)).cache).toBe('fwd=miss; stored');
  });

  it('gives way to max-age', async () => {
    await ask('Fresh?', headers);
    await passTime(clock, 70 * SECOND_MS);
    expect((await ask('Fresh?', { ...headers, 'cache-control': 'max-age=60' })).cache).toBe('fwd=miss; stored');
  });

  it('serves no stale answer for other words', async () => {
    await ask('weather today | please', headers);
    await passTime(clock, 70 * SECOND_MS);
    expect((await ask('weather today | tell me', headers)).cache).toBe('fwd=miss; stored');
  });
});

describe('directives', () => {
  it('no-cache asks the model and replaces the entry', async () => {
    await ask('Now?');
    const anew = await ask('Now?', { 'cache-control': 'no-cache' });
    expect(anew.cache).toBe('fwd=bypass; stored; detail=no-cache');
    expect(answerOf(await ask('Now?'))).toBe('Answer 2.');
  });

  it('no-store keeps nothing, and may be served', async () => {
    expect((await ask('Secret?', { 'cache-control': 'no-store' })).cache).toBe('fwd=miss');
    expect((await ask('Secret?')).cache).toBe('fwd=miss; stored');
    expect((await ask('Secret?', { 'cache-control': 'no-store' })).cache).toContain('hit');
    const { entries, vectors } = (await server.get('/admin/stats')).json<{ entries: number; vectors: number }>();
    expect({ entries, vectors }).toEqual({ entries: 1, vectors: 1 });
  });

  it('only-if-cached never calls the model', async () => {
    for (const fields of [{}, { stream: true }]) {
      const missing = await ask('There?', { 'cache-control': 'only-if-cached' }, fields);
      expect(missing.status).toBe(504);
      expect(errorOf(missing)).toBe('not_cached');
    }
    expect(upstream.calls).toHaveLength(0);
    await ask('There?');
    expect((await ask('There?', { 'cache-control': 'only-if-cached' })).cache).toContain('hit');
    expect((await ask('weather today | please', { 'cache-control': 'only-if-cached, no-cache' })).status).toBe(504);
  });

  it('only-if-cached takes a semantic hit', async () => {
    await ask('weather today | please');
    const reply = await ask('weather today | tell me', { 'cache-control': 'only-if-cached' });
    expect(reply.cache).toContain('detail=semantic');
  });

  it.each([
    [{ 'x-reprise-ttl': 'soon' }],
    [{ 'x-reprise-ttl': '0' }],
    [{ 'cache-control': 'max-age=-1' }],
    [{ 'x-reprise-threshold': '1.5' }],
    [{ 'x-reprise-domain': 'no-such' }],
    [{ 'x-reprise-bucket': 'x' }],
    [{ 'x-reprise-namespace': 'a/b' }],
  ])('%o is refused', async (headers: Headers) => {
    const reply = await ask('Well?', headers);
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toBe('invalid_control');
    const [name] = Object.keys(headers);
    expect(reply.json<{ error: { param: string } }>().error.param).toBe(name);
    expect(upstream.calls).toHaveLength(0);
  });
});

describe('the body’s cache object', () => {
  it('is honoured, and not forwarded', async () => {
    expect((await ask('Body?', {}, { cache: { 'no-store': true } })).cache).toBe('fwd=miss');
    expect((await ask('Body?', {}, { cache: { ttl: 10, namespace: 'own' } })).cache).toBe('fwd=miss; stored');
    expect((await ask('Body?', {}, { cache: { namespace: 'own' } })).cache).toBe('hit; ttl=10; detail=exact-l1');
    expect((await ask('Body?', { 'x-reprise-namespace': 'own' })).cache).toContain('hit');
    expect((await ask('Body?')).cache).toBe('fwd=miss; stored');
    expect((await ask('Body?', {}, { cache: { 'no-cache': true } })).cache).toContain('detail=no-cache');
    await passTime(clock, 5 * SECOND_MS);
    expect((await ask('Body?', {}, { cache: { 's-maxage': 4 } })).cache).toBe('fwd=miss; stored');
    expect(upstream.calls.every((call) => !('cache' in call.body))).toBe(true);
    expect((await ask('Body?', {}, { cache: { ttl: 'x' } })).status).toBe(400);
  });

  it('takes the names that headers can carry, which can be invalidated', async () => {
    const fields = { cache: { namespace: 'team.a:b_c-D' } };
    await ask('Named?', {}, fields);
    expect((await ask('Named?', { 'x-reprise-namespace': 'team.a:b_c-D' })).cache).toContain('hit');
    const reply = await server.post('/admin/invalidate', { namespace: 'team.a:b_c-D' });
    expect(reply.status).toBe(200);
    expect((await ask('Named?', {}, fields)).cache).toBe('fwd=miss; stored');
  });

  it.each([
    [{ ttl: 0 }, 'cache.ttl', 'seconds from 0.001 to 315360000'],
    [{ ttl: -1 }, 'cache.ttl', 'seconds from 0.001 to 315360000'],
    [{ ttl: 0.0001 }, 'cache.ttl', 'seconds from 0.001'],
    [{ ttl: 315_360_001 }, 'cache.ttl', 'seconds from 0.001 to 315360000'],
    [{ 's-maxage': -1 }, 'cache.s-maxage', 'seconds, 0 or more'],
    [{ namespace: 'a b' }, 'cache.namespace', '1 to 128 letters'],
    [{ namespace: 'x'.repeat(129) }, 'cache.namespace', '1 to 128 letters'],
    [{ namespace: 'team a/häuser' }, 'cache.namespace', '1 to 128 letters'],
  ])('is refused in its own words: %j', async (cache, param, words) => {
    const { error } = (await ask('Body?', {}, { cache })).json<{ error: { param: string; message: string } }>();
    expect(error).toMatchObject({ code: 'invalid_control', param });
    expect(error.message).toContain(`\`${param}\``);
    expect(error.message).toContain(words);
    expect(upstream.calls).toHaveLength(0);
  });
});

describe('answers drawn at random', () => {
  it('a bucket that the caller names keeps an answer of its own', async () => {
    const drawn = (bucket: string): Promise<TestReply> =>
      ask('Draw', { 'x-reprise-namespace': 'drawn', 'x-reprise-bucket': bucket }, { temperature: 1 });
    const first = answerOf(await drawn('0'));
    expect(answerOf(await drawn('1'))).not.toBe(first);
    expect(answerOf(await drawn('0'))).toBe(first);
    expect(upstream.calls).toHaveLength(2);
    expect((await drawn('2')).json()).toMatchObject({ error: { code: 'invalid_control', param: 'x-reprise-bucket' } });
  });

  it('buckets that the server draws: never more answers than buckets', async () => {
    const answers = new Set<string>();
    for (let turn = 0; turn < 24; turn += 1) {
      answers.add(answerOf(await ask('Draw', { 'x-reprise-namespace': 'drawn' }, { temperature: 1 })));
    }
    expect(answers.size).toBe(2);
    expect(upstream.calls).toHaveLength(2);
  });

  it('bypass calls each time, but for requests with a seed or no temperature', async () => {
    const headers = { 'x-reprise-namespace': 'fresh' };
    for (let turn = 0; turn < 2; turn += 1) {
      expect((await ask('Draw', headers, { temperature: 1 })).cache).toBe('fwd=bypass; detail=sampling');
    }
    await ask('Draw', headers, { temperature: 1, seed: 5 });
    expect((await ask('Draw', headers, { temperature: 1, seed: 5 })).cache).toContain('hit');
    await ask('Draw', headers);
    expect((await ask('Draw', headers)).cache).toContain('hit');
  });
});

describe('stateful requests', () => {
  it.each([{ background: true }, { previous_response_id: 'r1' }, { tools: [{ type: 'web_search' }] }])(
    '%o bypasses: each is asked and none stored',
    async (fields) => {
      for (let turn = 0; turn < 2; turn += 1) {
        expect((await ask('State?', {}, fields)).cache).toBe('fwd=bypass; detail=stateful');
      }
      expect(upstream.calls).toHaveLength(2);
      expect((await server.get('/admin/stats')).json<{ entries: number }>().entries).toBe(0);
    },
  );
});
