import type { Clock, Timer } from '../ports/clock.ts';

const NO_TIMER: Timer = { cancel: () => undefined };
/** setTimeout fires at once above this. */
const DELAY_MAX_MS = 2 ** 31 - 1;

/** The machine's clock. */
export class SystemClock implements Clock {
  monotonicMs(): number {
    return performance.now();
  }

  wallMs(): number {
    return Date.now();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        clearTimeout(timeout);
        reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      const timeout = setTimeout(
        () => {
          signal?.removeEventListener('abort', fail);
          resolve();
        },
        Math.min(Math.max(0, ms), DELAY_MAX_MS),
      );
      if (signal?.aborted === true) fail();
      else signal?.addEventListener('abort', fail, { once: true });
    });
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    if (delayMs > DELAY_MAX_MS) return NO_TIMER;
    const timeout = setTimeout(callback, Math.max(0, delayMs)).unref();
    return { cancel: () => clearTimeout(timeout) };
  }
}
