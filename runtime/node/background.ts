import { toRepriseError } from '../errors.ts';
import type { Telemetry } from '../ports/telemetry.ts';

const TASKS_MAX = 1_024;

/** Supervises background tasks: bounded in number, every failure recorded, none lost in silence. */
export class Background {
  readonly #telemetry: Telemetry;
  readonly #live = new Set<Promise<void>>();

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  /** Starts `work`; past the bound it is dropped and counted as a failure. */
  readonly run = (task: string, work: () => Promise<void>): void => {
    if (this.#live.size >= TASKS_MAX) {
      this.#failed(task, 'overloaded');
      return;
    }
    const running: Promise<void> = work()
      .catch((error: unknown) => this.#failed(task, toRepriseError(error).code))
      .finally(() => this.#live.delete(running));
    this.#live.add(running);
  };

  /** Resolves when all that runs now has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#live);
  }

  #failed(task: string, code: string): void {
    this.#telemetry.counter('reprise_background_failures_total', task).add();
    this.#telemetry.log('warn', 'background task failed', { task, code });
  }
}
