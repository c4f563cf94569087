import type { StoreQueue } from '../cache/store-queue.ts';
import type { NodeOptions } from '../ports/options.ts';
import type { Readiness, ReadinessPart } from '../ports/service.ts';
import type { NodeState, OwnStats } from '../inference/node-state.ts';
import type { UpstreamHealth } from '../inference/upstream-health.ts';
import type { CoreParts, NodePorts } from './parts.ts';

type Parts = NodePorts & CoreParts & { readonly queue: StoreQueue; readonly upstreams: UpstreamHealth };
const SIZE_MS = 1_000;

/** What a node tells of itself: stats, readiness, gauges. */
export class NodeStatus implements NodeState {
  readonly #parts: Parts;
  readonly #options: NodeOptions;
  readonly #startedAtMs: number;
  #evictionsSeen = 0;
  #nearEvictionsSeen = 0;

  constructor(parts: Parts, options: NodeOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#startedAtMs = parts.clock.monotonicMs();
  }

  async stats(): Promise<OwnStats> {
    const { clock, grid, ledger, localGrid, nearCache } = this.#parts;
    const options = { deadlineAtMs: clock.monotonicMs() + SIZE_MS };
    const [entries, vectors] = await Promise.all([
      grid.size('entries', options).catch(() => 0),
      grid.size('vectors', options).catch(() => 0),
    ]);
    return {
      entries,
      entryBytes: localGrid?.stats('entries').bytes ?? nearCache?.bytes ?? 0,
      vectors,
      evictions: (localGrid?.stats('entries').evictions ?? 0) + (nearCache?.evictions ?? 0),
      ledgerSequence: ledger.position?.sequence ?? 0,
      ledgerConfirmedAgeMs: ledger.confirmedAgeMs(),
      semantic: this.#semantic().detail,
      uptimeMs: clock.monotonicMs() - this.#startedAtMs,
    };
  }

  readiness(): Readiness {
    const { ledger, grid } = this.#parts;
    const health = grid.health();
    const confirmed = ledger.freshness(true) === 'confirmed';
    const parts: ReadinessPart[] = [
      { name: 'grid', state: health.state === 'up' ? 'ready' : 'degraded', detail: health.detail },
      {
        name: 'ledger',
        state: confirmed ? 'ready' : 'degraded',
        detail: confirmed ? 'confirmed' : 'not confirmed within the staleness bound; strict namespaces serve no hits',
      },
      this.#semantic(),
      this.#models(),
    ];
    return { ready: parts.every((part) => part.state !== 'failed'), parts };
  }

  sample(): void {
    const { telemetry, ledger, localGrid, nearCache, queue, semantic } = this.#parts;
    const ageMs = ledger.confirmedAgeMs();
    telemetry.gauge('reprise_ledger_confirmed_age_seconds').set(Number.isFinite(ageMs) ? ageMs / 1_000 : -1);
    telemetry.gauge('reprise_ledger_sequence').set(ledger.position?.sequence ?? 0);
    telemetry.gauge('reprise_store_queue_bytes').set(queue.bytes);
    telemetry.gauge('reprise_calibration_in_force').set(this.#options.calibration === undefined ? 0 : 1);
    telemetry.gauge('reprise_refused_pairs').set(this.#parts.refusals.size);
    telemetry.gauge('reprise_embedder_up').set(semantic?.state.ready === true ? 1 : 0);
    if (nearCache !== undefined) {
      telemetry.gauge('reprise_near_cache_bytes').set(nearCache.bytes);
      telemetry.gauge('reprise_near_cache_entries').set(nearCache.size);
      telemetry.counter('reprise_near_cache_evictions_total').add(nearCache.evictions - this.#nearEvictionsSeen);
      this.#nearEvictionsSeen = nearCache.evictions;
    }
    if (localGrid === undefined) return;
    for (const role of ['entries', 'vectors'] as const) {
      const stats = localGrid.stats(role);
      telemetry.gauge('reprise_grid_bytes', role).set(stats.bytes);
      telemetry.gauge('reprise_grid_entries', role).set(stats.items);
    }
    const { evictions } = localGrid.stats('entries');
    telemetry.counter('reprise_grid_evictions_total', 'entries').add(evictions - this.#evictionsSeen);
    this.#evictionsSeen = evictions;
  }

  /** A node whose upstreams are down still serves what it has: that is no reason to take it out. */
  #models(): ReadinessPart {
    const { upstreams, clock } = this.#parts;
    const { failing } = upstreams;
    if (failing.length === 0) return { name: 'models', state: 'ready', detail: 'no upstream is known to fail' };
    const nowMs = clock.monotonicMs();
    const told = failing.map(({ upstream, code, failures, sinceMs }) => {
      const seconds = Math.round((nowMs - sinceMs) / 1_000);
      return `${upstream}: the last ${failures} calls failed (${code}), for ${seconds} s`;
    });
    return { name: 'models', state: 'degraded', detail: told.join('; ') };
  }

  #semantic(): ReadinessPart {
    const { semantic, embedderMissing, calibrationDetail } = this.#parts;
    if (semantic === undefined) {
      return { name: 'semantic', state: 'degraded', detail: `off: ${embedderMissing ?? 'no embedder'}` };
    }
    const calibrated = calibrationDetail === undefined ? '' : `; ${calibrationDetail}`;
    const modes = new Set(Object.values(this.#options.namespaces).map((namespace) => namespace.semantic));
    const { ready, embedderId, detail } = semantic.state;
    if (!ready) return { name: 'semantic', state: 'degraded', detail };
    return { name: 'semantic', state: 'ready', detail: `${[...modes].join('/')} by ${embedderId}${calibrated}` };
  }
}
