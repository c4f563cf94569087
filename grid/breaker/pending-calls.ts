import { RepriseError } from '../../runtime/errors.ts';
import type { Clock, Timer } from '../../runtime/ports/clock.ts';

/** A call that is on its way. It ends once: by its outcome, its deadline, its signal or the close of the grid. */
export class PendingCall {
  readonly deadlineAtMs: number;
  readonly #calls: PendingCalls;
  readonly #signal: AbortSignal | undefined;
  readonly #onCut: (error: RepriseError) => void;
  /** Place among the watched calls; -1: not watched. */
  index = -1;
  #ended = false;

  constructor(
    calls: PendingCalls,
    limits: { readonly deadlineAtMs: number; readonly signal: AbortSignal | undefined },
    onCut: (error: RepriseError) => void,
  ) {
    this.#calls = calls;
    this.deadlineAtMs = limits.deadlineAtMs;
    this.#signal = limits.signal;
    this.#onCut = onCut;
  }

  /** Watches deadline and signal from now on. Called a microtask after the start, so that calls answered at once cost no timer. */
  watch(): void {
    if (this.#ended) return;
    if (this.#signal?.aborted === true) {
      this.#onAbort();
      return;
    }
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#calls.add(this);
  }

  /** True for the first end only: whoever gets it settles the call. */
  end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    if (this.index !== -1) this.#calls.remove(this);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }

  cut(error: RepriseError): void {
    if (this.end()) this.#onCut(error);
  }

  readonly #onAbort = (): void => {
    this.cut(new RepriseError('cancelled', 'The grid call was cancelled.', { cause: this.#signal?.reason }));
  };
}

/** The calls whose deadlines are watched, all by one timer that is armed for the earliest of them. */
export class PendingCalls {
  readonly #clock: Clock;
  readonly #calls: PendingCall[] = [];
  #timer: Timer | undefined = undefined;
  #timerAtMs = Infinity;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#calls.length;
  }

  add(call: PendingCall): void {
    if (this.#closed) {
      call.cut(closedError());
      return;
    }
    call.index = this.#calls.length;
    this.#calls.push(call);
    if (call.deadlineAtMs < this.#timerAtMs) this.#arm(call.deadlineAtMs);
  }

  remove(call: PendingCall): void {
    const last = this.#calls.pop() as PendingCall;
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
