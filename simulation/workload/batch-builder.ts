import { BATCH_REQUESTS, type TraceBatch } from './trace.ts';

/** The optional columns of a batch. */
export type TraceColumn = Exclude<keyof TraceBatch, 'count' | 'keys'>;

/** One request, for readers that don't write columns themselves. */
export interface TraceRequest {
  readonly key: number;
  readonly size?: number;
  readonly timeMs?: number;
  readonly cost?: number;
  readonly group?: number;
  readonly parent?: number;
}

/** All columns in one shape, whether they are there or not: each request reads them all. */
interface Columns {
  readonly keys: Uint32Array;
  readonly sizes: Float64Array | undefined;
  readonly timesMs: Float64Array | undefined;
  readonly costs: Float64Array | undefined;
  readonly groups: Uint32Array | undefined;
  readonly parents: Int32Array | undefined;
}

/** Collects requests into batches; what a trace doesn't have is in no batch. */
export class BatchBuilder {
  readonly #has: ReadonlySet<TraceColumn>;
  #columns: Columns;
  #count = 0;
  #full: TraceBatch[] = [];
  #total = 0;

  constructor(columns: readonly TraceColumn[] = []) {
    this.#has = new Set(columns);
    this.#columns = this.#fresh();
  }

  /** Requests so far. */
  get total(): number {
    return this.#total;
  }

  /** The fast way for traces of keys alone. */
  addKey(key: number): void {
    this.#columns.keys[this.#count] = key;
    this.#next();
  }

  add({ key, size = 1, timeMs = 0, cost = 0, group = 0, parent = -1 }: TraceRequest): void {
    const { keys, sizes, timesMs, costs, groups, parents } = this.#columns;
    const at = this.#count;
    keys[at] = key;
    if (sizes !== undefined) sizes[at] = size;
    if (timesMs !== undefined) timesMs[at] = timeMs;
    if (costs !== undefined) costs[at] = cost;
    if (groups !== undefined) groups[at] = group;
    if (parents !== undefined) parents[at] = parent;
    this.#next();
  }

  /** The full batches since the last call. */
  take(): readonly TraceBatch[] {
    const full = this.#full;
    if (full.length > 0) this.#full = [];
    return full;
  }

  /** The last batches, the one that isn't full included. */
  takeLast(): readonly TraceBatch[] {
    if (this.#count > 0) this.#put();
    return this.take();
  }

  #next(): void {
    this.#count += 1;
    this.#total += 1;
    if (this.#count === BATCH_REQUESTS) this.#put();
  }

  #put(): void {
    const { keys, sizes, timesMs, costs, groups, parents } = this.#columns;
    this.#full.push({
      count: this.#count,
      keys,
      ...(sizes && { sizes }),
      ...(timesMs && { timesMs }),
      ...(costs && { costs }),
      ...(groups && { groups }),
      ...(parents && { parents }),
    });
    this.#columns = this.#fresh();
    this.#count = 0;
  }

  #fresh(): Columns {
    const has = this.#has;
    return {
      keys: new Uint32Array(BATCH_REQUESTS),
      sizes: has.has('sizes') ? new Float64Array(BATCH_REQUESTS) : undefined,
      timesMs: has.has('timesMs') ? new Float64Array(BATCH_REQUESTS) : undefined,
      costs: has.has('costs') ? new Float64Array(BATCH_REQUESTS) : undefined,
      groups: has.has('groups') ? new Uint32Array(BATCH_REQUESTS) : undefined,
      parents: has.has('parents') ? new Int32Array(BATCH_REQUESTS) : undefined,
    };
  }
}
