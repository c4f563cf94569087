import { MemoryGrid } from '../../grid/memory/memory-grid.ts';
import { toRepriseError } from '../../runtime/errors.ts';
import { DEFAULT_NAMESPACE, TEST_MIN_NODE_OPTIONS } from '../../runtime/node/defaults.ts';
import { createNode, type RepriseNode } from '../../runtime/node/node.ts';
import type { Hash } from '../../runtime/ports/hash.ts';
import type { ModelRule, NodeOptions } from '../../runtime/ports/options.ts';
import type { Identity, InferenceRequest } from '../../runtime/ports/service.ts';
import { Kernel } from '../kernel/kernel.ts';
import { integerIn, type SeededRandom } from '../kernel/seeded-random.ts';
import { QuietTelemetry } from '../world/quiet-telemetry.ts';
import { TableEmbedder } from '../world/table-embedder.ts';
import { TableModel } from '../world/table-model.ts';

/** What a run of the scenario came to. */
export interface TwoNodesResult {
  readonly digest: string;
  readonly requests: number;
  readonly modelCalls: number;
  /** Outcomes of both nodes, summed. */
  readonly byOutcome: Readonly<Record<string, number>>;
}

const REQUESTS = 500;
const MEANINGS = 40;
const PHRASINGS = 3;
const MEAN_GAP_MS = 20;
const EVENTS_MAX = 200_000;
const IDENTITY: Identity = { tenant: 'sim', role: 'admin', verified: true };

/**
 * Two nodes on one memory grid, a table model and a table embedder: 500 requests, streamed and not, some abandoned, with
 * invalidations between them. The same seed gives the same digest.
 */
export async function runTwoNodes(deps: {
  readonly seed: string;
  readonly hash: Hash;
  readonly drain: () => Promise<void>;
}): Promise<TwoNodesResult> {
  const kernel = new Kernel({ seed: deps.seed, wallStartMs: 1_700_000_000_000, drain: deps.drain });
  const grid = new MemoryGrid(
    { clock: kernel.clock },
    { roles: { entries: { bytesMax: 1 << 20 }, vectors: { bytesMax: 1 << 20 } }, policy: 'sieve' },
  );
  const model = new TableModel({ clock: kernel.clock, random: kernel.random.fork('model') }, new Map(), {
    name: 'table',
    firstTokenMsMin: 20,
    firstTokenMsMax: 200,
    wordMs: 3,
  });
  const nodes = ['node-1', 'node-2'].map((nodeId) => makeNode(kernel, { nodeId, hash: deps.hash, grid, model }));
  const starting = Promise.all(nodes.map((node) => node.start()));
  let finished = 0;
  plan(kernel, nodes, () => {
    finished += 1;
  });
  const end = await kernel.run({ isDone: () => finished === REQUESTS, eventsMax: EVENTS_MAX });
  kernel.record('end', end);
  await starting;
  const stats = await Promise.all(nodes.map((node) => node.service.stats(IDENTITY)));
  const stopping = Promise.all(nodes.map((node) => node.stop()));
  await kernel.run({ untilMs: kernel.clock.monotonicMs() + 60_000, eventsMax: EVENTS_MAX });
  await stopping;
  const byOutcome: Record<string, number> = {};
  for (const { byOutcome: outcomes } of stats) {
    for (const [outcome, count] of Object.entries(outcomes)) byOutcome[outcome] = (byOutcome[outcome] ?? 0) + count;
  }
  kernel.record('outcomes', JSON.stringify(Object.entries(byOutcome).sort(([a], [b]) => (a < b ? -1 : 1))));
  return { digest: kernel.digest, requests: finished, modelCalls: model.calls, byOutcome };
}

