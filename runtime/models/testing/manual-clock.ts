import type { Clock, Timer } from '../../ports/clock.ts';

interface Pending {
  readonly atMs: number;
  readonly callback: () => void;
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  readonly #timers = new Set<Pending>();
  #waiting: { readonly timersMin: number; readonly resolve: () => void }[] = [];
  #nowMs = 1_000;

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return 1_700_000_000_000 + this.#nowMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
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
    const pending: Pending = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.add(pending);
    this.#waiting = this.#waiting.filter((waiting) => {
      if (this.#timers.size < waiting.timersMin) return true;
      waiting.resolve();
      return false;
    });
    return { cancel: () => void this.#timers.delete(pending) };
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Resolves once at least `timersMin` timers are pending. */
  timersPending(timersMin: number): Promise<void> {
    if (this.#timers.size >= timersMin) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ timersMin, resolve }));
  }

  /** Moves time on and runs what falls due, in order. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      let next: Pending | undefined;
      for (const pending of this.#timers) {
        if (pending.atMs <= untilMs && (next === undefined || pending.atMs < next.atMs)) next = pending;
      }
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.callback();
    }
    this.#nowMs = untilMs;
  }
}
