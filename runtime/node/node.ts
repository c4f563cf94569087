import { RequestMemo } from '../cache/request-memo.ts';
import { StoreQueue } from '../cache/store-queue.ts';
import { Accounting } from '../inference/accounting.ts';
import { Completions } from '../inference/completions.ts';
import { Embeddings } from '../inference/embeddings.ts';
import { EntryTransfer } from '../inference/entry-transfer.ts';
import { ExplainMemory } from '../inference/explain-memory.ts';
import { Explainer } from '../inference/explainer.ts';
import { Inference } from '../inference/inference.ts';
import { Invalidation } from '../inference/invalidation.ts';
import { LocalEmbeddingModel } from '../inference/local-embedding-model.ts';
import { Lookup } from '../inference/lookup.ts';
import { ModelCalls } from '../inference/model-calls.ts';
import { NearMisses } from '../inference/near-misses.ts';
import { Preparer } from '../inference/prepare.ts';
import { Recorder } from '../inference/recorder.ts';
import { StoreAnswers } from '../inference/store-answers.ts';
import type { NodeOptions } from '../ports/options.ts';
import type { Recordings } from '../ports/recording.ts';
import type { InferenceService } from '../ports/service.ts';
import type { Transfer } from '../ports/transfer.ts';
import { Background } from './background.ts';
import { coreParts, GRID_CALL_MS, type CoreParts, type NodePorts } from './parts.ts';
import { UpstreamHealth } from '../inference/upstream-health.ts';
import { Seeding } from './seeding.ts';
import { NodeStatus } from './status.ts';

export type { NodePorts } from './parts.ts';

/** Name of the built-in upstream that serves the node's own embedder. */
export const LOCAL_EMBEDDER = 'embedder';

/** One running node: the assembly that production and the simulator share. */
export interface RepriseNode {
  readonly service: InferenceService;
  readonly recordings: Recordings;
  /** Carries entries in and out. */
  readonly transfer: Transfer;
  /** Reads ledger and control state; resolves once tried, whether or not the grid answered. */
  start(): Promise<void>;
  /** Waits for background stores, bounded by `limitMs`. */
  drain(limitMs: number): Promise<void>;
  /** Ends the model calls under way, and the streams that they feed, with `draining`. New ones are refused. */
  cut(): void;
  stop(): Promise<void>;
  /** Sets the gauges; called before each scrape. */
  sample(): void;
}

const PURGE_MS = 60_000;
/** Four calls to the grid one after the other, after those of the invalidations before it. */
const INVALIDATE_MS = 10_000;
const TRANSFER_MS = 20_000;
const STORES_AT_ONCE = 4;
/** Vectors wait for the embedder, answers don't: what comes too late is looked up word for word only. */
const VECTOR_QUEUE_BYTES = 16 * 1_024 * 1_024;
const VECTOR_STORE_MS = 60_000;
const CONTROL_SYNC_MS = 5_000;
const CONNECT_MS = 3_000;
const CONNECT_POLL_MS = 50;

/** Puts a node together; nothing runs before `start`. */
export function createNode(ports: NodePorts, options: NodeOptions): RepriseNode {
  const { clock, hash, telemetry } = ports;
  const core = coreParts(ports, options);
  const background = new Background(telemetry);
  const queue = new StoreQueue(
    { clock, telemetry },
    {
      bytesMax: options.cache.storeQueueBytesMax,
      concurrency: STORES_AT_ONCE,
      deadlineMs: options.cache.storeDeadlineMs,
      kind: 'entries',
    },
  );
  const vectorQueue = new StoreQueue(
    { clock, telemetry },
    {
      bytesMax: VECTOR_QUEUE_BYTES,
      concurrency: options.semantic.embedBatchMax,
      deadlineMs: VECTOR_STORE_MS,
      kind: 'vectors',
    },
  );
  const upstreams = new UpstreamHealth();
  const status = new NodeStatus({ ...ports, ...core, queue, upstreams }, options);
  const memory = new ExplainMemory(hash, {
    entriesMax: options.cache.explainEntriesMax,
    bytesMax: options.cache.explainBytesMax,
  });
  const recorder = new Recorder(ports, { embedder: ports.embedder?.id ?? '', texts: options.recording.texts });
  const service = makeService(ports, options, {
    ...core,
    background,
    queue,
    vectorQueue,
    status,
    upstreams,
    memory,
    recorder,
  });
  const seeding = new Seeding(clock, (within) => core.refusals.seed(within));
  core.ledger.onBegin(() => background.run('seed_control', () => seeding.run()));
  return {
    service,
    recordings: recorder,
    transfer: new EntryTransfer(
      { clock, ...core },
      { entryBytesMax: options.cache.entryBytesMax, timeoutMs: TRANSFER_MS },
    ),
    start: () => startNode(ports, core),
    async drain(limitMs) {
      const deadlineAtMs = clock.monotonicMs() + limitMs;
      await queue.drain(deadlineAtMs);
      await vectorQueue.drain(deadlineAtMs);
    },
    cut: () => core.flights.stop(),
    async stop() {
      recorder.stop();
      seeding.stop();
      await core.ledger.stop();
      core.flights.stop();
      await core.semantic?.stop();
      await core.actors.stop();
      await core.grid.close();
    },
    sample: () => status.sample(),
  };
}

