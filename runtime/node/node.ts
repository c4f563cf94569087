import { BreakerGrid, DEFAULT_BREAKER_OPTIONS } from '../../grid/breaker/breaker-grid.ts';
import { NearCache } from '../../grid/near-cache/near-cache.ts';
import { ActorSystem } from '../actor/actor-system.ts';
import { ControlRecord } from '../cache/control-record.ts';
import { Flights } from '../cache/flight.ts';
import { Ledger } from '../cache/ledger.ts';
import { RequestMemo } from '../cache/request-memo.ts';
import { StoreQueue } from '../cache/store-queue.ts';
import { Tiers } from '../cache/tiers.ts';
import { Accounting } from '../inference/accounting.ts';
import { Completions } from '../inference/completions.ts';
import type { CredentialWatch } from '../inference/credential-watch.ts';
import { Embeddings } from '../inference/embeddings.ts';
import { ExplainMemory } from '../inference/explain-memory.ts';
import { Explainer } from '../inference/explainer.ts';
import { Inference } from '../inference/inference.ts';
import { Invalidation } from '../inference/invalidation.ts';
import { LocalEmbeddingModel } from '../inference/local-embedding-model.ts';
import { Lookup } from '../inference/lookup.ts';
import { ModelCalls } from '../inference/model-calls.ts';
import { Preparer } from '../inference/prepare.ts';
import { Refusals, REFUSALS_SHAPE, type RefusedPairs } from '../inference/refusals.ts';
import { StoreAnswers } from '../inference/store-answers.ts';
import type { Clock } from '../ports/clock.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Entry } from '../ports/entry.ts';
import type { Grid, GridRole } from '../ports/grid.ts';
import type { Hash } from '../ports/hash.ts';
import type { Model } from '../ports/model.ts';
import type { ModelDirectory } from '../ports/model-directory.ts';
import type { NodeOptions } from '../ports/options.ts';
import type { Random } from '../ports/random.ts';
import type { InferenceService } from '../ports/service.ts';
import type { Storage } from '../ports/storage.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { SemanticMatcher } from '../semantic/semantic-matcher.ts';
import { Background } from './background.ts';
import { NodeStatus } from './status.ts';

/** Name of the built-in upstream that serves the node's own embedder. */
export const LOCAL_EMBEDDER = 'embedder';

/** What a node needs of the world. */
export interface NodePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly hash: Hash;
  readonly telemetry: Telemetry;
  readonly grid: Grid;
  /** What an in-process grid holds; absent for a remote one. */
  readonly localGrid?: {
    stats(role: GridRole): { readonly bytes: number; readonly items: number; readonly evictions: number };
  };
  readonly storage?: Storage;
  /** Absent: semantic matching is off; `embedderMissing` says why. */
  readonly embedder?: Embedder;
  readonly embedderMissing?: string;
  readonly credentials?: CredentialWatch;
  /** The upstreams by name; `embedder` is the node's own, when it has one. */
  readonly models: (localEmbedder: Model | undefined) => ModelDirectory;
}

/** One running node: the assembly that production and the simulator share. */
export interface RepriseNode {
  readonly service: InferenceService;
  /** Reads ledger and control state; resolves once tried, whether or not the grid answered. */
  start(): Promise<void>;
  /** Waits for background stores, bounded by `limitMs`. */
  drain(limitMs: number): Promise<void>;
  stop(): Promise<void>;
  /** Sets the gauges; called before each scrape. */
  sample(): void;
}

const GRID_CALL_MS = 2_000;
const PURGE_MS = 60_000;
const CONTROL_SYNC_MS = 5_000;

