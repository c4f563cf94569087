import { RepriseError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';

interface Waiter {
  readonly admit: () => void;
}

/** A bounded queue in which a node's own appends wait for each other, so that they don't contend for the head. */
export class AppendQueue {
  readonly #clock: Clock;
  readonly #waitingMax: number;
  readonly #waiting = new Set<Waiter>();
  #isBusy = false;

  constructor(clock: Clock, waitingMax: number) {
    this.#clock = clock;
    this.#waitingMax = waitingMax;
  }

  /** Resolves when it is the caller's turn; every `enter` that resolved is followed by a `leave`. Fails with `overloaded`, `grid_unavailable` or `cancelled`. */
  enter(options: CallOptions): Promise<void> {
    if (options.signal?.aborted === true) return Promise.reject(cancelled());
    if (!this.#isBusy) {
      this.#isBusy = true;
      return Promise.resolve();
    }
    if (this.#waiting.size >= this.#waitingMax) {
      return Promise.reject(new RepriseError('overloaded', 'Too many invalidations are waiting; try again later.'));
    }
    return this.#wait(options);
  }

  leave(): void {
    for (const next of this.#waiting) {
      next.admit();
      return;
    }
    this.#isBusy = false;
  }

  #wait(options: CallOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        this.#waiting.delete(waiter);
        timer.cancel();
        options.signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const waiter: Waiter = { admit: () => finish(resolve) };
      const onAbort = (): void => finish(() => reject(cancelled()));
      const timer = this.#clock.setTimer(Math.max(0, options.deadlineAtMs - this.#clock.monotonicMs()), () =>
        finish(() =>
          reject(new RepriseError('grid_unavailable', 'The invalidation waited for others past its deadline.')),
        ),
      );
      options.signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiter);
    });
  }
}

function cancelled(): RepriseError {
  return new RepriseError('cancelled', 'The invalidation was cancelled.');
}
