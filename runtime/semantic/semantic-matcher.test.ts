import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { MemoryGrid } from '../../grid/memory/memory-grid.ts';
import { ActorSystem } from '../actor/actor-system.ts';
import { RepriseError } from '../errors.ts';
import { NodeHash } from '../host/node-hash.ts';
import type { Entry } from '../ports/entry.ts';
import type { SemanticOptions } from '../ports/options.ts';
import { GUARD_NAMES } from './guards/guards.ts';
import { compilePolicies, type DomainPolicy } from './policies.ts';
import { SemanticMatcher } from './semantic-matcher.ts';
import type { SemanticHooks, SemanticQuery } from './semantic-matcher.ts';
import { CountingTelemetry, TableEmbedder } from './testing/doubles.ts';

const OPTIONS: SemanticOptions = {
  candidatesMax: 4,
  similarityFloor: 0.5,
  embedQueueMax: 8,
  embedBatchMax: 4,
  embedTimeoutMs: 1_000,
  vectorCacheBytesMax: 100_000,
  cellsMax: 4,
  cellVectorsMax: 32,
  codeBits: 4,
  probesMax: 3,
  verifier: { timeoutMs: 0, candidatesMax: 2 },
  nearMiss: { margin: 0.05, rememberedMax: 16 },
};
const [DOMAIN] = [
  ...compilePolicies({ test: { similarityMin: 0.9, probabilityMin: 0, guards: GUARD_NAMES } }, undefined).values(),
] as [DomainPolicy];
const POLICIES = [DOMAIN];
const SCOPE = 's'.repeat(64);

function setUp(options: Partial<SemanticOptions> = {}) {
  const clock = new ManualClock();
  const telemetry = new CountingTelemetry();
  const embedder = new TableEmbedder();
  const bytes = { bytesMax: 10_000_000 };
  const grid = new MemoryGrid({ clock }, { roles: { entries: bytes, vectors: bytes }, policy: 'lru' });
  const actors = new ActorSystem({ clock, telemetry });
  const deps = { embedder, grid, clock, telemetry, hash: new NodeHash(), actors };
  const matcher = new SemanticMatcher(deps, { ...OPTIONS, ...options });
  const entries = new Map<string, Entry>();
  const within = (ms = 50) => ({ deadlineAtMs: clock.monotonicMs() + ms });
  const hooks: SemanticHooks = { fetchEntry: (key) => Promise.resolve(entries.get(key)) };
  const find = (askedText: string, changes: Partial<SemanticQuery> = {}, moreHooks: Partial<SemanticHooks> = {}) =>
    matcher.find({ scope: SCOPE, askedText, policies: POLICIES, ...changes }, { ...hooks, ...moreHooks }, within());
  const store = async (key: string, askedText: string, changes: { scope?: string; expiresAtMs?: number } = {}) => {
    const record = { scope: SCOPE, expiresAtMs: Infinity, ...changes, key, askedText };
    entries.set(key, { key, scope: record.scope } as Entry);
    return matcher.remember(record, within());
  };
  /** Makes a text's vector one of a given similarity to the first axis. */
  const place = (text: string, similarity: number): void => {
    embedder.table.set(text, [similarity, Math.sqrt(1 - similarity ** 2), 0, 0, 0, 0, 0, 0]);
  };
  const vectors = () => grid.size('vectors', within());
  return { clock, telemetry, embedder, grid, actors, matcher, entries, within, find, store, place, vectors, deps };
}

