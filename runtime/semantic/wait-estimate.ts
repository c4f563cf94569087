import type { Clock } from '../ports/clock.ts';

/** Weight of the latest batch. Half, so that one slow batch is forgotten after a few quick ones. */
const WEIGHT = 0.5;
/** While nothing is embedded the estimate halves in this time, so that a recovered embedder gets tried again. */
const IDLE_HALF_LIFE_MS = 1_000;

/** Expects how long the embedder takes for a text, from the batches that ended. */
export class WaitEstimate {
  readonly #clock: Clock;
  #perTextMs = 0;
  #endedAtMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A batch ended, well or not. */
  observe(texts: number, batchMs: number): void {
    const sampleMs = batchMs / Math.max(1, texts);
    this.#perTextMs = this.#endedAtMs === -Infinity ? sampleMs : this.#perTextMs * (1 - WEIGHT) + sampleMs * WEIGHT;
    this.#endedAtMs = this.#clock.monotonicMs();
  }

  /** Milliseconds a text; 0 while nothing is known. `busySinceMs`: since when a batch has been with the embedder, if one is. */
  perTextMs(busySinceMs: number | undefined): number {
    if (busySinceMs !== undefined) return this.#perTextMs;
    const idleMs = this.#clock.monotonicMs() - this.#endedAtMs;
    return this.#perTextMs === 0 ? 0 : this.#perTextMs * 2 ** (-idleMs / IDLE_HALF_LIFE_MS);
  }
}