/** Puts a node together; nothing runs before `start`. */
export function createNode(ports: NodePorts, options: NodeOptions): RepriseNode {
  const { clock, random, hash, telemetry } = ports;
  const core = coreParts(ports, options);
  const { grid, ledger, tiers, semantic, refusalRecord } = core;
  const background = new Background(telemetry);
  const models = ports.models(
    semantic === undefined ? undefined : new LocalEmbeddingModel(semantic, ports.embedder!.id),
  );
  const accounting = new Accounting({ clock, telemetry });
  const explain = new ExplainMemory(hash, { entriesMax: options.cache.explainEntriesMax });
  const queue = new StoreQueue(
    { clock, telemetry },
    { bytesMax: options.cache.storeQueueBytesMax, concurrency: 4, deadlineMs: options.cache.storeDeadlineMs },
  );
  const store = new StoreAnswers(
    { clock, ledger, tiers, queue, semantic, explain, telemetry },
    { nodeId: options.nodeId, entryBytesMax: options.cache.entryBytesMax },
  );
  const refusals = new Refusals(refusalRecord, hash);
  const lookup = new Lookup({ tiers, semantic, refusals, clock, telemetry }, options.cache);
  const budgets = { modelTimeoutMs: options.modelTimeoutMs, lookupBudgetMs: options.cache.lookupBudgetMs };
  const calls = new ModelCalls({ clock, tiers, accounting, credentials: ports.credentials, store }, budgets);
  const memo =
    options.cache.bodyMemoBytesMax > 0 ? new RequestMemo({ bytesMax: options.cache.bodyMemoBytesMax }) : undefined;
  const status = new NodeStatus({ ...ports, ...core, queue }, options);
  const service = new Inference(
    {
      clock,
      preparer: new Preparer({ clock, random, hash, ledger, models, memo }, options),
      lookup,
      completions: new Completions({
        clock,
        telemetry,
        ledger,
        lookup,
        flights: core.flights,
        calls,
        store,
        accounting,
        background: background.run,
      }),
      embeddings: new Embeddings(
        {
          clock,
          hash,
          telemetry,
          ledger,
          tiers,
          store,
          accounting,
          credentials: ports.credentials,
          background: background.run,
        },
        budgets,
      ),
      invalidation: new Invalidation(
        { clock, grid, ledger, tiers, semantic, telemetry },
        { stalenessBoundMs: options.cache.stalenessBoundMs, timeoutMs: GRID_CALL_MS, purgeTimeoutMs: PURGE_MS },
      ),
      explainer: new Explainer({ clock, ledger, tiers, lookup, memory: explain }, { timeoutMs: GRID_CALL_MS }),
      refusals,
      store,
      accounting,
      models,
      peek: (key) => tiers.peek(key, { deadlineAtMs: clock.monotonicMs() + GRID_CALL_MS }),
      stats: () => status.stats(),
      readiness: () => status.readiness(),
    },
    { timeoutMs: options.cache.storeDeadlineMs },
  );
  return {
    service,
    start: () => startNode(ports, core),
    async drain(limitMs) {
      await queue.drain(clock.monotonicMs() + limitMs);
    },
    async stop() {
      await ledger.stop();
      await semantic?.stop();
      await core.actors.stop();
      await grid.close();
    },
    sample: () => status.sample(),
  };
}

/** The parts that both the use cases and the node's status look at. */
export interface CoreParts {
  readonly grid: Grid;
  readonly ledger: Ledger;
  readonly nearCache: NearCache<Entry> | undefined;
  readonly tiers: Tiers;
  readonly actors: ActorSystem;
  readonly flights: Flights;
  readonly semantic: SemanticMatcher | undefined;
  readonly refusalRecord: ControlRecord<RefusedPairs>;
}

function coreParts(ports: NodePorts, options: NodeOptions): CoreParts {
  const { clock, random, hash, telemetry } = ports;
  const { cache } = options;
  const gridIsLocal = ports.localGrid !== undefined;
  const grid: Grid = gridIsLocal
    ? ports.grid
    : new BreakerGrid({ grid: ports.grid, clock, random: random.fork('breaker'), telemetry }, DEFAULT_BREAKER_OPTIONS);
  const ledger = new Ledger(
    { grid, clock, random: random.fork('ledger'), telemetry },
    {
      stalenessBoundMs: cache.stalenessBoundMs,
      unconfirmedMs: cache.unconfirmedMs,
      confirmIntervalMs: cache.confirmIntervalMs,
      callTimeoutMs: GRID_CALL_MS,
    },
  );
  const withL1 = cache.l1 === 'on' || (cache.l1 === 'auto' && !gridIsLocal);
  const nearCache = withL1 ? new NearCache<Entry>({ bytesMax: cache.l1BytesMax, policy: cache.policy }) : undefined;
  const tiers = new Tiers({ grid, ledger, clock, nearCache }, { gridIsLocal: gridIsLocal && !withL1 });
  const actors = new ActorSystem({ clock, telemetry });
  const flights = new Flights(
    { actors, clock, telemetry },
    {
      flightsMax: options.flight.flightsMax,
      streamWindowBytes: options.flight.streamWindowBytes,
      entryBytesMax: cache.entryBytesMax,
      joinDeadlineMs: cache.joinDeadlineMs,
      abandoned: cache.abandonedFlight,
    },
  );
  const { embedder } = ports;
  const semantic =
    embedder === undefined
      ? undefined
      : new SemanticMatcher({ embedder, grid, clock, telemetry, hash, actors }, options.semantic);
  const refusalRecord = new ControlRecord<RefusedPairs>(
    'refusals',
    { grid, storage: ports.storage, ledger },
    REFUSALS_SHAPE,
  );
  return { grid, ledger, nearCache, tiers, actors, flights, semantic, refusalRecord };
}

async function startNode(ports: NodePorts, core: CoreParts): Promise<void> {
  const { clock, telemetry } = ports;
  core.ledger.start();
  const options = { deadlineAtMs: clock.monotonicMs() + CONTROL_SYNC_MS };
  const tried = await Promise.allSettled([core.ledger.confirm(options), core.refusalRecord.load(options)]);
  for (const result of tried) {
    if (result.status === 'rejected') telemetry.log('warn', 'grid not reached at start; serving without it', {});
  }
}
