import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { RepriseError } from '../../errors.ts';
import type { CallOptions } from '../../ports/call-options.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Embedder, Embedding } from '../../ports/embedder.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { EmbedReply, EmbedTask, OnnxWorkerData } from './worker-messages.ts';

export interface OnnxEmbedderOptions extends OnnxWorkerData {
  readonly id: string;
  readonly threads: number;
  /** Calls that may wait for a thread. */
  readonly queueMax?: number;
  /** Another worker module; for tests. */
  readonly workerUrl?: URL;
}

const QUEUE_MAX = 64;
/** Loading the model and the first inference. */
const OPEN_TIMEOUT_MS = 60_000;
/** More characters a token than any text of words has; longer texts are cut before they travel to a worker. */
const CHARACTERS_PER_TOKEN_MAX = 32;
/** Longer than any text takes; a thread that works on past it is ended with the process. */
const CLOSE_TIMEOUT_MS = 10_000;
const PROBE_TEXT = 'Which vector does this text have?';

/**
 * Embeds by ONNX Runtime in worker threads. A thread that ended is replaced, and the replacement loads the model with its
 * first call. A thread is never ended from here while it works: inference can't be interrupted, and ending its thread takes
 * the process down. A call past its deadline is given up instead, and the thread stops after the text it is at.
 */
export class OnnxEmbedder implements Embedder {
  readonly id: string;
  readonly windowTokens: number;
  readonly #threads: number;
  readonly #pool: Piscina<EmbedTask, EmbedReply>;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #missing = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  readonly #givers = new Set<(error: RepriseError) => void>();
  #dimensions = 0;
  #closed = false;

  private constructor(deps: { clock: Clock; telemetry: Telemetry }, options: OnnxEmbedderOptions) {
    this.id = options.id;
    this.windowTokens = options.windowTokens;
    this.#threads = options.threads;
    this.#clock = deps.clock;
    this.#telemetry = deps.telemetry;
    this.#pool = makePool(options);
    this.#pool.on('error', (error: unknown) => this.#threadEnded(error));
  }

  /** Loads the model in every thread and learns its dimensions. Fails with `embedder_unavailable` or `embedder_invalid_vector`. */
  static async open(
    deps: { readonly clock: Clock; readonly telemetry: Telemetry },
    options: OnnxEmbedderOptions,
  ): Promise<OnnxEmbedder> {
    const embedder = new OnnxEmbedder(deps, options);
    try {
      await embedder.#warm();
      return embedder;
    } catch (error) {
      await embedder.close();
      throw error;
    }
  }

  get dimensions(): number {
    return this.#dimensions;
  }

