import type { Clock, Timer } from '../../runtime/ports/clock.ts';
import type { EventQueue } from './event-queue.ts';

/** Time that only the run loop moves. One instance a simulated machine: all share the queue and the instant, each has a wall clock of its own. */
export class VirtualClock implements Clock {
  readonly #time: VirtualTime;
  readonly #queue: EventQueue;
  readonly #wallStartMs: number;

  constructor(time: VirtualTime, queue: EventQueue, wallStartMs: number) {
    this.#time = time;
    this.#queue = queue;
    this.#wallStartMs = wallStartMs;
  }

  /** A clock of the same instant whose wall reading is off by `skewMs`. */
  skewed(skewMs: number): VirtualClock {
    return new VirtualClock(this.#time, this.#queue, this.#wallStartMs + skewMs);
  }

  monotonicMs(): number {
    return this.#time.nowMs;
  }

  wallMs(): number {
    return this.#wallStartMs + this.#time.nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        event.cancel();
        reject(signal?.reason as Error);
      };
      const event = this.#plan(ms, 'sleep', () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.#plan(delayMs, 'timer', callback);
  }

  #plan(delayMs: number, label: string, action: () => void): Timer {
    return this.#queue.plan(this.#time.nowMs + Math.max(0, delayMs), label, action);
  }
}

/** The instant of a run, milliseconds since its start. */
export class VirtualTime {
  #nowMs = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Moves on to the time of an event; never back. */
  moveTo(atMs: number): void {
    if (atMs < this.#nowMs) throw new Error('Virtual time never steps back.');
    this.#nowMs = atMs;
  }
}
