import type { CallOptions } from '../ports/call-options.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { Counter, Gauge, Telemetry } from '../ports/telemetry.ts';
import { RepriseError, assert, toRepriseError } from '../errors.ts';
import { CancelSignal } from '../ports/cancel-signal.ts';

/** What became of an offered store: `dropped` when the queue was full, `failed` when it threw or ran past its deadline. */
export type StoreResult = 'stored' | 'dropped' | 'failed';

/** A store to be run: it gives up at the deadline, or when the signal is aborted. */
export type StoreTask = (options: CallOptions) => Promise<void>;

/** Bounds of the queue of background stores. */
export interface StoreQueueOptions {
  /** Bytes of all stores that wait or run. */
  readonly bytesMax: number;
  /** Stores that run at once. */
  readonly concurrency: number;
  /** Time from offer to end, waiting included. */
  readonly deadlineMs: number;
  /** What is stored; each kind is counted apart. */
  readonly kind: 'entries' | 'vectors';
}

const METRICS = {
  entries: { results: 'reprise_stores_total', bytes: 'reprise_store_queue_bytes', task: 'store' },
  vectors: { results: 'reprise_vector_stores_total', bytes: 'reprise_vector_queue_bytes', task: 'vector_store' },
} as const;

/** Failures come in floods, and one line tells as much as a thousand. */
const LOG_GAP_MS = 10_000;

interface QueuedStore {
  readonly bytes: number;
  readonly task: StoreTask;
  readonly deadlineAtMs: number;
  readonly resolve: (result: StoreResult) => void;
  next: QueuedStore | undefined;
}

/**
 * The byte-bounded queue of stores off the reply path, first come, first stored.
 * - Q1. The bytes that wait and run never exceed `bytesMax`; an offer that would exceed it is dropped at once.
 * - Q2. Every offer is settled by its deadline. A task that goes on past it is no longer counted; its signal is aborted.
 * - Q3. The first `concurrency` offers begin inside `offer`.
 */
export class StoreQueue {
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #options: StoreQueueOptions;
  readonly #results: Readonly<Record<StoreResult, Counter>>;
  readonly #failures: Counter;
  readonly #bytesGauge: Gauge;
  #first: QueuedStore | undefined = undefined;
  #last: QueuedStore | undefined = undefined;
  #running = 0;
  #bytes = 0;
  #unlogged = 0;
  #loggedAtMs = -Infinity;
  #idle: (() => void)[] = [];

