import type { Clock, Timer } from '../../runtime/ports/clock.ts';

interface PendingTimer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock for tests that moves only when it is told to. Timers fire in the order of their due time, then of their
 * making, each with the clock at its due time.
 */
export class ManualClock implements Clock {
  #monotonicMs: number;
  #wallOffsetMs: number;
  #made = 0;
  readonly #timers = new Set<PendingTimer>();

  constructor(start: { readonly monotonicMs?: number; readonly wallMs?: number } = {}) {
    this.#monotonicMs = start.monotonicMs ?? 1_000;
    this.#wallOffsetMs = (start.wallMs ?? 1_700_000_000_000) - this.#monotonicMs;
  }

  /** Timers that are set and neither fired nor cancelled; for leak checks. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  wallMs(): number {
    return this.#monotonicMs + this.#wallOffsetMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        timer.cancel();
        reject(signal?.reason as Error);
      };
      const timer = this.setTimer(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { dueMs: this.#monotonicMs + Math.max(0, delayMs), order: this.#made, callback };
    this.#made += 1;
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Moves both clocks and fires what becomes due, without letting any promise settle in between. */
  advance(ms: number): void {
    const endMs = this.#monotonicMs + ms;
    while (this.#fireNext(endMs)) continue;
    this.#monotonicMs = endMs;
  }

  /** Like `advance`, but lets promises settle before, between and after the timers: for code that sleeps in a loop. */
  async advanceAsync(ms: number): Promise<void> {
    const endMs = this.#monotonicMs + ms;
    await this.settle();
    while (this.#fireNext(endMs)) await this.settle();
    this.#monotonicMs = endMs;
    await this.settle();
  }

  /** Resolves when every promise that can settle without time passing has settled. */
  settle(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** Steps the wall clock only, as an operator or NTP does. */
  stepWall(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  #fireNext(endMs: number): boolean {
    let next: PendingTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > endMs) continue;
      if (next === undefined || timer.dueMs < next.dueMs) next = timer;
    }
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#monotonicMs = Math.max(this.#monotonicMs, next.dueMs);
    next.callback();
    return true;
  }
}
