import { ModelError, RepriseError } from '../errors.ts';
import type { ModelCallOptions } from '../ports/model.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { Gauge } from '../ports/telemetry.ts';

/** Bounds of an upstream's calls. */
export interface UpstreamSlotsOptions {
  /** The upstream's name, for messages. */
  readonly upstream: string;
  /** Calls under way at once. */
  readonly concurrencyMax: number;
  /** Calls that may wait. */
  readonly queueMax: number;
  /** Longest wait for a slot. */
  readonly queueTimeoutMs: number;
  /** Longest pause that an upstream's `Retry-After` may impose. */
  readonly pauseMsMax: number;
}

/** What a call takes to wait for a slot. */
export interface SlotRequest extends ModelCallOptions {
  /** Whose pause applies beside the upstream's own; empty: nobody's. */
  readonly lane: string;
}

/** Gives a slot back; idempotent. */
export type ReleaseSlot = () => void;

interface Waiter {
  readonly request: SlotRequest;
  readonly resolve: (release: ReleaseSlot) => void;
  readonly reject: (error: RepriseError) => void;
  readonly onAbort: () => void;
  timeout: Timer | undefined;
  /** Set while the waiter sleeps until a pause ends. */
  wake: Timer | undefined;
}

/** Paused lanes that are remembered; the oldest is forgotten first. */
const LANES_MAX = 1_024;
const BUSY_RETRY_MS = 1_000;

/**
 * The slots of one upstream: a concurrency limit with a bounded queue, first come first served, in which every call has a
 * deadline. An upstream that asks for quiet (`Retry-After`) pauses it whole, or one lane (a credential over its own quota).
 */
export class UpstreamSlots {
  readonly #clock: Clock;
  readonly #queueGauge: Gauge;
  readonly #options: UpstreamSlotsOptions;
  readonly #waiters = new Set<Waiter>();
  /** Lane → monotonic instant at which its pause ends; '' is the upstream itself. */
  readonly #pauses = new Map<string, number>();
  #active = 0;
  #closed = false;

