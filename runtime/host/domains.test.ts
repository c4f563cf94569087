import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SettingsInput } from '../config/index.ts';
import { ModelError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Explanation } from '../ports/service.ts';
import type { Verifier } from '../ports/verifier.ts';
import { answerWith, says, startScriptedUpstream, type ScriptedUpstream } from './testing/scripted-upstream.ts';
import { TestEmbedder } from './testing/test-embedder.ts';
import { startTestServer, type TestReply, type TestServer } from './testing/test-server.ts';

const CHAT = '/v1/chat/completions';

/** Answers as the test says. */
class ScriptedVerifier implements Verifier {
  readonly id = 'test:verifier';
  readonly asked: [string, string][] = [];
  answer: (options: CallOptions) => Promise<number> = () => Promise.resolve(1);

  verify(stored: string, asked: string, options: CallOptions): Promise<number> {
    this.asked.push([stored, asked]);
    return this.answer(options);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

let upstream: ScriptedUpstream;
let server: TestServer;
let verifier: ScriptedVerifier;
let dataDir: string;

beforeEach(async () => {
  upstream = await startScriptedUpstream(answerWith(says('Yes.')));
  verifier = new ScriptedVerifier();
  dataDir = mkdtempSync(join(tmpdir(), 'reprise-domains-'));
});
afterEach(async () => {
  await server.close();
  await upstream.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(settings: SettingsInput): Promise<void> {
  const { semantic, ...rest } = settings;
  server = await startTestServer(
    {
      dataDir,
      upstreams: { test: { url: upstream.url } },
      cache: { lookupBudgetMs: 10_000 },
      semantic: { mode: 'serve', ...semantic },
      ...rest,
    },
    { embedder: new TestEmbedder(), verifier },
  );
}

type Headers = Record<string, string>;
const bodyOf = (text: string): object => ({ model: 'm', temperature: 0, messages: [{ role: 'user', content: text }] });

async function ask(text: string, headers: Headers = {}): Promise<TestReply> {
  const reply = await server.post(CHAT, bodyOf(text), { headers });
  await server.settled();
  return reply;
}

const explain = async (text: string, headers: Headers = {}): Promise<Explanation> =>
  (await server.post('/admin/explain', { body: bodyOf(text) }, { headers })).json<Explanation>();

const STRICT = { domains: { dosage: { similarityMin: 0.99999 }, loose: { similarityMin: 0.5, guards: [] } } };

describe('domains by rule', () => {
  beforeEach(() => start({ ...STRICT, domainRules: [{ domain: 'dosage', words: ['dose', 'tablet*'] }] }));

  it('a word of the text chooses the domain, whatever the namespace', async () => {
    await ask('weather today | please');
    await ask('weather today | the dose');
    expect((await ask('weather today | tell me')).cache).toContain('detail=semantic');
    expect((await ask('weather today | any tablets')).cache).toBe('fwd=miss; stored');
  });

  it('is no part of the key', async () => {
    await ask('weather today | the dose');
    expect((await ask('weather today | the dose', { 'x-reprise-domain': 'loose' })).cache).toContain('exact-l1');
  });

  it('Explain says which domain, why, and what holds', async () => {
    const { semantic } = await explain('two Tablets');
    expect(semantic).toMatchObject({
      domain: 'dosage',
      domainReason: "domainRules[0], by the word 'tablet*'",
      threshold: 0.99999,
      policies: [{ domain: 'dosage', similarityMin: 0.99999, probabilityMin: 0, calibrated: false }],
    });
  });
});

describe('a caller', () => {
  beforeEach(async () => {
    await start(STRICT);
    await ask('weather today | please');
    await ask('weather today | once');
  });

  it('may name a stricter domain', async () => {
    expect((await ask('weather today | tell me', { 'x-reprise-domain': 'dosage' })).cache).toBe('fwd=miss; stored');
  });

  it('gets nothing by naming a laxer one: thresholds and guards stay', async () => {
    const lax = { 'x-reprise-domain': 'loose' };
    const reply = await ask('weather today | tell me', lax);
    expect(reply.cache).toContain('detail=semantic');
    const { semantic } = await explain('weather today | in 5 minutes', lax);
    expect(semantic.domain).toBe('default');
    expect(semantic.domainReason).toContain('loose is nowhere stricter');
    expect(semantic.candidates[0]?.reason).toBe('vetoed');
  });

  it('may raise the threshold and not lower it', async () => {
    expect((await ask('weather today | tell me', { 'x-reprise-threshold': '1' })).cache).toBe('fwd=miss; stored');
    const { semantic } = await explain('weather today | could you', { 'x-reprise-threshold': '0.1' });
    expect(semantic.threshold).toBe(0.91);
  });

  it('is refused a domain that is not there', async () => {
    const reply = await ask('weather today | tell me', { 'x-reprise-domain': 'none' });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('invalid_control');
  });
});

describe('Explain', () => {
  it('gives every guard’s verdict on every candidate, also below the threshold, and counts nothing', async () => {
    await start({ domains: { default: { guards: ['numbers', 'dates'] } } });
    await ask('weather today | please');
    await ask('weather today | 7 apples');
    const before = (await server.get('/metrics')).text.match(/reprise_semantic_decisions_total.*/gu);
    const { semantic } = await explain('weather today | 6 apples, not pears');
    const [vetoed] = semantic.candidates.filter(({ vetoes }) => vetoes.includes('numbers'));
    const verdicts = Object.fromEntries(vetoed?.guards.map(({ name, verdict }) => [name, verdict]) ?? []);
    expect(verdicts).toMatchObject({ numbers: 'veto', dates: 'clear', negation: 'off', entities: 'off' });
    expect((await server.get('/metrics')).text.match(/reprise_semantic_decisions_total.*/gu)).toEqual(before);
  });

  it('looks on past the candidate that serves', async () => {
    await start({});
    await ask('weather today | please');
    await ask('weather today | once', { 'cache-control': 'no-cache' });
    const { semantic } = await explain('weather today | tell me');
    expect(semantic.candidates.map(({ reason }) => reason)).toEqual(['served', 'outranked']);
  });
});

describe('a verifier', () => {
  const VERIFIED: SettingsInput = {
    domains: { default: { verifiedMin: 0.7 } },
    semantic: { verifier: { kind: 'model', model: 'judge' } },
  };
  const count = (result: string): number => server.telemetry.count('reprise_verifications_total', result);

  beforeEach(async () => {
    await start(VERIFIED);
    await ask('weather today | please');
  });

  it('is asked about a candidate that all else has passed, and its yes serves', async () => {
    expect((await ask('weather today | tell me')).cache).toContain('detail=semantic');
    expect(verifier.asked).toEqual([['weather today | please', 'weather today | tell me']]);
    expect(count('yes')).toBe(1);
  });

  it.each([
    ['a no', () => Promise.resolve(0.69), 'no', 'unverified'],
    ['a failure', () => Promise.reject(new ModelError('model_error', 'broken')), 'failed', 'verifier-failed'],
    ['a timeout', () => Promise.reject(new ModelError('model_timeout', 'late')), 'timeout', 'verifier-failed'],
    ['what is no probability', () => Promise.resolve(Number.NaN), 'failed', 'verifier-failed'],
  ])('%s is a miss', async (_, answer, result, reason) => {
    verifier.answer = answer;
    expect((await ask('weather today | tell me')).cache).toBe('fwd=miss; stored');
    expect(count(result)).toBe(1);
    expect(server.telemetry.count('reprise_semantic_decisions_total', reason)).toBe(1);
    const { semantic } = await explain('weather today | could you');
    expect(semantic.verifier).toBe('test:verifier');
    expect(semantic.candidates[0]).toMatchObject({ reason, ...(reason === 'unverified' ? { verified: 0.69 } : {}) });
    expect(count(result)).toBe(1);
  });

  it('is not asked in a domain that does not want it, nor about what guards refuse', async () => {
    await ask('weather today | in 5 minutes');
    expect(verifier.asked).toEqual([]);
  });

  it('is asked about so many candidates and no more', async () => {
    verifier.answer = () => Promise.resolve(0);
    for (const text of ['one', 'more', 'again']) await ask(`weather today | ${text}`, { 'cache-control': 'no-cache' });
    verifier.asked.length = 0;
    await ask('weather today | tell me');
    expect(verifier.asked.length).toBeLessThanOrEqual(2);
  });
});

describe('a verifier that hangs', () => {
  it('costs its own time and no more, and is a miss', async () => {
    await start({
      domains: { default: { verifiedMin: 0.7 } },
      cache: { lookupBudgetMs: 200 },
      semantic: { verifier: { kind: 'model', model: 'judge', timeoutMs: 20 } },
    });
    verifier.answer = () => new Promise(() => undefined);
    await ask('weather today | please');
    expect((await ask('weather today | tell me')).cache).toMatch(/fwd=(miss|bypass)/);
    expect(verifier.asked).toHaveLength(1);
  });
});

describe('the near-miss log', () => {
  const LOG = 'near-misses.jsonl';
  const records = (): Record<string, unknown>[] =>
    readFileSync(join(dataDir, LOG), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('is off unless it is asked for: no text is kept on disk', async () => {
    await start({ domains: { default: { similarityMin: 0.9999 } } });
    await ask('weather today | please');
    await ask('weather today | tell me');
    expect(existsSync(join(dataDir, LOG))).toBe(false);
    const kept = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    for (const file of kept) expect(readFileSync(join(file.parentPath, file.name), 'utf8')).not.toContain('weather');
  });

  it('has what was nearly served and what was refused above the threshold, each pair once', async () => {
    await start({
      semantic: { nearMissLog: { path: LOG, margin: 0.05 } },
      domains: { default: { similarityMin: 0.98 } },
    });
    await ask('weather today | please');
    await ask('another thing | please', { 'cache-control': 'no-store' });
    for (let time = 0; time < 2; time += 1) await ask('weather today | in 5 minutes', { 'cache-control': 'no-store' });
    await explain('weather today | in 9 minutes');
    await server.assembly.stop();
    expect(records()).toEqual([
      expect.objectContaining({
        version: 1,
        tenant: 'local',
        namespace: 'default',
        domain: 'default',
        a: 'weather today | please',
        b: 'weather today | in 5 minutes',
        similarityMin: 0.98,
      }),
    ]);
  });
});

describe('feedback on a pair of texts', () => {
  it('refuses it for good without naming an entry', async () => {
    await start({});
    await ask('weather today | please');
    const feedback = { verdict: 'wrong', storedText: 'weather today | please', askedText: ' weather today | tell me ' };
    expect((await server.post('/admin/feedback', feedback)).status).toBe(200);
    const reasons = (await explain('weather today | tell me')).semantic.candidates.map(({ reason }) => reason);
    expect(reasons).toEqual(['refused']);
    expect((await ask('weather today | tell me')).cache).toBe('fwd=miss; stored');
    expect((await server.get('/metrics')).text).toContain('reprise_refused_pairs 1');
  });

  it('needs both texts, or an entry', async () => {
    await start({});
    for (const feedback of [{ askedText: 'a' }, { storedText: 'a' }, {}]) {
      expect((await server.post('/admin/feedback', { verdict: 'wrong', ...feedback })).status).toBe(400);
    }
  });
});
