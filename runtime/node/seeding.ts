import { hasCode, RepriseError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';

const ATTEMPTS_MAX = 10;
const ATTEMPT_MS = 60_000;
const BACK_OFF_MS = 250;
const BACK_OFF_MS_MAX = 10_000;

/**
 * Gives the grid back what this node keeps of control state, whenever an incarnation begins. One run at a time; a beginning
 * during a run is followed by another run. What the grid refuses is tried again, later each time.
 */
export class Seeding {
  readonly #clock: Clock;
  readonly #seed: (options: CallOptions) => Promise<void>;
  readonly #stopping = new AbortController();
  #begun = 0;
  #isRunning = false;

  constructor(clock: Clock, seed: (options: CallOptions) => Promise<void>) {
    this.#clock = clock;
    this.#seed = seed;
  }

  /** Resolves when all is there again; at once while an earlier run does the work. Fails with the last failure. */
  async run(): Promise<void> {
    this.#begun += 1;
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      let done = 0;
      while (done < this.#begun) {
        done = this.#begun;
        await this.#seedAnyhow();
      }
    } finally {
      this.#isRunning = false;
    }
  }

  stop(): void {
    this.#stopping.abort(new RepriseError('cancelled', 'The node is stopping.'));
  }

  async #seedAnyhow(): Promise<void> {
    const { signal } = this.#stopping;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        await this.#seed({ deadlineAtMs: this.#clock.monotonicMs() + ATTEMPT_MS, signal });
        return;
      } catch (error) {
        if (signal.aborted) return;
        const isAway = hasCode(error, 'grid_timeout') || hasCode(error, 'grid_unavailable');
        if (!isAway || attempt >= ATTEMPTS_MAX) throw error;
      }
      const pauseMs = Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS * 2 ** attempt);
      await this.#clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }
}
