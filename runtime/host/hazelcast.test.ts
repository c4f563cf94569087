import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testCluster, unavailable, type TestCluster } from '../../grid/hazelcast/testing/cluster.ts';
import type { Grid } from '../ports/grid.ts';
import { startScriptedUpstream, answerWith, says } from './testing/scripted-upstream.ts';
import { TestEmbedder } from './testing/test-embedder.ts';
import { startTestServer, type TestServer } from './testing/test-server.ts';
import { ask, isReady, onCluster, peek, twoNodes, until, type TwoNodes } from './testing/two-nodes.ts';

const STALENESS_BOUND_MS = 2_000;
const missing = unavailable();
if (missing !== undefined) process.stderr.write(`left out: nodes on a real Hazelcast cluster: ${missing}\n`);

describe.skipIf(missing !== undefined)('two nodes on a cluster of three members', { timeout: 60_000 }, () => {
  let cluster: TestCluster;
  let open: TwoNodes | undefined;

  beforeAll(async () => {
    cluster = await testCluster({ members: 3 });
  }, 120_000);
  afterAll(() => cluster.close());
  afterEach(async () => {
    await open?.close();
    open = undefined;
  });

  async function start(...args: [Parameters<typeof twoNodes>[1]?]): Promise<TwoNodes> {
    open = await twoNodes(cluster, ...args);
    return open;
  }

  it('what one stored the other serves from L2, then from L1', async () => {
    const { nodes, upstream } = await start();
    const [one, two] = nodes;
    const text = `stored by one, ${Date.now()}`;
    expect((await ask(one, text)).cache).toContain('fwd=miss; stored');
    await one.settled();
    const second = await ask(two, text);
    expect(second.cache).toContain('detail=exact-l2');
    expect(second.text).toContain('Answer 1.');
    expect((await ask(two, text)).cache).toContain('detail=exact-l1');
    expect((await ask(one, text)).cache).toContain('detail=exact-l1');
    expect(upstream.calls).toHaveLength(1);
  });

  it('in the centralised topology every hit comes from L2', async () => {
    const grid = { ...onCluster(cluster).grid, topology: 'centralised' as const };
    const { nodes } = await start({ settings: { grid } });
    const text = `centralised, ${Date.now()}`;
    await ask(nodes[0], text);
    await nodes[0].settled();
    for (const node of [nodes[1], nodes[1], nodes[0]]) expect((await ask(node, text)).cache).toContain('exact-l2');
  });

  it.each([
    ['with the listener', (grid: Grid): Grid => grid],
    ['with the listener cut', deaf],
  ])('the other obeys invalidations of every kind within the bound, %s', async (_name, wrapGrid) => {
    const { nodes } = await start({ overrides: { embedder: { missing: 'none' }, wrapGrid } });
    const tookMs: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      for (const kind of ['entry', 'tag', 'namespace', 'model', 'tenant'] as const) {
        tookMs.push(await obeyed(nodes, kind, `${kind} ${round} ${Date.now()}`));
      }
    }
    process.stderr.write(
      `invalidations obeyed ${_name}: ${tookMs.length}, at most ${Math.max(...tookMs).toFixed(0)} ms\n`,
    );
    expect(Math.max(...tookMs)).toBeLessThan(STALENESS_BOUND_MS);
  });

  it('a refused pair stays refused for a node that comes after the loss of the grid', async () => {
    const settings = { semantic: { mode: 'serve' as const }, cache: { lookupBudgetMs: 10_000 } };
    const { nodes, upstream } = await start({ settings, overrides: { embedder: new TestEmbedder() } });
    const [one] = nodes;
    const stored = `meaning ${Date.now()} | please`;
    const asked = stored.replace('please', 'tell me');
    await ask(one, stored);
    await one.settled();
    expect((await ask(one, asked)).cache).toContain('detail=semantic');
    const feedback = { verdict: 'wrong', storedText: stored, askedText: asked };
    expect((await one.post('/admin/feedback', feedback)).status).toBe(200);

    await Promise.all(cluster.members.map((_, index) => cluster.kill(index)));
    await Promise.all(cluster.members.map((_, index) => cluster.restart(index, 3)));
    await until(() => isReady(one, 'ledger'));
    const late = await startTestServer(
      { nodeId: 'late', upstreams: { test: { url: upstream.url } }, ...onCluster(cluster), ...settings },
      { embedder: new TestEmbedder() },
    );
    try {
      await ask(late, stored);
      await late.settled();
      await until(async () => (await ask(late, stored.replace('please', 'could you'))).cache.includes('semantic'));
      expect((await ask(late, asked)).cache).not.toContain('hit');
    } finally {
      await late.close();
    }
  });

  it('an invalidation made before all members were lost is obeyed after their return', async () => {
    const { nodes } = await start({
      settings: { cache: { stalenessBoundMs: 1_000, unconfirmedMs: 600_000, lookupBudgetMs: 10_000 } },
    });
    const [one, two] = nodes;
    const text = `lost, ${Date.now()}`;
    await ask(one, text);
    await one.settled();
    expect((await ask(two, text)).cache).toContain('hit');
    await one.post('/admin/invalidate', { namespace: 'default' });
    await Promise.all(cluster.members.map((_, index) => cluster.kill(index)));
    expect((await peek(one, text)).status).toBe(504);
    await Promise.all(cluster.members.map((_, index) => cluster.restart(index, 3)));
    for (const node of [one, two]) {
      await until(() => isReady(node, 'ledger'));
      expect((await peek(node, text)).status).toBe(504);
    }
    expect((await ask(two, text)).cache).toContain('fwd=miss');
    await two.settled();
    await until(async () => (await ask(one, text)).cache.includes('hit'));
  });
});