interface ServiceParts extends CoreParts {
  readonly background: Background;
  readonly queue: StoreQueue;
  readonly vectorQueue: StoreQueue;
  readonly status: NodeStatus;
  readonly upstreams: UpstreamHealth;
  readonly memory: ExplainMemory;
  readonly recorder: Recorder;
}

function nearMissesOf(
  { nearMissLog, clock, hash, telemetry }: NodePorts,
  options: NodeOptions,
): NearMisses | undefined {
  if (nearMissLog === undefined) return undefined;
  return new NearMisses(nearMissLog, { clock, hash, telemetry }, options.semantic.nearMiss);
}

function invalidationOf(ports: NodePorts, { cache }: NodeOptions, parts: ServiceParts): Invalidation {
  const { clock, telemetry, localGrid } = ports;
  const { grid, ledger, tiers, semantic } = parts;
  return new Invalidation(
    { clock, grid, ledger, tiers, semantic, telemetry },
    {
      stalenessBoundMs: cache.stalenessBoundMs,
      timeoutMs: INVALIDATE_MS,
      purgeTimeoutMs: PURGE_MS,
      reach: localGrid === undefined ? 'grid' : 'node',
    },
  );
}

function makeService(ports: NodePorts, options: NodeOptions, parts: ServiceParts): InferenceService {
  const { clock, random, hash, telemetry, credentials } = ports;
  const { ledger, tiers, semantic, flights, memory, recorder } = parts;
  const { cache } = options;
  const background = parts.background.run;
  const models = ports.models(
    semantic === undefined ? undefined : new LocalEmbeddingModel(semantic, ports.embedder!.id),
  );
  const accounting = new Accounting({ clock, telemetry, upstreams: parts.upstreams });
  const store = new StoreAnswers(
    { clock, ledger, tiers, queue: parts.queue, vectorQueue: parts.vectorQueue, semantic, explain: memory, telemetry },
    { nodeId: options.nodeId, entryBytesMax: cache.entryBytesMax },
  );
  const { refusals } = parts;
  const nearMisses = nearMissesOf(ports, options);
  const { lookupBudgetMs, joinDeadlineMs } = cache;
  const lookup = new Lookup(
    { tiers, semantic, refusals, clock, telemetry, nearMisses },
    { lookupBudgetMs, verifierTimeoutMs: options.semantic.verifier.timeoutMs },
  );
  const budgets = { modelTimeoutMs: options.modelTimeoutMs, lookupBudgetMs, joinDeadlineMs };
  const calls = new ModelCalls({ clock, tiers, accounting, credentials, store }, budgets);
  const memo = cache.bodyMemoBytesMax > 0 ? new RequestMemo({ bytesMax: cache.bodyMemoBytesMax }) : undefined;
  return new Inference(
    {
      clock,
      preparer: new Preparer({ clock, random, hash, ledger, models, memo, scoped: semantic !== undefined }, options),
      lookup,
      completions: new Completions({
        clock,
        telemetry,
        ledger,
        lookup,
        tiers,
        flights,
        calls,
        store,
        accounting,
        background,
      }),
      embeddings: new Embeddings(
        { clock, hash, telemetry, ledger, tiers, store, accounting, credentials, recorder, background },
        budgets,
      ),
      invalidation: invalidationOf(ports, options, parts),
      explainer: new Explainer(
        { clock, ledger, tiers, lookup, memory },
        {
          timeoutMs: GRID_CALL_MS,
          semanticOff: semantic === undefined ? (ports.embedderMissing ?? 'no embedder') : undefined,
          verifier: ports.verifier?.id ?? '',
          calibration: ports.calibrationDetail ?? 'none',
        },
      ),
      refusals,
      store,
      accounting,
      models,
      peek: (key) => tiers.peek(key, { deadlineAtMs: clock.monotonicMs() + GRID_CALL_MS }),
      status: parts.status,
      recorder,
    },
    { timeoutMs: cache.storeDeadlineMs },
  );
}

async function startNode(ports: NodePorts, core: CoreParts): Promise<void> {
  const { clock, telemetry } = ports;
  core.ledger.start();
  const beginAtMs = clock.monotonicMs();
  const options = { deadlineAtMs: beginAtMs + CONTROL_SYNC_MS };
  for (;;) {
    const tried = await Promise.allSettled([core.ledger.confirm(options), core.refusalIndex.load(options)]);
    if (tried.every(({ status }) => status === 'fulfilled')) return;
    // A grid beyond this process takes a moment to connect to.
    if (clock.monotonicMs() - beginAtMs >= CONNECT_MS) break;
    await clock.sleep(CONNECT_POLL_MS);
  }
  telemetry.log('warn', 'grid not reached at start; serving without it', {});
}
