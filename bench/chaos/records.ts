/** Where a request went: `main` and `strict` to the two nodes, `control` to the one whose cache is off. */
export type Stream = 'main' | 'strict' | 'control';
export type Outcome = 'exact-l1' | 'exact-l2' | 'other-hit' | 'miss' | 'bypass' | 'failed';

/** One request as its client saw it. */
export interface RequestSeen {
  /** When it was due, milliseconds of this process's clock. */
  readonly atMs: number;
  readonly stream: Stream;
  readonly node: 0 | 1;
  /** From when it was due to the end of the answer. */
  readonly latencyMs: number;
  readonly outcome: Outcome;
  readonly unconfirmed: boolean;
  readonly wrong: boolean;
  /** What went wrong; undefined unless the outcome is `failed`. */
  readonly failure: string | undefined;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Milliseconds at three places of a distribution; NaN where there is nothing. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/** Within a window of this length a hit rate is judged. */
const WINDOW_MS = 1_000;
const STEP_MS = 100;
/** A hit rate is back at this share of what it was. */
export const BACK_SHARE = 0.95;
const UNCONFIRMED_SLICE_MS = 100;

export function within(records: readonly RequestSeen[], { fromMs, toMs }: Span): RequestSeen[] {
  return records.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
}

export function isHit({ outcome }: RequestSeen): boolean {
  return outcome === 'exact-l1' || outcome === 'exact-l2' || outcome === 'other-hit';
}

/** The model was called for it, by itself. */
export function wasForwarded({ outcome }: RequestSeen): boolean {
  return outcome === 'miss' || outcome === 'bypass';
}

/** Share of hits; NaN of nothing. */
export function hitRate(records: readonly RequestSeen[]): number {
  return records.filter(isHit).length / records.length;
}

export function latencyOf(records: readonly RequestSeen[]): Latency {
  const sorted = Float64Array.from(records, ({ latencyMs }) => latencyMs).sort();
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), p999: at(0.999) };
}

/**
 * Milliseconds from the beginning of a span until the hit rate is back at what it was, for the rest of the span; 0 when it
 * never fell, undefined when it isn't back at its end.
 */
export function backAfterMs(records: readonly RequestSeen[], span: Span, rateBefore: number): number | undefined {
  const seen = within(records, span);
  let backAtMs = span.fromMs;
  for (let fromMs = span.fromMs; fromMs + WINDOW_MS <= span.toMs; fromMs += STEP_MS) {
    const window = { fromMs, toMs: fromMs + WINDOW_MS };
    const rate = hitRate(within(seen, window));
    if (rate < rateBefore * BACK_SHARE) backAtMs = window.toMs;
  }
  return backAtMs + STEP_MS > span.toMs ? undefined : backAtMs - span.fromMs;
}

/** Milliseconds in which a node gave hits that it could not confirm; of the node that did so longer. */
export function unconfirmedMs(records: readonly RequestSeen[]): number {
  const slices = [new Set<number>(), new Set<number>()] as const;
  for (const { unconfirmed, node, atMs } of records) {
    if (unconfirmed) slices[node].add(Math.floor(atMs / UNCONFIRMED_SLICE_MS));
  }
  return Math.max(...slices.map(({ size }) => size)) * UNCONFIRMED_SLICE_MS;
}
