import { RepriseError } from '../../runtime/errors.ts';
import type { Clock, Timer } from '../../runtime/ports/clock.ts';

/** What a call tells of its end, before its promise settles. `error` is undefined on success. */
export type OnEnd = (error: unknown) => void;

/** How long a call may take. */
export interface CallLimits {
  readonly deadlineAtMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A call that is on its way. It ends once: by its outcome, its deadline, its signal or the close of the grid. */
export class PendingCall<T> {
  readonly deadlineAtMs: number;
  readonly promise: Promise<T>;
  readonly #calls: PendingCalls;
  readonly #signal: AbortSignal | undefined;
  readonly #onEnd: OnEnd;
  #resolve!: (value: T) => void;
  #reject!: (error: Error) => void;
  #onAbort: (() => void) | undefined = undefined;
  /** Place among the watched calls; -1: not watched. */
  index = -1;
  #ended = false;

  constructor(calls: PendingCalls, limits: CallLimits, onEnd: OnEnd) {
    this.#calls = calls;
    this.deadlineAtMs = limits.deadlineAtMs;
    this.#signal = limits.signal;
    this.#onEnd = onEnd;
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Ties the call to the inner promise. Watches from the next microtask on, so that a call answered at once costs no timer. */
  follow(inner: Promise<T>): void {
    inner.then(
      (value) => {
        if (this.#end(undefined)) this.#resolve(value);
      },
      (error: unknown) => this.cut(error),
    );
    queueMicrotask(() => this.#watch());
  }

  cut(error: unknown): void {
    if (this.#end(error)) this.#reject(error as Error);
  }

  #watch(): void {
    if (this.#ended) return;
    if (this.#signal !== undefined) {
      if (this.#signal.aborted) {
        this.#cancel();
        return;
      }
      this.#onAbort = () => this.#cancel();
      this.#signal.addEventListener('abort', this.#onAbort, { once: true });
    }
    this.#calls.add(this);
  }

  #cancel(): void {
    this.cut(new RepriseError('cancelled', 'The grid call was cancelled.', { cause: this.#signal?.reason }));
  }

  /** True for the first end only: whoever gets it settles the promise. */
  #end(error: unknown): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    if (this.index !== -1) this.#calls.remove(this);
    if (this.#onAbort !== undefined) this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#onEnd(error);
    return true;
  }
}

/** A watched call of any answer. */
type Watched = Pick<PendingCall<unknown>, 'deadlineAtMs' | 'cut'> & { index: number };

/** The calls whose deadlines are watched, all by one timer that is armed for the earliest of them. */
export class PendingCalls {
  readonly #clock: Clock;
  readonly #calls: Watched[] = [];
  #timer: Timer | undefined = undefined;
  #timerAtMs = Infinity;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#calls.length;
  }

  add(call: Watched): void {
    if (this.#closed) {
      call.cut(closedError());
      return;
    }
    call.index = this.#calls.length;
    this.#calls.push(call);
    if (call.deadlineAtMs < this.#timerAtMs) this.#arm(call.deadlineAtMs);
  }

  remove(call: Watched): void {
    const last = this.#calls.pop() as Watched;
    if (last !== call) {
      this.#calls[call.index] = last;
      last.index = call.index;
    }
    call.index = -1;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    for (const call of this.#calls.slice()) call.cut(closedError());
  }

  /** A timer that outlives its call stays armed: it is cheaper to let it find nothing than to set one a call. */
  #arm(atMs: number): void {
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    this.#timer = this.#clock.setTimer(Math.max(0, atMs - this.#clock.monotonicMs()), () => this.#fire());
  }

  #fire(): void {
    this.#timer = undefined;
    this.#timerAtMs = Infinity;
    const nowMs = this.#clock.monotonicMs();
    const due = this.#calls.filter((call) => call.deadlineAtMs <= nowMs);
    for (const call of due) call.cut(new RepriseError('grid_timeout', 'The grid did not answer before the deadline.'));
    let earliestMs = Infinity;
    for (const call of this.#calls) earliestMs = Math.min(earliestMs, call.deadlineAtMs);
    if (earliestMs < this.#timerAtMs) this.#arm(earliestMs);
  }
}

/** The failure of a call on a closed grid. */
export function closedError(): RepriseError {
  return new RepriseError('grid_unavailable', 'The grid is closed.');
}
