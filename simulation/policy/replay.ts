import type { EvictionPolicy, Resident } from '../../runtime/policy/eviction-policy.ts';
import { POLICIES } from '../../runtime/policy/policies.ts';
import { POLICY_NAMES, type PolicyName } from '../../runtime/ports/options.ts';
import type { TraceBatch, TraceSource } from '../workload/trace.ts';
import { RepriseError } from '../../runtime/errors.ts';
import { BOUND_NAMES, type BoundName, clairvoyant, isBound } from './clairvoyant.ts';
import type { ReplayOptions, ReplayRow, ReplayRun } from './replay-row.ts';

export type { ReplayOptions, ReplayRow, ReplayRun } from './replay-row.ts';

/** The names that a run takes. */
export const REPLAY_NAMES: readonly string[] = [...POLICY_NAMES, ...BOUND_NAMES];

/** Replays a trace through policies, all in one reading of it; clairvoyant bounds keep the trace in memory. */
export async function replay(
  source: TraceSource,
  runs: readonly ReplayRun[],
  options: ReplayOptions = {},
): Promise<readonly ReplayRow[]> {
  const caches = runs.map((run) => (isBound(run.policy) ? undefined : new ReplayCache(run, options)));
  const isWhole = runs.some((run) => isBound(run.policy));
  const kept: TraceBatch[] = [];
  let requests = 0;
  for await (const batch of source.batches()) {
    for (const cache of caches) cache?.run(batch);
    if (isWhole) kept.push(batch);
    requests += batch.count;
    options.onProgress?.(requests);
  }
  return runs.map((run, at) => {
    const cache = caches[at];
    return cache === undefined
      ? clairvoyant(source.name, kept, run as ReplayRun & { policy: BoundName }, options)
      : cache.row(source.name, requests);
  });
}

/** A cache of handles only, as an owner would hold them. */
class ReplayCache {
  readonly #run: ReplayRun;
  readonly #options: ReplayOptions;
  readonly #policy: EvictionPolicy<number>;
  readonly #residents = new Map<number, Resident<number>>();
  readonly #windows: number[] = [];
  #windowRequests = 0;
  #windowMisses = 0;
  #hits = 0;
  #missBytes = 0;
  #elapsedMs = 0;

  constructor(run: ReplayRun, options: ReplayOptions) {
    if (!Object.hasOwn(POLICIES, run.policy)) {
      throw new RepriseError('invalid_request', `${run.policy} is no policy; there are ${REPLAY_NAMES.join(', ')}`);
    }
    this.#run = run;
    this.#options = options;
    this.#policy = POLICIES[run.policy as PolicyName]<number>(run.size);
  }

  run(batch: TraceBatch): void {
    const startedAtMs = this.#options.nowMs?.() ?? 0;
    const width = this.#options.windowRequests;
    if (width === undefined) {
      this.#replay(batch, 0, batch.count);
    } else {
      for (let from = 0; from < batch.count;) {
        const to = Math.min(batch.count, from + width - this.#windowRequests);
        const hits = this.#hits;
        this.#replay(batch, from, to);
        this.#windowMisses += to - from - (this.#hits - hits);
        this.#windowRequests += to - from;
        if (this.#windowRequests === width) this.#closeWindow();
        from = to;
      }
    }
    this.#elapsedMs += (this.#options.nowMs?.() ?? 0) - startedAtMs;
  }

  row(trace: string, requests: number): ReplayRow {
    if (this.#windowRequests > 0) this.#closeWindow();
    const row = {
      ...this.#run,
      trace,
      requests,
      hits: this.#hits,
      hitPct: requests === 0 ? 0 : (100 * this.#hits) / requests,
      missBytes: this.#missBytes,
      seconds: this.#elapsedMs / 1000,
    };
    return this.#options.windowRequests === undefined ? row : { ...row, windows: this.#windows };
  }

  #replay(batch: TraceBatch, from: number, to: number): void {
    const { keys, sizes, costs, parents } = batch;
    const policy = this.#policy;
    const residents = this.#residents;
    const isSized = this.#run.unit === 'bytes' && sizes !== undefined;
    let hits = 0;
    let missBytes = 0;
    for (let at = from; at < to; at += 1) {
      const key = keys[at] as number;
      const bytes = isSized ? (sizes[at] as number) : 1;
      const resident = residents.get(key);
      if (resident !== undefined) {
        hits += 1;
        if (resident.bytes === bytes) {
          policy.touch(resident);
        } else {
          const { resident: kept, victims } = policy.update(resident, bytes);
          for (const victim of victims) residents.delete(victim.key);
          if (kept === undefined) residents.delete(key);
        }
        continue;
      }
      missBytes += sizes === undefined ? 1 : (sizes[at] as number);
      policy.miss(key);
      const { resident: admitted, victims } =
        costs === undefined && parents === undefined
          ? policy.insert(key, bytes)
          : policy.insert(key, bytes, {
              ...(costs === undefined ? {} : { cost: costs[at] as number }),
              ...(parents === undefined || (parents[at] as number) < 0 ? {} : { parent: parents[at] as number }),
            });
      for (const victim of victims) residents.delete(victim.key);
      if (admitted !== undefined) residents.set(key, admitted);
    }
    this.#hits += hits;
    this.#missBytes += missBytes;
  }

  #closeWindow(): void {
    this.#windows.push(this.#windowMisses / this.#windowRequests);
    this.#windowMisses = 0;
    this.#windowRequests = 0;
  }
}
