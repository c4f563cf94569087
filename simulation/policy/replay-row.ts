/** One policy at one size. */
export interface ReplayRun {
  /** A policy's name, or a clairvoyant bound's. */
  readonly policy: string;
  readonly size: number;
  /** What the size counts: keys, each the same, or the bytes that the trace gives. */
  readonly unit: 'entries' | 'bytes';
}

export interface ReplayOptions {
  /** Told after each batch of the number of requests read. */
  readonly onProgress?: (requests: number) => void;
  /** Requests of one window of the miss ratio over time; none are kept without it. */
  readonly windowRequests?: number;
  /** Milliseconds of a clock that only rises; without it no time is taken. */
  readonly nowMs?: () => number;
}

/** What one policy at one size did with a trace. */
export interface ReplayRow extends ReplayRun {
  readonly trace: string;
  readonly requests: number;
  readonly hits: number;
  /** Share of the requests that were hits, per cent. */
  readonly hitPct: number;
  /** Bytes of the requests that were misses. */
  readonly missBytes: number;
  /** Time spent in the policy and its table. */
  readonly seconds: number;
  /** Share of misses in each window, 0 to 1, in order. */
  readonly windows?: readonly number[];
}
