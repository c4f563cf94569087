import { RepriseError } from '../../errors.ts';
import type { CallOptions } from '../../ports/call-options.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Embedder, Embedding } from '../../ports/embedder.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import { CHARACTERS_PER_TOKEN_MAX, InferenceThreads, OPEN_TIMEOUT_MS, workerBeside } from './inference-threads.ts';
import type { EmbedReply, EmbedTask, OnnxWorkerData } from './worker-messages.ts';

export interface OnnxEmbedderOptions extends OnnxWorkerData {
  readonly id: string;
  readonly threads: number;
  /** Calls that may wait for a thread. */
  readonly queueMax?: number;
  /** Another worker module; for tests. */
  readonly workerUrl?: URL;
}

const PROBE_TEXT = 'Which vector does this text have?';

/** Embeds by ONNX Runtime in worker threads; texts too long for any window are cut before they travel there. */
export class OnnxEmbedder implements Embedder {
  readonly id: string;
  readonly windowTokens: number;
  readonly #threadCount: number;
  readonly #threads: InferenceThreads<EmbedTask, EmbedReply>;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #missing = new Set<string>();
  #dimensions = 0;

  private constructor(deps: { clock: Clock; telemetry: Telemetry }, options: OnnxEmbedderOptions) {
    this.id = options.id;
    this.windowTokens = options.windowTokens;
    this.#threadCount = options.threads;
    this.#clock = deps.clock;
    this.#telemetry = deps.telemetry;
    const { modelPath, tokenizerPath, windowTokens, intraOpThreads, executionProviders } = options;
    const workerData: OnnxWorkerData = { modelPath, tokenizerPath, windowTokens, intraOpThreads, executionProviders };
    this.#threads = new InferenceThreads(deps.clock, {
      name: 'embedder',
      task: 'embed',
      workerUrl: options.workerUrl ?? workerBeside(import.meta.url, './onnx-worker.js'),
      workerData,
      threads: options.threads,
      queueMax: options.queueMax,
      onThreadEnded: (error) => this.#threadEnded(error),
    });
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
  close(): Promise<void> {
    return this.#threads.close();
  }

  async #warm(): Promise<void> {
    const options = { deadlineAtMs: this.#clock.monotonicMs() + OPEN_TIMEOUT_MS };
    const probes = Array.from({ length: this.#threadCount }, () => this.#run([PROBE_TEXT], options));
    const [reply] = await Promise.all(probes);
    this.#dimensions = reply?.embeddings[0]?.vector.length ?? 0;
    this.#checked(reply?.embeddings[0], PROBE_TEXT);
  }

  /** Runs of the texts, one for each thread. */
  #share(texts: readonly string[]): readonly (readonly string[])[] {
    const size = Math.ceil(texts.length / this.#threadCount);
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
    const reply = await this.#threads.run({ texts }, options);
    this.#noteMissing(reply.missingProviders);
    return reply;
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
    const message = error instanceof Error ? error.message : String(error);
    this.#telemetry.log('warn', 'embedder_thread_ended', { message });
  }
}

function invalidVector(what: string): RepriseError {
  return new RepriseError('embedder_invalid_vector', `The embedding model returned ${what}.`);
}
