import { assert, hasCode } from '../errors.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { Telemetry } from '../ports/telemetry.ts';

/** What the loop does, and how often at least. */
export interface ConfirmLoopOptions {
  readonly intervalMs: number;
  readonly confirm: () => Promise<void>;
  readonly confirmedAgeMs: () => number;
  readonly listen: (changed: () => void) => { close(): void };
}

/** Least time between the starts of two confirmations, so that a storm of appends doesn't become a storm of reads. */
const GAP_MS = 10;

/** Confirms at once, at every interval, and soon after the head changed; a failure is counted and waits for the next time. */
export class ConfirmLoop {
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #options: ConfirmLoopOptions;
  #running: Promise<void> | undefined;
  #subscription: { close(): void } | undefined;
  #isStopped = false;
  #isChanged = false;
  #isFailing = false;
  #startedAtMs = 0;
  #timer: Timer | undefined;
  #resume: (() => void) | undefined;

  constructor(clock: Clock, telemetry: Telemetry, options: ConfirmLoopOptions) {
    this.#clock = clock;
    this.#telemetry = telemetry;
    this.#options = options;
  }

  start(): void {
    assert(this.#running === undefined, 'a ledger is started once');
    this.#subscription = this.#options.listen(() => this.#changed());
    this.#running = this.#run();
  }

  /** Resolves when the confirmation under way, if any, has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#subscription?.close();
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#startedAtMs = this.#clock.monotonicMs();
      this.#isChanged = false;
      await this.#confirm();
      await this.#pause();
    }
  }

  async #confirm(): Promise<void> {
    try {
      await this.#options.confirm();
      if (this.#isFailing) this.#telemetry.log('info', 'ledger_confirmed_again');
      this.#isFailing = false;
    } catch (error) {
      if (this.#isStopped) return;
      if (!hasCode(error, 'grid_timeout') && !hasCode(error, 'grid_unavailable')) {
        this.#telemetry.counter('reprise_background_failures_total', 'ledger_confirm').add();
        this.#telemetry.log('error', 'ledger_confirm_failed', { error: String(error) });
      } else if (!this.#isFailing) {
        this.#telemetry.log('warn', 'ledger_unconfirmed', { code: error.code });
      }
      this.#isFailing = true;
    }
    const ageMs = this.#options.confirmedAgeMs();
    if (Number.isFinite(ageMs)) this.#telemetry.gauge('reprise_ledger_confirmed_age_seconds').set(ageMs / 1_000);
  }

  #pause(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resume = resolve;
      this.#wakeAfter(this.#isChanged ? GAP_MS : this.#options.intervalMs);
    });
  }

  #changed(): void {
    if (this.#isChanged) return;
    this.#isChanged = true;
    if (this.#resume !== undefined) this.#wakeAfter(GAP_MS);
  }

  /** Ends the pause `ms` after the start of the last confirmation. */
  #wakeAfter(ms: number): void {
    this.#timer?.cancel();
    const leftMs = this.#startedAtMs + ms - this.#clock.monotonicMs();
    this.#timer = this.#clock.setTimer(Math.max(0, leftMs), () => this.#wake());
  }

  #wake(): void {
    this.#timer?.cancel();
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }
}
