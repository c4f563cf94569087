import type { TraceBatch } from '../workload/trace.ts';
import type { ReplayOptions, ReplayRow, ReplayRun } from './replay-row.ts';

/**
 * What no policy can pass, since it knows the future.
 *
 * `belady`: Belady's MIN (IBM Systems Journal 5(2), 1966): what is asked for again last goes first, and may be what just
 * came. With keys of one size no policy has more hits. With sizes it is a good policy, and no bound.
 * `belady-size`: an upper bound of the hits with sizes, PFOO-L of Berger, Beckmann and Harchol-Balter, "Practical Bounds
 * on Optimal Caching with Variable Object Sizes", SIGMETRICS 2018, section 5.1: each hit takes its bytes from one access
 * to the next; the cheapest ones are taken as long as their sum is within bound × requests. It can't be reached.
 */
export const BOUND_NAMES = ['belady', 'belady-size'] as const;

export type BoundName = (typeof BOUND_NAMES)[number];

/** True for the name of a bound, not of a policy. */
export function isBound(name: string): name is BoundName {
  return (BOUND_NAMES as readonly string[]).includes(name);
}

/** The bound that holds for sizes of a unit. */
export function boundFor(unit: ReplayRun['unit']): BoundName {
  return unit === 'entries' ? 'belady' : 'belady-size';
}

/** A trace as a clairvoyant sees it. */
interface KnownTrace {
  readonly keys: Float64Array;
  readonly sizes: Float64Array;
  /** The request that asks for the key again; the number of requests: none. */
  readonly next: Int32Array;
}

/** Runs a bound over a trace that was read whole. */
export function clairvoyant(
  trace: string,
  batches: readonly TraceBatch[],
  run: ReplayRun & { readonly policy: BoundName },
  options: ReplayOptions,
): ReplayRow {
  const startedAtMs = options.nowMs?.() ?? 0;
  const known = knownTrace(batches, run.unit);
  const isHit = run.policy === 'belady' ? belady(known, run.size) : cheapestHits(known, run.size);
  const requests = isHit.length;
  let hits = 0;
  let missBytes = 0;
  const { sizes } = run.unit === 'bytes' ? known : knownTrace(batches, 'bytes');
  for (let at = 0; at < requests; at += 1) {
    if (isHit[at] === 1) hits += 1;
    else missBytes += sizes[at] as number;
  }
  const seconds = ((options.nowMs?.() ?? 0) - startedAtMs) / 1000;
  const hitPct = requests === 0 ? 0 : (100 * hits) / requests;
  const row = { ...run, trace, requests, hits, hitPct, missBytes, seconds };
  const width = options.windowRequests;
  return width === undefined ? row : { ...row, windows: missWindows(isHit, width) };
}

function knownTrace(batches: readonly TraceBatch[], unit: ReplayRun['unit']): KnownTrace {
  const requests = batches.reduce((sum, batch) => sum + batch.count, 0);
  const keys = new Float64Array(requests);
  const sizes = new Float64Array(requests).fill(1);
  let from = 0;
  for (const batch of batches) {
    keys.set(batch.keys.subarray(0, batch.count), from);
    if (unit === 'bytes' && batch.sizes !== undefined) {
      sizes.set(batch.sizes.subarray(0, batch.count), from);
    }
    from += batch.count;
  }
  const next = new Int32Array(requests);
  // Keys are dense, so an array does, and it holds more of them than a map could.
  const seen = new Int32Array(keys.reduce((most, key) => Math.max(most, key), -1) + 1).fill(requests);
  for (let at = requests - 1; at >= 0; at -= 1) {
    const key = keys[at] as number;
    next[at] = seen[key] as number;
    seen[key] = at;
  }
  return { keys, sizes, next };
}

/** 1 for each request that MIN answers. */
function belady({ keys, sizes, next }: KnownTrace, bytesMax: number): Uint8Array {
  const requests = keys.length;
  const isHit = new Uint8Array(requests);
  /** Which request made or renewed what is resident. */
  const residentAt = new Map<number, number>();
  const furthest = new FurthestFirst(next);
  let bytes = 0;
  for (let at = 0; at < requests; at += 1) {
    const key = keys[at] as number;
    const before = residentAt.get(key);
    if (before !== undefined) {
      isHit[at] = 1;
      bytes -= sizes[before] as number;
      residentAt.delete(key);
    }
    if (next[at] === requests || (sizes[at] as number) > bytesMax) continue;
    residentAt.set(key, at);
    bytes += sizes[at] as number;
    furthest.add(at);
    while (bytes > bytesMax) {
      const victim = furthest.take();
      // What was asked for since is in the heap once more, under its new next request.
      if (residentAt.get(keys[victim] as number) !== victim) continue;
      residentAt.delete(keys[victim] as number);
      bytes -= sizes[victim] as number;
    }
  }
  return isHit;
}

/** A heap of requests, the one that is repeated last on top. */
class FurthestFirst {
  readonly #next: Int32Array;
  readonly #heap: number[] = [];

  constructor(next: Int32Array) {
    this.#next = next;
  }

  add(request: number): void {
    const heap = this.#heap;
    const value = this.#next[request] as number;
    let at = heap.length;
    heap.push(request);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as number;
      if ((this.#next[above] as number) >= value) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = request;
  }

  take(): number {
    const heap = this.#heap;
    const top = heap[0] as number;
    const last = heap.pop() as number;
    if (heap.length === 0) return top;
    const value = this.#next[last] as number;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = child + 1;
      if (right < heap.length && this.#of(heap[right]) > this.#of(heap[child])) child = right;
      if (this.#of(heap[child]) <= value) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = last;
    return top;
  }

  #of(request: number | undefined): number {
    return this.#next[request as number] as number;
  }
}

/** 1 for each request among the cheapest that share bound × requests; one more than fit, as a bound needs. */
function cheapestHits({ sizes, next }: KnownTrace, bytesMax: number): Uint8Array {
  const requests = next.length;
  const isHit = new Uint8Array(requests);
  const repeated: number[] = [];
  for (let at = 0; at < requests; at += 1) {
    if (next[at] !== requests && (sizes[at] as number) <= bytesMax) repeated.push(at);
  }
  const cost = (at: number): number => (sizes[at] as number) * ((next[at] as number) - at);
  repeated.sort((left, right) => cost(left) - cost(right));
  let left = bytesMax * requests;
  for (const at of repeated) {
    if (left <= 0) break;
    left -= cost(at);
    isHit[next[at] as number] = 1;
  }
  return isHit;
}

function missWindows(isHit: Uint8Array, width: number): readonly number[] {
  const windows: number[] = [];
  for (let from = 0; from < isHit.length; from += width) {
    const to = Math.min(isHit.length, from + width);
    let misses = 0;
    for (let at = from; at < to; at += 1) misses += isHit[at] === 1 ? 0 : 1;
    windows.push(misses / (to - from));
  }
  return windows;
}
