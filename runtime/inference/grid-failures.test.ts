import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { MemoryGrid } from '../../grid/memory/memory-grid.ts';
import { SeededRandom } from '../../simulation/kernel/seeded-random.ts';
import { QuietTelemetry } from '../../simulation/world/quiet-telemetry.ts';
import { RepriseError } from '../errors.ts';
import { NodeHash } from '../host/node-hash.ts';
import { FunctionModel } from '../models/function-model.ts';
import { DEFAULT_NAMESPACE, DEFAULT_NODE_OPTIONS } from '../node/defaults.ts';
import { createNode, type RepriseNode } from '../node/node.ts';
import type { Grid } from '../ports/grid.ts';
import type { ModelRule } from '../ports/options.ts';
import type { CacheControls, Identity, InferenceReply, InferenceRequest } from '../ports/service.ts';

const IDENTITY: Identity = { tenant: 't', role: 'admin', verified: true };
const CALLS = new Set([
  'get',
  'getAll',
  'set',
  'setAll',
  'remove',
  'putIfAbsent',
  'replaceIfSame',
  'query',
  'scan',
  'size',
]);
const RULE: ModelRule = {
  match: '*',
  upstream: 'table',
  as: '',
  version: '',
  operations: [],
  defaults: {},
  overrides: {},
  price: { promptPerMillion: 0, completionPerMillion: 0 },
};
const encoder = new TextEncoder();

/** A remote grid that works, refuses every call, or never answers one, as the test says now. */
interface FaultyGrid {
  readonly grid: Grid;
  state: 'works' | 'refuses' | 'hangs';
}

function faulty(inner: Grid): FaultyGrid {
  const grid = new Proxy(inner, {
    get(target, name: keyof Grid) {
      const call = target[name].bind(target) as (...args: unknown[]) => unknown;
      if (!CALLS.has(name)) return call;
      return (...args: unknown[]) => {
        if (world.state === 'works') return call(...args);
        if (world.state === 'hangs') return new Promise(() => undefined);
        return Promise.reject(new RepriseError('grid_unavailable', 'The member is gone.'));
      };
    },
  });
  const world: FaultyGrid = { grid, state: 'works' };
  return world;
}

let clock: ManualClock;
let memory: MemoryGrid;
let world: FaultyGrid;
let model: FunctionModel;
let calls: number;

beforeEach(() => {
  clock = new ManualClock();
  memory = new MemoryGrid(
    { clock },
    { roles: { entries: { bytesMax: 1 << 24 }, vectors: { bytesMax: 1 << 20 } }, policy: 'lru' },
  );
  world = faulty(memory);
  calls = 0;
  model = new FunctionModel({ clock }, () => Promise.resolve(answer((calls += 1))), {
    name: 'table',
    models: ['table'],
  });
});