function makeNode(
  kernel: Kernel,
  world: { nodeId: string; hash: Hash; grid: MemoryGrid; model: TableModel },
): RepriseNode {
  const random = kernel.random.fork(world.nodeId);
  const rule: ModelRule = {
    match: '*',
    upstream: 'table',
    as: '',
    version: '1',
    operations: [],
    defaults: {},
    overrides: {},
    price: { promptPerMillion: 1, completionPerMillion: 2 },
  };
  const options: NodeOptions = {
    ...TEST_MIN_NODE_OPTIONS,
    nodeId: world.nodeId,
    namespaces: { default: { ...DEFAULT_NAMESPACE, semantic: 'serve', ttlMs: 5_000, graceMs: 1_000 } },
    semantic: { ...TEST_MIN_NODE_OPTIONS.semantic, embedQueueMax: 64 },
  };
  const resolved = { rule, upstream: 'table', model: world.model };
  return createNode(
    {
      clock: kernel.clock,
      random,
      hash: world.hash,
      telemetry: new QuietTelemetry(),
      grid: world.grid,
      embedder: new TableEmbedder({ clock: kernel.clock, random: kernel.random.fork('embedder') }, meanings(), {
        dimensions: 32,
        windowTokens: 64,
        batchMs: 2,
        textMs: 1,
        spread: 0.2,
      }),
      models: () => ({ resolve: () => resolved, list: () => Promise.resolve(['table']) }),
    },
    options,
  );
}

function text(meaning: number, phrasing: number): string {
  const forms = ['tell me about topic', 'what should i know of topic', 'please explain topic'];
  return `${forms[phrasing]} ${String.fromCharCode(97 + (meaning % 26))}${String.fromCharCode(97 + Math.floor(meaning / 26))}`;
}

function meanings(): Map<string, string> {
  const table = new Map<string, string>();
  for (let meaning = 0; meaning < MEANINGS; meaning += 1) {
    for (let phrasing = 0; phrasing < PHRASINGS; phrasing += 1)
      table.set(text(meaning, phrasing), `meaning ${meaning}`);
  }
  return table;
}

function plan(kernel: Kernel, nodes: readonly RepriseNode[], onEnd: () => void): void {
  const random = kernel.random.fork('workload');
  let atMs = 10;
  for (let index = 0; index < REQUESTS; index += 1) {
    atMs += random.float() * 2 * MEAN_GAP_MS;
    const node = nodes[integerIn(random, 0, nodes.length - 1)]!;
    const own = random.fork(`request ${index}`) as SeededRandom;
    kernel.plan(atMs, `request ${index}`, () => {
      void ask(kernel, node, own, index).finally(onEnd);
    });
    if (index % 50 === 49) kernel.plan(atMs, `invalidate ${index}`, () => void invalidate(kernel, node));
  }
}

async function ask(kernel: Kernel, node: RepriseNode, random: SeededRandom, index: number): Promise<void> {
  const leaving = new AbortController();
  if (random.float() < 0.1) kernel.clock.setTimer(random.float() * 150, () => leaving.abort());
  const isStream = random.float() < 0.5;
  const content = text(integerIn(random, 0, MEANINGS - 1), integerIn(random, 0, PHRASINGS - 1));
  const body = { model: 'table', messages: [{ role: 'user', content }], ...(isStream ? { stream: true } : {}) };
  const request: InferenceRequest = {
    operation: 'chat.completions',
    body: new TextEncoder().encode(JSON.stringify(body)),
    identity: IDENTITY,
    controls: {},
    signal: leaving.signal,
  };
  try {
    if (isStream) {
      const reply = await node.service.inferStream(request);
      kernel.record('status', index, reply.status.outcome, String(reply.status.detail));
      for await (const chunk of reply.chunks) kernel.record('chunk', index, chunk);
    } else {
      const reply = await node.service.infer(request);
      kernel.record('reply', index, reply.status.outcome, String(reply.status.detail), reply.body);
    }
  } catch (error) {
    kernel.record('error', index, toRepriseError(error).code);
  }
}

async function invalidate(kernel: Kernel, node: RepriseNode): Promise<void> {
  const target = { kind: 'namespace', namespace: 'default' } as const;
  const reply = await node.service.invalidate({ target, invalidation: 'hard', purge: false, identity: IDENTITY });
  kernel.record('invalidated', reply.sequence);
}
