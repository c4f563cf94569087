import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { RepriseError } from '../../errors.ts';
import type { CallOptions } from '../../ports/call-options.ts';
import type { Clock } from '../../ports/clock.ts';

/** A call of a worker. */
export interface InferenceTask {
  /** One `Int32`: not 0 once nobody waits for the reply any more. */
  readonly givenUp: SharedArrayBuffer;
}

export interface InferenceThreadsOptions {
  /** What the threads work for, as error messages name it: "embedder". */
  readonly name: string;
  /** Function of the worker module that takes the tasks. */
  readonly task: string;
  readonly workerUrl: URL;
  readonly workerData: object;
  readonly threads: number;
  /** Calls that may wait for a thread; default 64. */
  readonly queueMax?: number | undefined;
  readonly onThreadEnded: (error: unknown) => void;
}

const QUEUE_MAX = 64;
/** Longer than any call takes; a thread that works on past it is ended with the process. */
const CLOSE_TIMEOUT_MS = 10_000;

/** Loading a model and the first inference, milliseconds. */
export const OPEN_TIMEOUT_MS = 60_000;
/** More characters a token than any text of words has: what is longer is past every window. */
export const CHARACTERS_PER_TOKEN_MAX = 32;

/**
 * Worker threads of inference. A thread that ended is replaced, and the replacement loads the model with its first call. A thread is never
 * ended from here while it works: inference can't be interrupted, and ending its thread takes the process down. A call past its
 * deadline is given up instead, and the thread stops at the next place where it looks.
 */
export class InferenceThreads<Task extends InferenceTask, Reply> {
  readonly #name: string;
  readonly #task: string;
  readonly #clock: Clock;
  readonly #pool: Piscina<Task, Reply>;
  readonly #running = new Set<Promise<void>>();
  readonly #givers = new Set<(error: RepriseError) => void>();
  #isClosed = false;

  constructor(clock: Clock, options: InferenceThreadsOptions) {
    const { name, task, workerUrl, workerData, threads, queueMax = QUEUE_MAX, onThreadEnded } = options;
    this.#name = name;
    this.#task = task;
    this.#clock = clock;
    this.#pool = new Piscina({
      filename: fileURLToPath(workerUrl),
      workerData,
      minThreads: threads,
      maxThreads: threads,
      maxQueue: queueMax,
      execArgv: [],
      recordTiming: false,
    });
    this.#pool.on('error', (error: unknown) => {
      if (!this.#isClosed) onThreadEnded(error);
    });
  }

  /** The worker's reply. Fails with `embedder_timeout` past the deadline, `cancelled`, or `embedder_unavailable`. */
  async run(work: Omit<Task, keyof InferenceTask>, options: CallOptions): Promise<Reply> {
    const { signal } = options;
    if (this.#isClosed) throw this.#closed();
    if (signal?.aborted === true) throw this.#cancelled(signal);
    const leftMs = options.deadlineAtMs - this.#clock.monotonicMs();
    if (leftMs <= 0) throw this.timeout();
    const givenUp = new SharedArrayBuffer(4);
    const running = this.#track({ ...work, givenUp } as Task);
    return new Promise((resolve, reject) => {
      const giveUp = (error: RepriseError): void => {
        Atomics.store(new Int32Array(givenUp), 0, 1);
        settle();
        reject(error);
      };
      const timer = this.#clock.setTimer(leftMs, () => giveUp(this.timeout()));
      const onAbort = (): void => giveUp(this.#cancelled(signal));
      const settle = (): void => {
        timer.cancel();
        signal?.removeEventListener('abort', onAbort);
        this.#givers.delete(giveUp);
      };
      this.#givers.add(giveUp);
      signal?.addEventListener('abort', onAbort, { once: true });
      running.then(
        (reply) => {
          settle();
          resolve(reply);
        },
        (error: unknown) => {
          settle();
          reject(new RepriseError('embedder_unavailable', `A thread of the ${this.#name} failed.`, { cause: error }));
        },
      );
    });
  }

  /** Gives up what runs, waits until the threads are idle, then ends them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const giveUp of this.#givers) giveUp(this.#closed());
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimer(CLOSE_TIMEOUT_MS, resolve);
      void Promise.all(this.#running).then(() => {
        timer.cancel();
        resolve();
      });
    });
    await this.#pool.destroy();
  }

  timeout(): RepriseError {
    return new RepriseError('embedder_timeout', `The ${this.#name} did not answer in time.`);
  }

  /** A task of the pool, remembered until it ends, since closing has to wait for it. */
  #track(task: Task): Promise<Reply> {
    const running = this.#pool.run(task, { name: this.#task });
    const ended = running.then(
      () => undefined,
      () => undefined,
    );
    this.#running.add(ended);
    void ended.then(() => this.#running.delete(ended));
    return running;
  }

  #closed(): RepriseError {
    return new RepriseError('embedder_unavailable', `The ${this.#name} is closed.`);
  }

  #cancelled(signal: AbortSignal | undefined): RepriseError {
    return new RepriseError('cancelled', `The caller of the ${this.#name} left.`, { cause: signal?.reason });
  }
}

/** Where a worker lies beside its module: as TypeScript it is run by `source-worker.mjs`. */
export function workerBeside(moduleUrl: string, built: string): URL {
  return new URL(moduleUrl.endsWith('.ts') ? './source-worker.mjs' : built, moduleUrl);
}
