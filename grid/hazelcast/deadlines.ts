import { RepriseError } from '../../runtime/errors.ts';
import type { CallOptions } from '../../runtime/ports/call-options.ts';
import type { Clock, Timer } from '../../runtime/ports/clock.ts';
import { closedError, toGridError } from './errors.ts';

/** A call under way, as the work done for it sees it. */
export interface LiveCall {
  /** False once the caller was answered: what is left of the work must not be done. */
  readonly live: boolean;
}

/**
 * Calls that end by their deadline, their signal or the grid's close, whatever the client does. One timer, armed for the
 * earliest deadline, serves them all: a call costs no timer of its own.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #calls: Watched[] = [];
  #timer: Timer | undefined = undefined;
  #timerAtMs = Infinity;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls under way. */
  get size(): number {
    return this.#calls.length;
  }

  /** Runs `work` unless the call is over before it begins. */
  run<T>(options: CallOptions, work: (call: LiveCall) => Promise<T>): Promise<T> {
    const refusal = this.#refusal(options);
    if (refusal !== undefined) return Promise.reject(refusal);
    const call = new Call<T>(options, (ended) => this.#remove(ended));
    this.#add(call);
    call.follow(work);
    return call.promise;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    for (const call of this.#calls.slice()) call.cut(closedError());
  }

  #refusal(options: CallOptions): RepriseError | undefined {
    if (this.#closed) return closedError();
    if (options.signal?.aborted === true) return cancelledError(options.signal);
    if (this.#clock.monotonicMs() >= options.deadlineAtMs)
      return new RepriseError('grid_timeout', 'The deadline of the grid call was past when it began.');
    return undefined;
  }

  #add(call: Watched): void {
    call.index = this.#calls.length;
    this.#calls.push(call);
    if (call.deadlineAtMs < this.#timerAtMs) this.#arm(call.deadlineAtMs);
  }

  #remove(call: Watched): void {
    const last = this.#calls.pop() as Watched;
    if (last === call) return;
    this.#calls[call.index] = last;
    last.index = call.index;
  }

  /** A timer that outlives its call stays armed: letting it find nothing is cheaper than setting one a call. */
  #arm(atMs: number): void {
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    this.#timer = this.#clock.setTimer(Math.max(0, atMs - this.#clock.monotonicMs()), () => this.#fire());
  }

  #fire(): void {
    this.#timerAtMs = Infinity;
    const nowMs = this.#clock.monotonicMs();
    for (const call of this.#calls.filter((each) => each.deadlineAtMs <= nowMs))
      call.cut(new RepriseError('grid_timeout', 'The grid did not answer before the deadline.'));
    let earliestMs = Infinity;
    for (const call of this.#calls) earliestMs = Math.min(earliestMs, call.deadlineAtMs);
    if (earliestMs < this.#timerAtMs) this.#arm(earliestMs);
  }
}

/** A call of any answer. */
type Watched = Pick<Call<unknown>, 'deadlineAtMs' | 'index' | 'cut'>;

class Call<T> implements LiveCall {
  readonly deadlineAtMs: number;
  readonly promise: Promise<T>;
  /** Place among the calls under way. */
  index = -1;
  live = true;
  readonly #onEnd: (call: Watched) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort: (() => void) | undefined;
  #resolve!: (value: T) => void;
  #reject!: (error: Error) => void;

  constructor(options: CallOptions, onEnd: (call: Watched) => void) {
    this.deadlineAtMs = options.deadlineAtMs;
    this.#onEnd = onEnd;
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { signal } = options;
    this.#signal = signal;
    this.#onAbort = signal === undefined ? undefined : () => this.cut(cancelledError(signal));
    if (this.#onAbort !== undefined) signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  follow(work: (call: LiveCall) => Promise<T>): void {
    let working: Promise<T>;
    try {
      working = work(this);
    } catch (error) {
      this.cut(error);
      return;
    }
    working.then(
      (value) => {
        if (this.#end()) this.#resolve(value);
      },
      (error: unknown) => this.cut(error),
    );
  }

  cut(error: unknown): void {
    if (this.#end()) this.#reject(toGridError(error) as Error);
  }

  /** True for the first end only: whoever gets it settles the promise. */
  #end(): boolean {
    if (!this.live) return false;
    this.live = false;
    this.#onEnd(this);
    if (this.#onAbort !== undefined) this.#signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

function cancelledError(signal: AbortSignal): RepriseError {
  return new RepriseError('cancelled', 'The grid call was cancelled.', { cause: signal.reason });
}