  constructor(deps: { readonly clock: Clock; readonly queueGauge: Gauge }, options: UpstreamSlotsOptions) {
    this.#clock = deps.clock;
    this.#queueGauge = deps.queueGauge;
    this.#options = options;
  }

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** A slot. Errors: `upstream_queue_full`, `model_timeout`, `model_unavailable` (closed), `cancelled`. */
  acquire(request: SlotRequest): Promise<ReleaseSlot> {
    const nowMs = this.#clock.monotonicMs();
    const refusal = this.#refusal(request, nowMs);
    if (refusal !== undefined) return Promise.reject(refusal);
    if (this.#active < this.#options.concurrencyMax && this.#pausedMs(request.lane, nowMs) === 0) {
      return Promise.resolve(this.#grant());
    }
    return this.#wait(request, nowMs);
  }

  /** No call (of this lane) starts within `durationMs`, or `pauseMsMax` if that is shorter. A longer pause is never shortened. */
  pause(durationMs: number, lane: string): void {
    const untilMs = this.#clock.monotonicMs() + Math.min(durationMs, this.#options.pauseMsMax);
    const knownMs = this.#pauses.get(lane);
    if (knownMs !== undefined && knownMs >= untilMs) return;
    this.#pauses.delete(lane);
    this.#pauses.set(lane, untilMs);
    if (this.#pauses.size <= LANES_MAX) return;
    for (const oldest of this.#pauses.keys()) {
      if (oldest === '') continue;
      this.#pauses.delete(oldest);
      return;
    }
  }

  /** Refuses all who wait and all who come. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiters) this.#fail(waiter, this.#closedError());
  }

  #refusal(request: SlotRequest, nowMs: number): RepriseError | undefined {
    if (this.#closed) return this.#closedError();
    if (request.signal.aborted) return cancelled(request.signal);
    if (request.deadlineAtMs <= nowMs) return this.#timeoutError();
    const pausedMs = this.#pausedMs(request.lane, nowMs);
    const patienceMs = Math.min(request.deadlineAtMs - nowMs, this.#options.queueTimeoutMs);
    if (pausedMs > 0 && pausedMs >= patienceMs) {
      return this.#fullError('asked for a pause that is longer than this call may wait', pausedMs);
    }
    const mustWait = pausedMs > 0 || this.#active >= this.#options.concurrencyMax;
    if (mustWait && this.#waiters.size >= this.#options.queueMax) {
      return this.#fullError('has too many calls waiting', Math.max(pausedMs, BUSY_RETRY_MS));
    }
    return undefined;
  }

  #wait(request: SlotRequest, nowMs: number): Promise<ReleaseSlot> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => this.#fail(waiter, cancelled(request.signal));
      const waiter: Waiter = { request, resolve, reject, onAbort, timeout: undefined, wake: undefined };
      const leftMs = request.deadlineAtMs - nowMs;
      const byDeadline = leftMs <= this.#options.queueTimeoutMs;
      waiter.timeout = this.#clock.setTimer(Math.min(leftMs, this.#options.queueTimeoutMs), () =>
        this.#fail(
          waiter,
          byDeadline ? this.#timeoutError() : this.#fullError('had no free slot in time', BUSY_RETRY_MS),
        ),
      );
      request.signal.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
      this.#queueGauge.set(this.#waiters.size);
      this.#sleepThroughPause(waiter, nowMs);
    });
  }

  #grant(): ReleaseSlot {
    this.#active += 1;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#active -= 1;
      this.#grantWaiters();
    };
  }

  #grantWaiters(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const waiter of this.#waiters) {
      if (this.#active >= this.#options.concurrencyMax) return;
      if (this.#sleepThroughPause(waiter, nowMs)) continue;
      this.#leaveQueue(waiter);
      waiter.resolve(this.#grant());
    }
  }

  /** True when the waiter's lane is paused; it then looks again when the pause ends. */
  #sleepThroughPause(waiter: Waiter, nowMs: number): boolean {
    const pausedMs = this.#pausedMs(waiter.request.lane, nowMs);
    if (pausedMs === 0) return false;
    waiter.wake ??= this.#clock.setTimer(pausedMs, () => {
      waiter.wake = undefined;
      this.#grantWaiters();
    });
    return true;
  }

  #fail(waiter: Waiter, error: RepriseError): void {
    if (!this.#leaveQueue(waiter)) return;
    waiter.reject(error);
  }

  #leaveQueue(waiter: Waiter): boolean {
    if (!this.#waiters.delete(waiter)) return false;
    waiter.timeout?.cancel();
    waiter.wake?.cancel();
    waiter.request.signal.removeEventListener('abort', waiter.onAbort);
    this.#queueGauge.set(this.#waiters.size);
    return true;
  }

  #pausedMs(lane: string, nowMs: number): number {
    if (this.#pauses.size === 0) return 0;
    const upstreamMs = this.#pauseLeftMs('', nowMs);
    return lane === '' ? upstreamMs : Math.max(upstreamMs, this.#pauseLeftMs(lane, nowMs));
  }

  #pauseLeftMs(lane: string, nowMs: number): number {
    const untilMs = this.#pauses.get(lane);
    if (untilMs === undefined) return 0;
    if (untilMs > nowMs) return untilMs - nowMs;
    this.#pauses.delete(lane);
    return 0;
  }

  #closedError(): RepriseError {
    return new ModelError('model_unavailable', `The upstream ${this.#options.upstream} is closed: this node stops.`);
  }

  #timeoutError(): RepriseError {
    return new ModelError(
      'model_timeout',
      `The upstream ${this.#options.upstream} had no free slot before the deadline.`,
    );
  }

  #fullError(what: string, retryAfterMs: number): RepriseError {
    return new RepriseError(
      'upstream_queue_full',
      `The upstream ${this.#options.upstream} ${what}; try again later, or raise concurrencyMax or queueMax.`,
      { retryAfterMs: Math.ceil(retryAfterMs) },
    );
  }
}

function cancelled(signal: AbortSignal): RepriseError {
  return new RepriseError('cancelled', 'The model call was cancelled while it waited.', { cause: signal.reason });
}
