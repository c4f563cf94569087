import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { RepriseError } from '../../errors.ts';
import type { CallOptions } from '../../ports/call-options.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Verifier } from '../../ports/verifier.ts';
import type { CrossEncoderWorkerData, VerifyReply, VerifyTask } from './worker-messages.ts';

export interface CrossEncoderOptions extends CrossEncoderWorkerData {
  readonly id: string;
  readonly threads: number;
  /** Calls that may wait for a thread. */
  readonly queueMax?: number;
  /** Another worker module; for tests. */
  readonly workerUrl?: URL;
}

const QUEUE_MAX = 64;
const OPEN_TIMEOUT_MS = 60_000;
const CLOSE_TIMEOUT_MS = 10_000;
/** More characters a token than any text of words has; longer texts don't travel to a worker. */
const CHARACTERS_PER_TOKEN_MAX = 32;

/**
 * A cross-encoder by ONNX Runtime in worker threads. Like the embedder's, a thread is never ended while it works: a call past its
 * deadline is given up, and the thread goes on to the next.
 */
export class CrossEncoder implements Verifier {
  readonly id: string;
  readonly #charactersMax: number;
  readonly #pool: Piscina<VerifyTask, VerifyReply>;
  readonly #clock: Clock;
  readonly #running = new Set<Promise<void>>();
  readonly #givers = new Set<(error: RepriseError) => void>();
  #isClosed = false;

  private constructor(deps: { readonly clock: Clock }, options: CrossEncoderOptions) {
    this.id = options.id;
    this.#charactersMax = options.windowTokens * CHARACTERS_PER_TOKEN_MAX;
    this.#clock = deps.clock;
    this.#pool = makePool(options);
    this.#pool.on('error', () => undefined);
  }

  /** Loads the model in every thread. Fails with `embedder_unavailable`. */
  static async open(deps: { readonly clock: Clock }, options: CrossEncoderOptions): Promise<CrossEncoder> {
    const encoder = new CrossEncoder(deps, options);
    try {
      const within = { deadlineAtMs: deps.clock.monotonicMs() + OPEN_TIMEOUT_MS };
      await Promise.all(Array.from({ length: options.threads }, () => encoder.verify('a', 'b', within)));
      return encoder;
    } catch (error) {
      await encoder.close();
      throw error;
    }
  }

  async verify(storedText: string, askedText: string, options: CallOptions): Promise<number> {
    if (storedText.length + askedText.length > this.#charactersMax) return 0;
    const reply = await this.#run({ storedText, askedText, givenUp: new SharedArrayBuffer(4) }, options);
    if (reply.kind === 'too-long') return 0;
    if (reply.kind === 'given-up') throw timeout();
    if (reply.probability >= 0 && reply.probability <= 1) return reply.probability;
    throw new RepriseError('embedder_invalid_vector', 'The cross-encoder gave no probability.');
  }

  /** Gives up what runs, waits until the threads are idle, then ends them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const giveUp of this.#givers) giveUp(closed());
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimer(CLOSE_TIMEOUT_MS, resolve);
      void Promise.all(this.#running).then(() => {
        timer.cancel();
        resolve();
      });
    });
    await this.#pool.destroy();
  }

  #run(task: VerifyTask, options: CallOptions): Promise<VerifyReply> {
    const { signal } = options;
    if (this.#isClosed) return Promise.reject(closed());
    if (signal?.aborted === true) return Promise.reject(cancelled(signal));
    const leftMs = options.deadlineAtMs - this.#clock.monotonicMs();
    if (leftMs <= 0) return Promise.reject(timeout());
    const reply = this.#track(task);
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        timer.cancel();
        signal?.removeEventListener('abort', onAbort);
        this.#givers.delete(giveUp);
      };
      const giveUp = (error: RepriseError): void => {
        Atomics.store(new Int32Array(task.givenUp), 0, 1);
        settle();
        reject(error);
      };
      const timer = this.#clock.setTimer(leftMs, () => giveUp(timeout()));
      const onAbort = (): void => giveUp(cancelled(signal));
      this.#givers.add(giveUp);
      signal?.addEventListener('abort', onAbort, { once: true });
      reply.then(
        (value) => {
          settle();
          resolve(value);
        },
        (error: unknown) => {
          settle();
          reject(new RepriseError('embedder_unavailable', 'The cross-encoder failed.', { cause: error }));
        },
      );
    });
  }

  #track(task: VerifyTask): Promise<VerifyReply> {
    const running = this.#pool.run(task, { name: 'verify' });
    const ended = running.then(
      () => undefined,
      () => undefined,
    );
    this.#running.add(ended);
    void ended.then(() => this.#running.delete(ended));
    return running;
  }
}

function makePool(options: CrossEncoderOptions): Piscina<VerifyTask, VerifyReply> {
  const fromSource = import.meta.url.endsWith('.ts');
  const workerUrl =
    options.workerUrl ?? new URL(fromSource ? './source-worker.mjs' : './cross-encoder-worker.js', import.meta.url);
  const { modelPath, tokenizerPath, windowTokens, executionProviders } = options;
  const workerData: CrossEncoderWorkerData = { modelPath, tokenizerPath, windowTokens, executionProviders };
  return new Piscina({
    filename: fileURLToPath(workerUrl),
    workerData,
    minThreads: options.threads,
    maxThreads: options.threads,
    maxQueue: options.queueMax ?? QUEUE_MAX,
    execArgv: [],
    recordTiming: false,
  });
}

function closed(): RepriseError {
  return new RepriseError('embedder_unavailable', 'The cross-encoder is closed.');
}

function timeout(): RepriseError {
  return new RepriseError('embedder_timeout', 'The cross-encoder did not answer in time.');
}

function cancelled(signal: AbortSignal | undefined): RepriseError {
  return new RepriseError('cancelled', 'The caller of the cross-encoder left.', { cause: signal?.reason });
}