describe('SemanticMatcher', () => {
  it('serves the stored answer of a text that means the same, with its evidence', async () => {
    const { place, store, find } = setUp();
    place('How do I reset my password?', 1);
    place('how can I reset my password', 0.95);
    await store('k1', 'How do I reset my password?');
    const decision = await find('how can I reset my password');
    expect(decision.entry?.key).toBe('k1');
    expect(decision.similarity).toBeCloseTo(0.95);
    expect(decision.probability).toBeGreaterThan(0.9);
    expect(decision.evidence).toEqual([
      expect.objectContaining({ entryId: 'k1', served: true, reason: 'served', vetoes: [] }),
    ]);
  });

  it('does not serve below the threshold of the domain, nor below a higher one of the caller', async () => {
    const { place, store, find } = setUp();
    place('alpha beta', 1);
    place('beta alpha', 0.95);
    await store('k1', 'alpha beta');
    const strict = { ...DOMAIN, similarityMin: 0.96 };
    expect((await find('beta alpha', { policies: [strict] })).evidence[0]?.reason).toBe('below-threshold');
    expect((await find('beta alpha', { thresholdMin: 0.96 })).entry).toBeUndefined();
    expect((await find('beta alpha', { policies: [strict], thresholdMin: 0.1 })).entry).toBeUndefined();
    expect((await find('beta alpha', { thresholdMin: 0.1 })).entry?.key).toBe('k1');
  });

  it('does not serve below the least probability of the domain', async () => {
    const { place, store, find } = setUp();
    place('alpha beta', 1);
    place('beta alpha', 0.95);
    await store('k1', 'alpha beta');
    const decision = await find('beta alpha', { policies: [{ ...DOMAIN, probabilityMin: 0.999 }] });
    expect(decision.evidence[0]?.reason).toBe('improbable');
  });

  it.each([
    ['its reversal', 'Does zinc reduce how well copper works?', 'Does copper reduce how well zinc works?'],
    ['on and off', 'Turn the heating on', 'Turn the heating off'],
    ['open and closed', 'Is the shop open?', 'Is the shop closed?'],
    ['one number', 'What is 17 times 23?', 'What is 17 times 24?'],
    ['a negation', 'Is it safe to swim here?', 'Is it not safe to swim here?'],
  ])('never serves across %s, however similar', async (_name, stored, asked) => {
    const { place, store, find, telemetry } = setUp();
    place(stored, 1);
    place(asked, 0.9999);
    await store('k1', stored);
    const decision = await find(asked);
    expect(decision.entry).toBeUndefined();
    expect(decision.evidence[0]).toMatchObject({ reason: 'vetoed', probability: 0, served: false });
    expect(telemetry.count('reprise_semantic_decisions_total vetoed')).toBe(1);
  });

  it('tries the next candidate after a veto', async () => {
    const { place, store, find } = setUp();
    place('Turn the heating off', 1);
    place('Please turn the heating on', 0.97);
    place('Turn the heating on', 0.999);
    await store('wrong', 'Turn the heating off');
    await store('right', 'Please turn the heating on');
    const decision = await find('Turn the heating on');
    expect(decision.entry?.key).toBe('right');
    expect(decision.evidence.map(({ entryId, reason }) => [entryId, reason])).toEqual([
      ['wrong', 'vetoed'],
      ['right', 'served'],
    ]);
  });

  it('serves a text longer than the window to nobody, and writes nothing of it', async () => {
    const { find, store, embedder, vectors } = setUp();
    const same = 'word '.repeat(60);
    expect(await store('k1', `${same}a b c d e f`)).toBe('window');
    await find('known now');
    const decision = await find(`${same}u v w x y z`);
    expect(decision).toMatchObject({ skipped: 'window', evidence: [] });
    expect(await vectors()).toBe(0);
    expect(embedder.batches.flat()).toEqual([]);
  });

  it('takes the embedder at its word that a text was cut', async () => {
    const { find, store, embedder } = setUp();
    const embed = embedder.embed.bind(embedder);
    embedder.embed = async (texts, options) =>
      (await embed(texts, options)).map((embedding) => ({
        ...embedding,
        truncated: true,
        vector: new Float32Array(0),
      }));
    expect(await store('k1', 'unusual')).toBe('window');
    await find('first of the scope');
    expect((await find('unusual')).skipped).toBe('window');
  });

  it('knows a word of any length without asking the embedder', async () => {
    const { find, embedder } = setUp();
    await find('known now');
    expect((await find('x'.repeat(64 * 32 + 1))).skipped).toBe('window');
    expect(embedder.batches).toEqual([]);
  });

  it.each([
    ['zeros', [0, 0, 0, 0, 0, 0, 0, 0]],
    ['no numbers', [Number.NaN, 0, 0, 0, 0, 0, 0, 0]],
  ])('serves nothing and stores nothing for vectors of %s', async (_name, constant) => {
    const { find, store, embedder, vectors, matcher } = setUp();
    embedder.constant = constant;
    expect(await store('k1', 'one')).toBe('degenerate');
    await find('known now');
    expect((await find('two')).skipped).toBe('degenerate');
    expect(await vectors()).toBe(0);
    expect(matcher.state).toMatchObject({ ready: false, embedderId: 'table-1' });
  });

  it('serves nothing from an embedder that returns one vector for all texts', async () => {
    const { find, store, embedder } = setUp();
    embedder.constant = [1, 0, 0, 0, 0, 0, 0, 0];
    await store('k1', 'lovely weather');
    const decision = await find('dreadful tax forms');
    expect(decision).toMatchObject({ skipped: 'degenerate' });
    expect(decision.evidence[0]?.vetoes).toContain('degenerate');
    expect((await find('lovely weather!')).entry?.key).toBe('k1');
  });

  it.each([
    ['What does polish mean?', 'What does Polish mean?'],
    ['Echo this: a     b', 'Echo this: a b'],
    ['What is a pate?', 'What is a pâté?'],
  ])('serves nothing to a text that only looks the same to the embedder: %s | %s', async (stored, asked) => {
    const { find, store, embedder } = setUp();
    embedder.constant = [1, 0, 0, 0, 0, 0, 0, 0];
    await store('k1', stored);
    const decision = await find(asked);
    expect(decision.entry).toBeUndefined();
    expect(decision.skipped).toBeUndefined();
    expect(decision.evidence[0]?.vetoes).toEqual(['degenerate']);
  });

  it('keeps scopes apart: same text, other scope, no candidate', async () => {
    const { find, store } = setUp();
    await store('k1', 'the same text');
    const other = 'o'.repeat(64);
    await find('first', { scope: other });
    expect(await find('the same text', { scope: other })).toMatchObject({ evidence: [] });
    expect((await find('the same text')).entry?.key).toBe('k1');
  });

  it('never serves an entry of another scope, whatever the index says', async () => {
    const { find, store, entries } = setUp();
    await store('k1', 'the same text');
    entries.set('k1', { key: 'k1', scope: 'o'.repeat(64) } as Entry);
    expect((await find('the same text')).entry).toBeUndefined();
  });

  it('the first request of a scope pays for nothing; the second has a cell', async () => {
    const { find, store, embedder, actors } = setUp();
    expect((await find('first question')).skipped).toBe('new-scope');
    expect(embedder.batches).toEqual([]);
    await store('k1', 'first question');
    expect(actors.activations('cell')).toBe(0);
    expect((await find(' first\u00a0question ')).entry?.key).toBe('k1');
    expect(actors.activations('cell')).toBe(1);
  });

  it('keeps the number of live cells within its bound', async () => {
    const { find, store, actors } = setUp();
    for (let n = 0; n < 20; n += 1) {
      const scope = `${n}`.padStart(64, '0');
      await store(`k${n}`, `question ${n}`, { scope });
      expect((await find(`question ${n}`, { scope })).entry?.key).toBe(`k${n}`);
      expect(actors.activations('cell')).toBeLessThanOrEqual(OPTIONS.cellsMax);
    }
  });

  it('forgets a candidate whose entry is gone, in the cell and in the grid', async () => {
    const { find, store, entries, vectors, clock, telemetry } = setUp();
    await store('k1', 'the same text');
    entries.clear();
    expect((await find('the same text')).evidence[0]?.reason).toBe('gone');
    await clock.settle();
    expect(await vectors()).toBe(0);
    expect((await find('the same text')).evidence).toEqual([]);
    expect(telemetry.gauges.get('reprise_semantic_vectors')).toBe(0);
  });

  it('keeps a candidate whose entry is there but not for this request, or can’t be reached', async () => {
    const { find, store, vectors } = setUp();
    await store('k1', 'the same text');
    const unusable = await find('the same text', {}, { fetchEntry: () => Promise.resolve('unusable' as const) });
    const fetchEntry = () => Promise.reject(new RepriseError('grid_unavailable', 'down'));
    const unreachable = await find('the same text', {}, { fetchEntry });
    expect([unusable.evidence[0]?.reason, unreachable.evidence[0]?.reason]).toEqual(['unusable', 'unusable']);
    expect(await vectors()).toBe(1);
    expect((await find('the same text')).entry?.key).toBe('k1');
  });

  it('never serves a refused pair, and goes on to the next', async () => {
    const { place, find, store } = setUp();
    place('alpha beta', 1);
    place('Alpha beta!', 0.98);
    place('beta alpha', 0.99);
    await store('k1', 'beta alpha');
    await store('k2', 'Alpha beta!');
    const isRefused = (storedKey: string, storedText: string, askedText: string): boolean =>
      storedKey === 'k1' && storedText === 'beta alpha' && askedText === 'alpha beta';
    const decision = await find('alpha beta', {}, { isRefused });
    expect(decision.evidence[0]).toMatchObject({ entryId: 'k1', reason: 'refused' });
    expect(decision.entry?.key).toBe('k2');
  });

  it('breaks ties by key', async () => {
    const { place, find, store } = setUp();
    for (const text of ['Alpha beta', 'alpha beta', 'Alpha beta?']) place(text, 1);
    for (const key of ['c', 'a', 'b']) await store(key, key === 'c' ? 'Alpha beta' : 'alpha beta');
    expect((await find('Alpha beta?')).entry?.key).toBe('a');
  });

  it('forgets with the entry’s expiry', async () => {
    const { find, store, clock } = setUp();
    await store('k1', 'the same text', { expiresAtMs: clock.wallMs() + 1_000 });
    expect((await find('the same text')).entry?.key).toBe('k1');
    clock.advance(1_000);
    expect((await find('the same text')).evidence).toEqual([]);
  });

  it('tells a live cell of what is remembered later, with the embedding handed over', async () => {
    const { find, store, matcher, embedder, entries, within } = setUp();
    await store('k1', 'one text');
    await find('one text');
    const { embedding } = await find('another text');
    entries.set('k2', { key: 'k2', scope: SCOPE } as Entry);
    const batches = embedder.batches.length;
    const record = { scope: SCOPE, key: 'k2', askedText: 'another text', expiresAtMs: Infinity };
    await matcher.remember(embedding === undefined ? record : { ...record, embedding }, within());
    expect(embedder.batches).toHaveLength(batches);
    expect((await find('another text')).entry?.key).toBe('k2');
  });

  it('finds again after a restart what the grid still holds', async () => {
    const { store, deps, clock, telemetry, entries, within } = setUp();
    await store('k1', 'the same text');
    const actors = new ActorSystem({ clock, telemetry });
    const restarted = new SemanticMatcher({ ...deps, actors }, OPTIONS);
    const query = { scope: SCOPE, askedText: 'the same text', policies: POLICIES };
    const hooks = { fetchEntry: (key: string) => Promise.resolve(entries.get(key)) };
    await restarted.find(query, hooks, within());
    expect((await restarted.find(query, hooks, within())).entry?.key).toBe('k1');
  });

  it('does not mix vectors of two embedders', async () => {
    const { store, deps, clock, telemetry, entries, within } = setUp();
    await store('k1', 'the same text');
    const embedder = Object.assign(new TableEmbedder(), { id: 'table-2' });
    const actors = new ActorSystem({ clock, telemetry });
    const other = new SemanticMatcher({ ...deps, embedder, actors }, OPTIONS);
    const query = { scope: SCOPE, askedText: 'the same text', policies: POLICIES };
    const hooks = { fetchEntry: (key: string) => Promise.resolve(entries.get(key)) };
    await other.find(query, hooks, within());
    expect((await other.find(query, hooks, within())).evidence).toEqual([]);
  });

  it('gives up at its deadline when the embedder is slow, and says so', async () => {
    const { find, embedder, clock } = setUp();
    await find('known now');
    embedder.hold = true;
    const decision = find('slow one');
    await clock.advanceAsync(50);
    expect(await decision).toMatchObject({ skipped: 'budget', evidence: [] });
  });

  it('tells a cell that fails from a budget that is spent', async () => {
    const { find, store, actors } = setUp();
    await store('k1', 'the same text');
    await find('known now');
    await actors.stop();
    expect((await find('the same text')).skipped).toBe('cell');
  });

  it('does not queue for an embedder that is known to take longer than there is time', async () => {
    const { find, embedder, clock, store, matcher } = setUp();
    embedder.hold = true;
    await find('known now');
    const slow = find('slow one');
    await clock.advanceAsync(400);
    await slow;
    embedder.held[0]?.answer();
    await clock.settle();
    expect(matcher.expectedWaitMs()).toBeGreaterThan(50);
    embedder.hold = false;
    expect((await find('another')).skipped).toBe('budget');
    expect(embedder.batches).toHaveLength(1);
    await store('k1', 'slow one');
    expect((await find('slow one')).entry?.key).toBe('k1');
  });

  it('a failed embedder skips the look-up and recovers by the next store', async () => {
    const { find, store, embedder, matcher } = setUp();
    await find('known now');
    const embed = embedder.embed.bind(embedder);
    embedder.embed = () => Promise.reject(new RepriseError('embedder_unavailable', 'killed'));
    expect((await find('one')).skipped).toBe('embedder');
    expect(await store('k1', 'two')).toBe('failed');
    expect(matcher.state.ready).toBe(false);
    embedder.embed = embed;
    expect(await store('k1', 'two')).toBe('stored');
    expect(matcher.state.ready).toBe(true);
  });

  it('a failed grid is no error of a look-up', async () => {
    const { find, store, grid } = setUp();
    await store('k1', 'the same text');
    await grid.close();
    expect(await find('the same text')).toMatchObject({ evidence: [] });
    expect(await store('k2', 'more')).toBe('failed');
  });

  it('rejects only when the caller leaves', async () => {
    const { matcher, find, embedder, within } = setUp();
    await find('known now');
    embedder.hold = true;
    const controller = new AbortController();
    const query = { scope: SCOPE, askedText: 'x', policies: POLICIES };
    const leaving = matcher.find(
      query,
      { fetchEntry: () => Promise.resolve(undefined) },
      { ...within(), signal: controller.signal },
    );
    controller.abort();
    await expect(leaving).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('has no opinion on an empty text', async () => {
    const { find, store } = setUp();
    expect((await find(' \n ')).skipped).toBe('no-text');
    expect(await store('k1', '  ')).toBe('window');
  });

  it('embeds long lists through the bounded queue, in order', async () => {
    const { matcher, embedder, within } = setUp();
    const texts = Array.from({ length: 50 }, (_, n) => `item ${n % 30}`);
    const embeddings = await matcher.embed(texts, within());
    expect(embeddings).toHaveLength(50);
    expect(embeddings[3]).toEqual(embeddings[33]);
    expect(embeddings[3]).not.toEqual(embeddings[4]);
    expect(Math.max(...embedder.batches.map((batch) => batch.length))).toBeLessThanOrEqual(OPTIONS.embedBatchMax);
  });

  it('serves only what its evidence justifies, and never across scopes, for any texts and vectors', async () => {
    const word = fc.constantFrom('open', 'closed', 'not', 'the', 'shop', '5', '6', 'Ann', 'Bob', 'from', 'to');
    const text = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '));
    const scope = fc.constantFrom('a'.repeat(64), 'b'.repeat(64));
    const step = fc.record({
      scope,
      text,
      similarity: fc.double({ min: 0.8, max: 1, noNaN: true }),
      stores: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { place, store, find } = setUp({ vectorCacheBytesMax: 1 });
        for (const [n, action] of steps.entries()) {
          place(action.text, action.similarity);
          if (action.stores) await store(`k${n}`, action.text, { scope: action.scope });
          const decision = await find(action.text, { scope: action.scope });
          const served = decision.evidence.filter((evidence) => evidence.served);
          expect(served).toHaveLength(decision.entry === undefined ? 0 : 1);
          if (decision.entry === undefined) continue;
          expect(decision.entry.scope).toBe(action.scope);
          expect(served[0]).toMatchObject({ entryId: decision.entry.key, vetoes: [] });
          expect(served[0]?.similarity).toBeGreaterThanOrEqual(DOMAIN.similarityMin);
        }
      }),
      { numRuns: 60 },
    );
  });
});
