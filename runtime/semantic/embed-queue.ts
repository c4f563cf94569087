import { RepriseError, assert, toRepriseError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { Embedder, Embedding } from '../ports/embedder.ts';
import type { Counter, Gauge, Histogram, Telemetry } from '../ports/telemetry.ts';
import { unitVector } from './vector-check.ts';
import { VectorCache } from './vector-cache.ts';
import { WaitEstimate } from './wait-estimate.ts';

/** Bounds of the embed queue. */
export interface EmbedQueueOptions {
  /** Texts of look-ups that wait or are with the embedder, and texts to be stored that wait; past it a call fails with `overloaded`. */
  readonly queueMax: number;
  readonly batchMax: number;
  /** Longest time that one batch may take. */
  readonly timeoutMs: number;
  readonly cacheBytesMax: number;
}

/** A batch is kept so small that its first text doesn't wait much longer than for itself. */
const BATCH_TARGET_MS = 20;

interface Waiter {
  readonly resolve: (embedding: Embedding) => void;
  readonly reject: (error: RepriseError) => void;
}

interface Item {
  readonly text: string;
  readonly waiters: Set<Waiter>;
}

/** Who waits: a request, or only the store of an answer that was given already. */
export type Urgency = 'lookup' | 'store';

/**
 * The only way to the embedder: one bounded queue, in which stores give way to look-ups. Texts that wait are gathered into batches, equal texts are embedded once,
 * whoever gives up leaves the queue at once, and a text that nobody waits for any more is never sent.
 */
export class EmbedQueue {
  readonly #embedder: Embedder;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #options: EmbedQueueOptions;
  readonly #cache: VectorCache;
  readonly #estimate: WaitEstimate;
  /** Texts that wait, in order: those of look-ups, those to be stored; then those of the batch under way. */
  readonly #waiting = new Map<string, Item>();
  readonly #later = new Map<string, Item>();
  #underWay = new Map<string, Item>();
  #busySinceMs: number | undefined;
  #scheduled = false;
  #stopped = false;
  #failure: RepriseError | undefined;
  readonly #metrics: QueueMetrics;

  constructor(
    deps: { readonly embedder: Embedder; readonly clock: Clock; readonly telemetry: Telemetry },
    options: EmbedQueueOptions,
  ) {
    assert(options.queueMax >= 1 && options.batchMax >= 1 && options.timeoutMs > 0, 'bounds of the embed queue');
    this.#embedder = deps.embedder;
    this.#clock = deps.clock;
    this.#telemetry = deps.telemetry;
    this.#options = options;
    this.#cache = new VectorCache(options.cacheBytesMax);
    this.#estimate = new WaitEstimate(deps.clock);
    this.#metrics = metricsOf(deps.telemetry);
    this.#metrics.up.set(1);
  }

  /** Texts that wait or are with the embedder. */
  get size(): number {
    return this.#waiting.size + this.#later.size + this.#underWay.size;
  }

  /** Why the last batch failed; undefined while the embedder works. */
  get failure(): RepriseError | undefined {
    return this.#failure;
  }

  get cacheBytes(): number {
    return this.#cache.bytes;
  }

  isCached(text: string): boolean {
    return this.#cache.has(text);
  }

  /** How long the text of a look-up that is queued now would wait for its vector, milliseconds. A batch that is late counts as slow already. */
  expectedWaitMs(): number {
    const busyMs = this.#busySinceMs === undefined ? 0 : this.#clock.monotonicMs() - this.#busySinceMs;
    const lateMs = busyMs / Math.max(1, this.#underWay.size);
    const perTextMs = Math.max(this.#estimate.perTextMs(this.#busySinceMs), lateMs);
    const underWayMs = Math.max(0, this.#underWay.size * perTextMs - busyMs);
    return underWayMs + (this.#waiting.size + 1) * perTextMs;
  }

  /**
   * The embedding of a text. Fails with `overloaded`, `embedder_timeout` (the deadline passed), `embedder_unavailable`,
   * `embedder_invalid_vector` or `cancelled`.
   */
  embed(text: string, options: CallOptions, urgency: Urgency = 'lookup'): Promise<Embedding> {
    const cached = this.#cache.get(text);
    if (cached !== undefined) {
      this.#metrics.cached.add();
      return Promise.resolve(cached);
    }
    const refusal = this.#refusal(text, options, urgency);
    if (refusal !== undefined) return Promise.reject(refusal);
    return this.#wait(this.#itemOf(text, urgency), options);
  }

  /** Refuses new texts and fails those that wait. */
  stop(): void {
    this.#stopped = true;
    const error = new RepriseError('embedder_unavailable', 'The node is stopping.');
    for (const items of [this.#waiting, this.#later, this.#underWay]) {
      for (const item of items.values()) rejectAll(item, error);
    }
    this.#waiting.clear();
    this.#later.clear();
    this.#showDepth();
  }

  #refusal(text: string, options: CallOptions, urgency: Urgency): RepriseError | undefined {
    if (this.#stopped) return new RepriseError('embedder_unavailable', 'The node is stopping.');
    if (options.signal?.aborted === true) return cancelled(options.signal);
    if (options.deadlineAtMs <= this.#clock.monotonicMs()) return timeout();
    const known = this.#waiting.has(text) || this.#underWay.has(text) || this.#later.has(text);
    const size = urgency === 'lookup' ? this.#waiting.size + this.#underWay.size : this.#later.size;
    if (known || size < this.#options.queueMax) return undefined;
    this.#metrics.refused.add();
    return new RepriseError('overloaded', 'The embed queue is full.', {
      retryAfterMs: Math.ceil(this.expectedWaitMs()),
    });
  }

  #itemOf(text: string, urgency: Urgency): Item {
    const known = this.#underWay.get(text) ?? this.#waiting.get(text);
    if (known !== undefined) return known;
    const item: Item = this.#later.get(text) ?? { text, waiters: new Set() };
    if (urgency === 'store') this.#later.set(text, item);
    else {
      this.#later.delete(text);
      this.#waiting.set(text, item);
    }
    this.#showDepth();
    this.#schedule();
    return item;
  }

  #wait(item: Item, options: CallOptions): Promise<Embedding> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      let timer: Timer | undefined;
      const leave = (): void => {
        timer?.cancel();
        signal?.removeEventListener('abort', onAbort);
        item.waiters.delete(waiter);
        if (item.waiters.size > 0) return;
        for (const items of [this.#waiting, this.#later]) if (items.get(item.text) === item) items.delete(item.text);
        this.#showDepth();
      };
      const fail = (error: RepriseError): void => {
        leave();
        reject(error);
      };
      const waiter: Waiter = {
        resolve: (embedding) => {
          leave();
          resolve(embedding);
        },
        reject: fail,
      };
      const onAbort = (): void => fail(cancelled(signal));
      item.waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
      if (Number.isFinite(options.deadlineAtMs)) {
        const leftMs = options.deadlineAtMs - this.#clock.monotonicMs();
        timer = this.#clock.setTimer(leftMs, () => fail(timeout()));
      }
    });
  }

  /** In a microtask, so that texts of one turn of the loop share a batch. */
  #schedule(): void {
    if (this.#scheduled || this.#busySinceMs !== undefined) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      if (this.#busySinceMs === undefined) this.#sendNext();
    });
  }

  #sendNext(): void {
    const items = this.#waiting.size > 0 ? this.#waiting : this.#later;
    if (this.#stopped || items.size === 0) return;
    const perTextMs = this.#estimate.perTextMs(0);
    const fitting = perTextMs === 0 ? this.#options.batchMax : Math.max(1, Math.floor(BATCH_TARGET_MS / perTextMs));
    const batch = firstOf(items, Math.min(fitting, this.#options.batchMax));
    for (const item of batch) {
      items.delete(item.text);
      this.#underWay.set(item.text, item);
    }
    const startedAtMs = this.#clock.monotonicMs();
    this.#busySinceMs = startedAtMs;
    this.#call(
      batch.map((item) => item.text),
      startedAtMs,
    ).then(
      (embeddings) => this.#ended(batch, startedAtMs, embeddings),
      (error: unknown) => this.#ended(batch, startedAtMs, toRepriseError(error)),
    );
  }

  /** One call of the embedder, with our own timer: an embedder that forgets its deadline must not hold the queue. */
  #call(texts: readonly string[], startedAtMs: number): Promise<readonly Embedding[]> {
    const deadlineAtMs = startedAtMs + this.#options.timeoutMs;
    const controller = new AbortController();
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(this.#options.timeoutMs, () => {
        reject(timeout());
        controller.abort(timeout());
      });
      const settle = (action: () => void): void => {
        timer.cancel();
        action();
      };
      let called: Promise<readonly Embedding[]>;
      try {
        called = this.#embedder.embed(texts, { deadlineAtMs, signal: controller.signal });
      } catch (error) {
        called = Promise.reject(toRepriseError(error));
      }
      called.then(
        (embeddings) => settle(() => resolve(embeddings)),
        (error: unknown) => settle(() => reject(toRepriseError(error))),
      );
    });
  }

  #ended(batch: readonly Item[], startedAtMs: number, result: readonly Embedding[] | RepriseError): void {
    const batchMs = this.#clock.monotonicMs() - startedAtMs;
    this.#estimate.observe(batch.length, batchMs);
    this.#metrics.seconds.observe(batchMs / 1_000);
    this.#underWay = new Map();
    this.#busySinceMs = undefined;
    const failure = result instanceof RepriseError ? result : this.#deliver(batch, result);
    if (result instanceof RepriseError) {
      this.#metrics.failed.add(batch.length);
      for (const item of batch) rejectAll(item, result);
    }
    this.#show(failure);
    this.#showDepth();
    this.#sendNext();
  }

  /** Hands out the vectors; returns the failure when there was an invalid one. */
  #deliver(batch: readonly Item[], embeddings: readonly Embedding[]): RepriseError | undefined {
    let failure: RepriseError | undefined;
    for (const [index, item] of batch.entries()) {
      const embedding = this.#checked(embeddings.length === batch.length ? embeddings[index] : undefined);
      if (embedding instanceof RepriseError) {
        failure = embedding;
        this.#metrics.invalid.add();
        rejectAll(item, embedding);
        continue;
      }
      this.#metrics.embedded.add();
      this.#cache.put(item.text, embedding);
      for (const waiter of item.waiters) waiter.resolve(embedding);
    }
    return failure;
  }

  #checked(embedding: Embedding | undefined): Embedding | RepriseError {
    if (embedding?.truncated === true) return embedding;
    const vector = embedding === undefined ? undefined : unitVector(embedding.vector, this.#embedder.dimensions);
    if (embedding === undefined || vector === undefined) {
      return new RepriseError('embedder_invalid_vector', 'The embedder returned no usable vector.');
    }
    return vector === embedding.vector ? embedding : { ...embedding, vector };
  }

  #show(failure: RepriseError | undefined): void {
    if (failure?.code === this.#failure?.code) return;
    this.#failure = failure;
    this.#metrics.up.set(failure === undefined ? 1 : 0);
    if (failure === undefined) this.#telemetry.log('info', 'embedder_recovered');
    else this.#telemetry.log('warn', 'embedder_failed', { code: failure.code });
  }

  #showDepth(): void {
    this.#metrics.depth.set(this.#waiting.size + this.#later.size);
  }
}