describe.skipIf(missing !== undefined)('a node whose grid comes later', { timeout: 60_000 }, () => {
  it('serves without it, says degraded, and uses it when it is there, without a restart', async () => {
    const cluster = await testCluster({ members: 1 });
    const upstream = await startScriptedUpstream(answerWith((call) => says(`Answer ${call.number}.`)));
    let node: TestServer | undefined;
    try {
      await cluster.kill(0);
      node = await startTestServer({ upstreams: { test: { url: upstream.url } }, ...onCluster(cluster) });
      const early = await ask(node, 'early');
      expect([early.status, early.cache]).toEqual([200, 'fwd=bypass; detail=ledger']);
      const readiness = await node.get('/readyz');
      expect(readiness.status).toBe(200);
      expect(readiness.json<{ parts: unknown[] }>().parts).toContainEqual(
        expect.objectContaining({ name: 'grid', state: 'degraded' }),
      );
      await cluster.restart(0);
      const on = node;
      await until(async () => (await isReady(on, 'grid')) && (await isReady(on, 'ledger')));
      expect((await ask(node, 'late')).cache).toContain('stored');
      await node.settled();
      expect((await ask(node, 'late')).cache).toContain('hit');
    } finally {
      await node?.close();
      await upstream.close();
      await cluster.close();
    }
  });
});

/** A grid whose events never arrive. */
function deaf(grid: Grid): Grid {
  return new Proxy(grid, {
    get: (target, name) => {
      if (name === 'listen') return () => ({ close: () => undefined });
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

type Kind = 'entry' | 'tag' | 'namespace' | 'model' | 'tenant';

/** Milliseconds from the reply to an invalidation on one node until the other obeys. */
async function obeyed([one, two]: TwoNodes['nodes'], kind: Kind, text: string): Promise<number> {
  const headers = { 'x-reprise-tags': 'marked' };
  const stored = await ask(one, text, headers);
  await one.settled();
  expect((await ask(two, text, headers)).cache).toContain('hit');
  const entry = stored.headers.get('x-reprise-entry') ?? '';
  const target = {
    entry: { entry },
    tag: { tag: 'marked' },
    namespace: { namespace: 'default' },
    model: { model: 'gpt-test' },
    tenant: { tenant: 'local' },
  }[kind];
  const reply = await one.post('/admin/invalidate', target);
  expect(reply.json()).toMatchObject({ stalenessBoundMs: STALENESS_BOUND_MS, reach: 'grid' });
  expect((await peek(one, text, headers)).status).toBe(504);
  return until(async () => (await peek(two, text, headers)).status === 504, 2 * STALENESS_BOUND_MS);
}