function answer(number: number): Record<string, unknown> {
  const message = { role: 'assistant', content: `Answer ${number}.` };
  return { id: `call-${number}`, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
}

interface Started {
  readonly node: RepriseNode;
  readonly telemetry: QuietTelemetry;
}

function makeNode(nodeId = 'node-1'): Started {
  const telemetry = new QuietTelemetry();
  const node = createNode(
    {
      clock,
      random: new SeededRandom(nodeId),
      hash: new NodeHash(),
      telemetry,
      grid: world.grid,
      models: () => ({
        resolve: () => ({ rule: RULE, upstream: 'table', model }),
        list: () => Promise.resolve(['table']),
      }),
    },
    {
      ...DEFAULT_NODE_OPTIONS,
      nodeId,
      namespaces: { default: DEFAULT_NAMESPACE, strict: { ...DEFAULT_NAMESPACE, strict: true } },
    },
  );
  return { node, telemetry };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
}

/** Moves the clock in steps, so that the node's periodic work goes on in between. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    clock.advance(Math.min(100, left));
    await turns();
  }
}

function ask({ node }: Started, text: string, controls: CacheControls = {}): Promise<InferenceReply> {
  const body = encoder.encode(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }));
  const signal = new AbortController().signal;
  const request: InferenceRequest = { operation: 'chat.completions', body, identity: IDENTITY, controls, signal };
  return node.service.infer(request);
}

/** A request's reply while time passes; its latency on the test's clock. */
async function timed(started: Started, text: string): Promise<{ reply: InferenceReply; ms: number }> {
  const startedAtMs = clock.monotonicMs();
  let reply: InferenceReply | undefined;
  const asked = ask(started, text).then((answer) => (reply = answer));
  for (let step = 0; reply === undefined && step < 1_000; step += 1) {
    await turns();
    if (reply === undefined) clock.advance(10);
  }
  return { reply: await asked, ms: clock.monotonicMs() - startedAtMs };
}

describe('two nodes on one grid', () => {
  it('share answers: L2 first, then each its own L1', async () => {
    const [one, two] = [makeNode('node-1'), makeNode('node-2')];
    await one.node.start();
    await two.node.start();
    expect((await ask(one, 'shared')).status.outcome).toBe('miss');
    await one.node.drain(1_000);
    expect((await ask(one, 'shared')).status.detail).toBe('exact-l1');
    expect((await ask(two, 'shared')).status.detail).toBe('exact-l2');
    expect((await ask(two, 'shared')).status.detail).toBe('exact-l1');
    expect(calls).toBe(1);
  });

  it('obey an invalidation of one another within the staleness bound', async () => {
    const [one, two] = [makeNode('node-1'), makeNode('node-2')];
    await one.node.start();
    await two.node.start();
    await ask(one, 'news');
    await one.node.drain(1_000);
    await ask(two, 'news');
    const target = { kind: 'namespace', namespace: 'default' } as const;
    const { stalenessBoundMs } = await one.node.service.invalidate({
      target,
      invalidation: 'hard',
      purge: false,
      identity: IDENTITY,
    });
    expect((await ask(one, 'news')).status.outcome).toBe('miss');
    await pass(stalenessBoundMs);
    await two.node.drain(1_000);
    const later = await ask(two, 'news');
    expect(later.status.ageMs).toBeLessThanOrEqual(stalenessBoundMs);
    expect(calls).toBe(2);
  });
});

describe('a grid that is away at the start', () => {
  it('costs the cache, not the answers; it is used when it comes', async () => {
    world.state = 'refuses';
    const started = makeNode();
    const starting = started.node.start();
    await pass(5_000);
    await starting;
    const reply = await ask(started, 'early');
    expect(reply.status).toMatchObject({ outcome: 'bypass', detail: 'ledger', stored: false });
    expect(started.node.service.readiness().parts).toContainEqual(
      expect.objectContaining({ name: 'ledger', state: 'degraded' }),
    );
    world.state = 'works';
    await pass(5_000);
    expect((await ask(started, 'early')).status).toMatchObject({ outcome: 'miss', stored: true });
    await started.node.drain(1_000);
    expect((await ask(started, 'early')).status.outcome).toBe('hit');
    expect(started.node.service.readiness().ready).toBe(true);
  });

  it('that never answers does not keep the node from starting', async () => {
    world.state = 'hangs';
    const started = makeNode();
    let isStarted = false;
    const starting = started.node.start().then(() => (isStarted = true));
    await pass(10_000);
    expect(isStarted).toBe(true);
    await starting;
    expect((await timed(started, 'early')).reply.status.outcome).toBe('bypass');
  });
});

describe('a grid that goes away', () => {
  it.each(['refuses', 'hangs'] as const)('(%s) fails no request and delays none beyond the budget', async (state) => {
    const started = makeNode();
    await started.node.start();
    world.state = state;
    for (let turn = 0; turn < 10; turn += 1) {
      const { reply, ms } = await timed(started, `new ${turn}`);
      expect(reply.status.outcome).toBe('bypass');
      expect(ms).toBeLessThanOrEqual(50);
    }
    expect(calls).toBe(10);
  });

  it('once its breaker is open, is not waited for at all', async () => {
    const started = makeNode();
    await started.node.start();
    world.state = 'hangs';
    for (let turn = 0; turn < 10; turn += 1) await timed(started, `new ${turn}`);
    expect((await timed(started, 'newest')).ms).toBe(0);
  });

  it('hits of L1 go on, marked unconfirmed after the staleness bound, until unconfirmedMs', async () => {
    const started = makeNode();
    await started.node.start();
    await ask(started, 'kept');
    await started.node.drain(1_000);
    world.state = 'refuses';
    await pass(1_000);
    expect((await ask(started, 'kept')).status).toMatchObject({ outcome: 'hit', unconfirmed: false });
    await pass(3_000);
    expect((await ask(started, 'kept')).status).toMatchObject({ outcome: 'hit', unconfirmed: true });
    expect(started.telemetry.count('reprise_unconfirmed_hits_total')).toBe(1);
    await pass(60_000);
    expect((await ask(started, 'kept')).status.outcome).toBe('bypass');
    world.state = 'works';
    await pass(5_000);
    expect((await ask(started, 'kept')).status).toMatchObject({ outcome: 'hit', unconfirmed: false });
  });

  it('a strict namespace serves no hit that the ledger does not confirm', async () => {
    const started = makeNode();
    await started.node.start();
    await ask(started, 'strict', { namespace: 'strict' });
    await started.node.drain(1_000);
    world.state = 'refuses';
    await pass(1_000);
    expect((await ask(started, 'strict', { namespace: 'strict' })).status.outcome).toBe('hit');
    await pass(3_000);
    expect((await ask(started, 'strict', { namespace: 'strict' })).status.outcome).not.toBe('hit');
  });

  it.each(['refuses', 'hangs'] as const)('(%s) fails an invalidation with its code, in time', async (state) => {
    const started = makeNode();
    await started.node.start();
    world.state = state;
    const target = { kind: 'tag', tag: 'x' } as const;
    const failed = expect(
      started.node.service.invalidate({ target, invalidation: 'hard', purge: true, identity: IDENTITY }),
    ).rejects.toMatchObject({ code: 'grid_unavailable' });
    await pass(10_500);
    await failed;
  });

  it('answers of the time are not stored, and counted as such', async () => {
    const started = makeNode();
    await started.node.start();
    world.state = 'refuses';
    await ask(started, 'lost');
    await started.node.drain(1_000);
    expect(started.telemetry.count('reprise_stores_total', 'failed')).toBe(1);
    world.state = 'works';
    await pass(5_000);
    expect((await ask(started, 'lost')).status.outcome).toBe('miss');
  });

  it('that lost everything is filled again, and nothing old comes back', async () => {
    const started = makeNode();
    await started.node.start();
    await ask(started, 'old');
    await started.node.drain(1_000);
    await memory.remove('ledger', 'head', { deadlineAtMs: Infinity });
    await pass(1_000);
    expect((await ask(started, 'old')).status.outcome).toBe('miss');
    await started.node.drain(1_000);
    expect((await ask(started, 'old')).status.outcome).toBe('hit');
  });
});