  async embed(texts: readonly string[], options: CallOptions): Promise<readonly Embedding[]> {
    if (texts.length === 0) return [];
    const shares = this.#share(texts);
    const replies = await Promise.all(shares.map((share) => this.#run(share, options)));
    const embeddings = replies.flatMap((reply) => reply.embeddings);
    return texts.map((text, index) => this.#checked(embeddings[index], text));
  }

  /** Gives up what runs, waits until the threads are idle, then ends them. */
  async close(): Promise<void> {
    this.#closed = true;
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

  async #warm(): Promise<void> {
    const options = { deadlineAtMs: this.#clock.monotonicMs() + OPEN_TIMEOUT_MS };
    const probes = Array.from({ length: this.#threads }, () => this.#run([PROBE_TEXT], options));
    const [reply] = await Promise.all(probes);
    this.#dimensions = reply?.embeddings[0]?.vector.length ?? 0;
    this.#checked(reply?.embeddings[0], PROBE_TEXT);
  }

  /** Runs of the texts, one for each thread. */
  #share(texts: readonly string[]): readonly (readonly string[])[] {
    const size = Math.ceil(texts.length / this.#threads);
    const shares: string[][] = [];
    for (let at = 0; at < texts.length; at += size) {
      shares.push(texts.slice(at, at + size).map((text) => text.slice(0, this.#charactersMax)));
    }
    return shares;
  }

  get #charactersMax(): number {
    return this.windowTokens * CHARACTERS_PER_TOKEN_MAX;
  }

  async #run(texts: readonly string[], options: CallOptions): Promise<EmbedReply> {
    const { signal } = options;
    if (this.#closed) throw closed();
    if (signal?.aborted === true) throw cancelled(signal);
    const leftMs = options.deadlineAtMs - this.#clock.monotonicMs();
    if (leftMs <= 0) throw timeout();
    const givenUp = new SharedArrayBuffer(4);
    const task = this.#track({ texts, givenUp });
    return new Promise((resolve, reject) => {
      const giveUp = (error: RepriseError): void => {
        Atomics.store(new Int32Array(givenUp), 0, 1);
        settle();
        reject(error);
      };
      const timer = this.#clock.setTimer(leftMs, () => giveUp(timeout()));
      const onAbort = (): void => giveUp(cancelled(signal));
      const settle = (): void => {
        timer.cancel();
        signal?.removeEventListener('abort', onAbort);
        this.#givers.delete(giveUp);
      };
      this.#givers.add(giveUp);
      signal?.addEventListener('abort', onAbort, { once: true });
      task.then(
        (reply) => {
          settle();
          this.#noteMissing(reply.missingProviders);
          resolve(reply);
        },
        (error: unknown) => {
          settle();
          reject(new RepriseError('embedder_unavailable', 'The embedding thread failed.', { cause: error }));
        },
      );
    });
  }

  /** A task of the pool, remembered until it ends, since closing has to wait for it. */
  #track(task: EmbedTask): Promise<EmbedReply> {
    const running = this.#pool.run(task, { name: 'embed' });
    const ended = running.then(
      () => undefined,
      () => undefined,
    );
    this.#running.add(ended);
    void ended.then(() => this.#running.delete(ended));
    return running;
  }

  #checked(embedding: Embedding | undefined, text: string): Embedding {
    if (embedding === undefined) throw invalidVector('no vector');
    if (text.length > this.#charactersMax) return { ...embedding, truncated: true };
    if (embedding.truncated) return embedding;
    if (embedding.vector.length !== this.#dimensions || this.#dimensions === 0) throw invalidVector('wrong dimensions');
    let squares = 0;
    for (const value of embedding.vector) squares += value * value;
    if (!Number.isFinite(squares)) throw invalidVector('numbers that are not finite');
    if (squares < 1e-12) throw invalidVector('a zero vector');
    return embedding;
  }

  #noteMissing(providers: readonly string[]): void {
    for (const provider of providers) {
      if (this.#missing.has(provider)) continue;
      this.#missing.add(provider);
      this.#telemetry.counter('reprise_embedder_fallbacks_total', provider).add();
      this.#telemetry.log('warn', 'embedder_fallback', { provider, instead: 'cpu' });
    }
  }

  #threadEnded(error: unknown): void {
    if (this.#closed) return;
    const message = error instanceof Error ? error.message : String(error);
    this.#telemetry.log('warn', 'embedder_thread_ended', { message });
  }
}

function makePool(options: OnnxEmbedderOptions): Piscina<EmbedTask, EmbedReply> {
  const fromSource = import.meta.url.endsWith('.ts');
  const workerUrl =
    options.workerUrl ?? new URL(fromSource ? './source-worker.mjs' : './onnx-worker.js', import.meta.url);
  const { modelPath, tokenizerPath, windowTokens, intraOpThreads, executionProviders } = options;
  const workerData: OnnxWorkerData = { modelPath, tokenizerPath, windowTokens, intraOpThreads, executionProviders };
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
  return new RepriseError('embedder_unavailable', 'The embedder is closed.');
}

function timeout(): RepriseError {
  return new RepriseError('embedder_timeout', 'The embedder did not answer in time.');
}

function cancelled(signal: AbortSignal | undefined): RepriseError {
  return new RepriseError('cancelled', 'The caller of the embedder left.', { cause: signal?.reason });
}

function invalidVector(what: string): RepriseError {
  return new RepriseError('embedder_invalid_vector', `The embedding model returned ${what}.`);
}