  constructor(deps: { readonly clock: Clock; readonly telemetry: Telemetry }, options: StoreQueueOptions) {
    assert(options.bytesMax >= 0 && options.concurrency > 0 && options.deadlineMs > 0, 'bounds of the store queue');
    this.#clock = deps.clock;
    this.#telemetry = deps.telemetry;
    this.#options = options;
    const { results, bytes, task } = METRICS[options.kind];
    this.#results = {
      stored: deps.telemetry.counter(results, 'stored'),
      dropped: deps.telemetry.counter(results, 'dropped'),
      failed: deps.telemetry.counter(results, 'failed'),
    };
    this.#failures = deps.telemetry.counter('reprise_background_failures_total', task);
    this.#bytesGauge = deps.telemetry.gauge(bytes);
  }

  /** Bytes that wait or are being stored. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Offers a store of `bytes`; resolves with what became of it and never rejects. */
  offer(bytes: number, task: StoreTask): Promise<StoreResult> {
    if (this.#bytes + bytes > this.#options.bytesMax) {
      this.#results.dropped.add();
      return Promise.resolve('dropped');
    }
    this.#charge(bytes);
    const deadlineAtMs = this.#clock.monotonicMs() + this.#options.deadlineMs;
    return new Promise((resolve) => {
      const store: QueuedStore = { bytes, task, deadlineAtMs, resolve, next: undefined };
      if (this.#running < this.#options.concurrency) this.#begin(store);
      else this.#put(store);
    });
  }

  /** Resolves when nothing waits or runs, at the latest at the deadline (monotonic). */
  drain(deadlineAtMs: number): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const delayMs = Math.max(0, deadlineAtMs - this.#clock.monotonicMs());
      const timer: Timer = this.#clock.setTimer(delayMs, () => {
        this.#idle = this.#idle.filter((waiter) => waiter !== done);
        resolve();
      });
      const done = (): void => {
        timer.cancel();
        resolve();
      };
      this.#idle.push(done);
    });
  }

  #begin(store: QueuedStore): void {
    this.#running += 1;
    const terms = new StoreTerms(store.deadlineAtMs);
    let over = false;
    const end = (error: RepriseError | undefined): void => {
      if (over) return;
      over = true;
      timer.cancel();
      this.#settle(store, error);
      this.#running -= 1;
      this.#beginWaiting();
    };
    const timer = this.#clock.setTimer(Math.max(0, store.deadlineAtMs - this.#clock.monotonicMs()), () => {
      const late = new RepriseError('grid_timeout', 'The store ran past its deadline.');
      terms.end(late);
      end(late);
    });
    run(store.task, terms).then(
      () => end(undefined),
      (error: unknown) => end(toRepriseError(error)),
    );
  }

  /** Begins what waits; what is past its deadline fails without being begun. */
  #beginWaiting(): void {
    const nowMs = this.#clock.monotonicMs();
    while (this.#first !== undefined && this.#running < this.#options.concurrency) {
      const store = this.#first;
      this.#first = store.next;
      // Else each store that the collector has promoted would keep all that came after it, up to a full collection.
      store.next = undefined;
      if (this.#first === undefined) this.#last = undefined;
      if (store.deadlineAtMs > nowMs) this.#begin(store);
      else this.#settle(store, new RepriseError('grid_timeout', 'The store waited past its deadline.'));
    }
    if (this.#running === 0) for (const done of this.#idle.splice(0)) done();
  }

  #put(store: QueuedStore): void {
    if (this.#last === undefined) this.#first = store;
    else this.#last.next = store;
    this.#last = store;
  }

  #settle(store: QueuedStore, error: RepriseError | undefined): void {
    const result: StoreResult = error === undefined ? 'stored' : 'failed';
    this.#charge(-store.bytes);
    this.#results[result].add();
    if (error !== undefined) {
      this.#failures.add();
      this.#logFailure(error);
    }
    store.resolve(result);
  }

  #logFailure({ code }: RepriseError): void {
    this.#unlogged += 1;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#loggedAtMs < LOG_GAP_MS) return;
    this.#telemetry.log('warn', 'store_failed', { kind: this.#options.kind, code, failures: this.#unlogged });
    this.#unlogged = 0;
    this.#loggedAtMs = nowMs;
  }

  #charge(bytes: number): void {
    this.#bytes += bytes;
    assert(this.#bytes >= 0 && this.#bytes <= this.#options.bytesMax, 'bytes of the store queue');
    this.#bytesGauge.set(this.#bytes);
  }
}

/** A store's deadline and signal; the signal is made when it is first read, since most stores are over before. */
class StoreTerms implements CallOptions {
  readonly deadlineAtMs: number;
  #signal: CancelSignal | undefined = undefined;
  #reason: RepriseError | undefined = undefined;

  constructor(deadlineAtMs: number) {
    this.deadlineAtMs = deadlineAtMs;
  }

  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      this.#signal = new CancelSignal();
      if (this.#reason !== undefined) this.#signal.cancel(this.#reason);
    }
    return this.#signal;
  }

  end(reason: RepriseError): void {
    this.#reason = reason;
    this.#signal?.cancel(reason);
  }
}

/** A task that throws at once fails like one that rejects. */
async function run(task: StoreTask, options: CallOptions): Promise<void> {
  await task(options);
}
