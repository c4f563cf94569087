import { performance } from 'node:perf_hooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testCluster, unavailable, type TestCluster } from '../../grid/hazelcast/testing/cluster.ts';
import { SeededRandom, integerIn } from '../../simulation/kernel/seeded-random.ts';
import { answerWith, says } from './testing/scripted-upstream.ts';
import type { TestReply, TestServer } from './testing/test-server.ts';
import { ask, isReady, peek, twoNodes, until, type TwoNodes } from './testing/two-nodes.ts';

const STALENESS_BOUND_MS = 500;
/** The whole run is one of the long tests. */
const OPERATIONS = process.env['REPRISE_TEST_LONG'] === undefined ? 1_500 : 10_000;
const GROUPS = 12;
const QUESTIONS_A_GROUP = 6;
const WORKERS = 12;
const INVALIDATIONS_OF_100 = 4;
/** Longer than members need to take each other out, and to merge again. */
const SPLIT_MS = 15_000;
const HEALED_MS = 30_000;

const missing = unavailable();
if (missing !== undefined) process.stderr.write(`left out: staleness on a real Hazelcast cluster: ${missing}\n`);

describe.skipIf(missing !== undefined)('staleness on a cluster of three members', { timeout: 180_000 }, () => {
  let cluster: TestCluster;
  let open: TwoNodes | undefined;

  beforeAll(async () => {
    cluster = await testCluster({ members: 3, proxied: true });
  }, 120_000);
  afterAll(() => cluster.close());
  afterEach(async () => {
    await open?.close();
    open = undefined;
    cluster.heal();
  });

  it(`${OPERATIONS} random operations on two nodes show nothing older than the bound allows`, async () => {
    const truth = new Truth();
    open = await twoNodes(cluster, {
      settings: {
        cache: {
          stalenessBoundMs: STALENESS_BOUND_MS,
          confirmIntervalMs: 100,
          lookupBudgetMs: 10_000,
          joinDeadlineMs: 10_000,
        },
      },
      answer: answerWith((call) => says(truth.answer(textOf(call.body)))),
    });
    const { nodes } = open;
    const random = new SeededRandom('staleness');
    let left = OPERATIONS;
    const work = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const node = random.float() < 0.5 ? 0 : 1;
        const group = integerIn(random, 0, GROUPS - 1);
        if (integerIn(random, 1, 100) <= INVALIDATIONS_OF_100) await truth.change(nodes, node, group);
        else await truth.read(nodes, node, { group, question: integerIn(random, 1, QUESTIONS_A_GROUP) });
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    process.stderr.write(
      `${truth.reads} reads, ${truth.hits} of them hits, ${truth.changes} invalidations: oldest answer ${truth.oldestMs.toFixed(0)} ms after one\n`,
    );
    expect(truth.violations).toEqual([]);
    expect(truth.hits).toBeGreaterThan(truth.reads / 2);
  });

  it.skipIf(process.env['REPRISE_TEST_LONG'] === undefined)(
    'a ledger that a split forked ends in a new incarnation, never in an old answer',
    async () => {
      const settings = {
        cache: { stalenessBoundMs: STALENESS_BOUND_MS, confirmIntervalMs: 100, lookupBudgetMs: 10_000 },
      };
      open = await twoNodes(cluster, { settings });
      const [one, two] = open.nodes;
      const text = `before the split, ${Date.now()}`;
      await ask(one, text, { 'x-reprise-tags': 'split' });
      await one.settled();
      expect((await ask(two, text, { 'x-reprise-tags': 'split' })).cache).toContain('hit');

      cluster.split([[0], [1, 2]]);
      const heal = (): boolean => {
        if (performance.now() < splitAtMs + SPLIT_MS) return false;
        cluster.heal();
        return true;
      };
      const peekAt = (node: TestServer): Promise<TestReply> => peek(node, text, { 'x-reprise-tags': 'split' });
      let takenAtMs = Infinity;
      const splitAtMs = performance.now();
      for (let healed = false; performance.now() < splitAtMs + SPLIT_MS + HEALED_MS; healed ||= heal()) {
        const beganAtMs = performance.now();
        if (takenAtMs === Infinity) {
          const replies = await Promise.all([one, two].map((node) => node.post('/admin/invalidate', { tag: 'split' })));
          if (replies.some(({ status }) => status === 200)) takenAtMs = performance.now();
        }
        for (const node of [one, two]) {
          const { status } = await peekAt(node);
          if (beganAtMs > takenAtMs + STALENESS_BOUND_MS) expect(status).toBe(504);
        }
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      process.stderr.write(`an invalidation was taken ${(takenAtMs - splitAtMs).toFixed(0)} ms after the split\n`);
      expect(takenAtMs).toBeLessThan(Infinity);
      for (const node of [one, two]) await until(() => isReady(node, 'ledger'));
      await ask(one, text, { 'x-reprise-tags': 'split' });
      await one.settled();
      await until(async () => (await ask(two, text, { 'x-reprise-tags': 'split' })).cache.includes('hit'));
    },
  );
});

/** What the model says now, and what it must not be heard to say any more. */
class Truth {
  reads = 0;
  hits = 0;
  changes = 0;
  oldestMs = 0;
  readonly violations: string[] = [];
  readonly #versions = Array.from({ length: GROUPS }, () => 0);
  /** By group, by version: when the invalidation before it was acknowledged, and by which node. */
  readonly #acknowledged: Map<number, { readonly atMs: number; readonly node: number }>[] = Array.from(
    { length: GROUPS },
    () => new Map(),
  );

  answer(text: string): string {
    return `version ${this.#versions[Number(/group (\d+)/u.exec(text)?.[1])]}.`;
  }

  async change(nodes: readonly TestServer[], node: number, group: number): Promise<void> {
    const version = (this.#versions[group] ?? 0) + 1;
    this.#versions[group] = version;
    const reply = await nodes[node]!.post('/admin/invalidate', { tag: `group-${group}` });
    if (reply.status !== 200)
      process.stderr.write(`${reply.text} after ${this.changes} changes, ${this.reads} reads\n`);
    expect(reply.status).toBe(200);
    this.changes += 1;
    this.#acknowledged[group]!.set(version, { atMs: performance.now(), node });
  }

  async read(nodes: readonly TestServer[], node: number, asked: { group: number; question: number }): Promise<void> {
    const { group, question } = asked;
    const beganAtMs = performance.now();
    const reply = await ask(nodes[node]!, `group ${group} question ${question}`, {
      'x-reprise-tags': `group-${group}`,
    });
    expect(reply.status).toBe(200);
    this.reads += 1;
    if (reply.cache.startsWith('hit')) this.hits += 1;
    const version = Number(/version (\d+)\./u.exec(reply.text)?.[1]);
    for (const [later, { atMs, node: by }] of this.#acknowledged[group]!) {
      if (later <= version) continue;
      const ageMs = beganAtMs - atMs;
      this.oldestMs = Math.max(this.oldestMs, ageMs);
      if (ageMs > (by === node ? 0 : STALENESS_BOUND_MS)) {
        this.violations.push(`node ${node} gave ${version} of group ${group} ${ageMs} ms after ${later} (node ${by})`);
      }
    }
  }
}

function textOf(body: Record<string, unknown>): string {
  return JSON.stringify(body['messages']);
}