interface QueueMetrics {
  readonly depth: Gauge;
  readonly up: Gauge;
  readonly seconds: Histogram;
  readonly cached: Counter;
  readonly embedded: Counter;
  readonly failed: Counter;
  readonly invalid: Counter;
  readonly refused: Counter;
}

function metricsOf(telemetry: Telemetry): QueueMetrics {
  const result = (name: string): Counter => telemetry.counter('reprise_embeddings_total', name);
  return {
    depth: telemetry.gauge('reprise_embed_queue_items'),
    up: telemetry.gauge('reprise_embedder_up'),
    seconds: telemetry.histogram('reprise_embed_seconds'),
    cached: result('cached'),
    embedded: result('embedded'),
    failed: result('failed'),
    invalid: result('invalid'),
    refused: result('refused'),
  };
}

function firstOf(items: ReadonlyMap<string, Item>, countMax: number): Item[] {
  const first: Item[] = [];
  for (const item of items.values()) {
    if (first.length >= countMax) break;
    first.push(item);
  }
  return first;
}

function rejectAll(item: Item, error: RepriseError): void {
  for (const waiter of item.waiters) waiter.reject(error);
}

function timeout(): RepriseError {
  return new RepriseError('embedder_timeout', 'The embedder did not answer in time.');
}

function cancelled(signal: AbortSignal | undefined): RepriseError {
  return new RepriseError('cancelled', 'The caller of the embedder left.', { cause: signal?.reason });
}
