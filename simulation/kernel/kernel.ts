import { Digest } from './digest.ts';
import { EventQueue } from './event-queue.ts';
import type { PlannedEvent } from './event-queue.ts';
import { SeededRandom } from './seeded-random.ts';
import { VirtualClock, VirtualTime } from './virtual-clock.ts';

/** What a run is made from. */
export interface KernelOptions {
  readonly seed: string;
  /** Wall clock at the start of the run, milliseconds since the Unix epoch. */
  readonly wallStartMs: number;
  /** Resolves when every promise that can settle without an event has settled. */
  readonly drain: () => Promise<void>;
}

/** When a run ends; whichever comes first. A run also ends when no event is left. */
export interface RunLimits {
  /** Virtual milliseconds since the start; events of that instant still run. */
  readonly untilMs?: number;
  /** Asked after every event. */
  readonly isDone?: () => boolean;
  /** Events of this call of `run`; reaching it means that the world doesn't come to rest. */
  readonly eventsMax: number;
}

/** Why a run ended. */
export type RunEnd = 'idle' | 'done' | 'time' | 'events';

/**
 * The run loop of a simulation: takes the next event, moves the clock to it, runs it, lets all promises settle, and writes it
 * to the digest. Nothing else moves time, and nothing happens between two events: the same seed gives the same digest.
 */
export class Kernel {
  readonly seed: string;
  readonly clock: VirtualClock;
  readonly random: SeededRandom;
  readonly #queue = new EventQueue();
  readonly #time = new VirtualTime();
  readonly #digest = new Digest();
  readonly #drain: () => Promise<void>;
  #events = 0;
  #isRunning = false;

  constructor(options: KernelOptions) {
    this.seed = options.seed;
    this.clock = new VirtualClock(this.#time, this.#queue, options.wallStartMs);
    this.random = new SeededRandom(options.seed);
    this.#drain = options.drain;
  }

  /** Events run so far. */
  get events(): number {
    return this.#events;
  }

  /** Fingerprint of everything that has happened, 16 hex characters. */
  get digest(): string {
    return this.#digest.hex();
  }

  /** Plans an event `delayMs` from now; its label goes into the digest when it runs. */
  plan(delayMs: number, label: string, action: () => void): PlannedEvent {
    return this.#queue.plan(this.#time.nowMs + Math.max(0, delayMs), label, action);
  }

  /** Writes something that was observed (an outcome, a body) to the digest. */
  record(label: string, ...values: readonly (string | number | Uint8Array)[]): void {
    this.#digest.text(label);
    for (const value of values) {
      if (typeof value === 'string') this.#digest.text(value);
      else if (typeof value === 'number') this.#digest.number(value);
      else this.#digest.bytes(value);
    }
  }

  /** Runs events until a limit is reached. An event that throws ends the run with its error. */
  async run(limits: RunLimits): Promise<RunEnd> {
    if (this.#isRunning) throw new Error('A kernel has one run at a time.');
    this.#isRunning = true;
    try {
      await this.#drain();
      for (let count = 0; ; count++) {
        const end = this.#endOf(limits, count);
        if (end !== undefined) return end;
        const event = this.#queue.pop();
        if (event === undefined) return 'idle';
        this.#time.moveTo(event.atMs);
        this.#events++;
        this.record(event.label, event.atMs);
        event.action();
        await this.#drain();
      }
    } finally {
      this.#isRunning = false;
    }
  }

  #endOf(limits: RunLimits, count: number): RunEnd | undefined {
    if (limits.isDone?.() === true) return 'done';
    const nextAtMs = this.#queue.nextAtMs;
    if (limits.untilMs !== undefined && (nextAtMs === undefined || nextAtMs > limits.untilMs)) {
      this.#time.moveTo(Math.max(limits.untilMs, this.#time.nowMs));
      return 'time';
    }
    if (nextAtMs === undefined) return 'idle';
    return count >= limits.eventsMax ? 'events' : undefined;
  }
}
