/**
 * Some requests of a trace, in columns for speed. `keys` are dense ids, 0 … n−1, given by the reader in the order of first
 * sight, so that a policy can use them as array indexes; within one source they mean the same in every batch. Columns hold
 * at least `count` values; only the first `count` count.
 */
export interface TraceBatch {
  readonly count: number;
  readonly keys: Uint32Array | Float64Array;
  /** Bytes; absent: 1 each. */
  readonly sizes?: Float64Array;
  /** Since the start of the trace, ms; never falls. */
  readonly timesMs?: Float64Array;
  /** What recomputing the value costs, in the trace's own unit. */
  readonly costs?: Float64Array;
  /** The session or chain that the request belongs to, as a dense id. */
  readonly groups?: Uint32Array;
  /** Key of the block before this one in its chain; -1: it is the first. */
  readonly parents?: Int32Array;
}

/** A trace that can be read from its beginning as often as wanted. */
export interface TraceSource {
  readonly name: string;
  /** How many requests it holds, where that is known without reading it. */
  readonly requests?: number;
  /** Fails with `data_invalid` (file, line or record, column) where the trace is wrong. */
  batches(): AsyncIterable<TraceBatch>;
}

/** Every format that a trace may have, by the name that the command line uses. */
export const TRACE_FORMATS = [
  'lirs',
  'arc',
  'u32',
  'u64',
  'oracle-general',
  'mooncake',
  'azure',
  'csv',
  'record',
] as const;

export type TraceFormat = (typeof TRACE_FORMATS)[number];

/** Requests in a full batch. */
export const BATCH_REQUESTS = 8_192;
