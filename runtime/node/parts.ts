import { BreakerGrid, DEFAULT_BREAKER_OPTIONS } from '../../grid/breaker/breaker-grid.ts';
import { NearCache } from '../../grid/near-cache/near-cache.ts';
import { ActorSystem } from '../actor/actor-system.ts';
import { ControlRecord } from '../cache/control-record.ts';
import { Flights } from '../cache/flight.ts';
import { Ledger } from '../cache/ledger.ts';
import { Tiers } from '../cache/tiers.ts';
import type { CredentialWatch } from '../inference/credential-watch.ts';
import { Refusals, REFUSAL_INDEX_SHAPE, type RefusalIndex } from '../inference/refusals.ts';
import type { Clock } from '../ports/clock.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Entry } from '../ports/entry.ts';
import type { Grid, GridRole } from '../ports/grid.ts';
import type { Hash } from '../ports/hash.ts';
import type { Model } from '../ports/model.ts';
import type { ModelDirectory } from '../ports/model-directory.ts';
import type { NodeOptions } from '../ports/options.ts';
import type { Random } from '../ports/random.ts';
import type { Storage } from '../ports/storage.ts';
import type { NearMissLog } from '../ports/near-miss-log.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { Verifier } from '../ports/verifier.ts';
import { SemanticMatcher } from '../semantic/semantic-matcher.ts';

/** Deadline of a grid call that no request waits for. */
export const GRID_CALL_MS = 2_000;

/** What L1 holds twice above an in-process grid, to spare copying and decoding what is asked for most. */
const L1_ABOVE_LOCAL_GRID_BYTES = 32 * 1_024 * 1_024;

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
  /** Absent: what a domain wants verified is never served. */
  readonly verifier?: Verifier;
  /** Where near misses are written down; absent: nowhere. */
  readonly nearMissLog?: NearMissLog;
  /** What is to be said of the calibration: which is in force, or why none is. */
  readonly calibrationDetail?: string;
  readonly credentials?: CredentialWatch;
  /** The upstreams by name; `embedder` is the node's own, when it has one. */
  readonly models: (localEmbedder: Model | undefined) => ModelDirectory;
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
  readonly refusalIndex: ControlRecord<RefusalIndex>;
  readonly refusals: Refusals;
}

function makeNearCache(cache: NodeOptions['cache'], gridIsLocal: boolean): NearCache<Entry> | undefined {
  if (cache.l1 === 'off') return undefined;
  const isSmall = cache.l1 === 'auto' && gridIsLocal;
  const bytesMax = isSmall ? Math.min(cache.l1BytesMax, L1_ABOVE_LOCAL_GRID_BYTES) : cache.l1BytesMax;
  return new NearCache<Entry>({ bytesMax, policy: cache.policy });
}

/** Makes the parts; nothing runs yet. */
export function coreParts(ports: NodePorts, options: NodeOptions): CoreParts {
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
  const nearCache = makeNearCache(cache, gridIsLocal);
  const tiers = new Tiers(
    { grid, ledger, clock, nearCache },
    // A near cache that somebody asked for above a local grid is told apart from it.
    { gridTier: gridIsLocal && cache.l1 !== 'on' ? 'exact-l1' : 'exact-l2' },
  );
  const actors = new ActorSystem({ clock, telemetry });
  const flights = new Flights(
    { actors, clock, telemetry },
    {
      nodeId: options.nodeId,
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
      : new SemanticMatcher(
          {
            embedder,
            grid,
            clock,
            telemetry,
            hash,
            actors,
            ...(ports.verifier === undefined ? {} : { verifier: ports.verifier }),
          },
          options.semantic,
        );
  const control = { grid, storage: ports.storage, ledger };
  const refusalIndex = new ControlRecord<RefusalIndex>('refusals', control, REFUSAL_INDEX_SHAPE);
  const refusals = new Refusals(refusalIndex, { ...control, hash });
  return { grid, ledger, nearCache, tiers, actors, flights, semantic, refusalIndex, refusals };
}
