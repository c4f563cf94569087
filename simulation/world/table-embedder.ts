import { RepriseError } from '../../runtime/errors.ts';
import type { CallOptions } from '../../runtime/ports/call-options.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Embedder, Embedding } from '../../runtime/ports/embedder.ts';
import type { Random } from '../../runtime/ports/random.ts';

/** A table embedder's shape and pace, virtual milliseconds. */
export interface TableEmbedderOptions {
  readonly dimensions: number;
  readonly windowTokens: number;
  readonly batchMs: number;
  readonly textMs: number;
  /** Length of what tells two texts of one meaning apart, beside a meaning's unit length. */
  readonly spread: number;
}

/**
 * An embedder for simulated nodes: a table says which texts mean the same; those get near vectors, all others vectors that
 * have nothing to do with each other. A text's vector depends on the random's seed, the table and the text alone.
 */
export class TableEmbedder implements Embedder {
  readonly id = 'table-embedder-1';
  readonly dimensions: number;
  readonly windowTokens: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #meanings: ReadonlyMap<string, string>;
  readonly #options: TableEmbedderOptions;
  #embedded = 0;

  constructor(
    deps: { clock: Clock; random: Random },
    meanings: ReadonlyMap<string, string>,
    options: TableEmbedderOptions,
  ) {
    this.dimensions = options.dimensions;
    this.windowTokens = options.windowTokens;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#meanings = meanings;
    this.#options = options;
  }

  /** Texts embedded so far. */
  get embedded(): number {
    return this.#embedded;
  }

  async embed(texts: readonly string[], options: CallOptions): Promise<readonly Embedding[]> {
    this.#embedded += texts.length;
    const ms = this.#options.batchMs + texts.length * this.#options.textMs;
    const leftMs = options.deadlineAtMs - this.#clock.monotonicMs();
    await this.#clock.sleep(Math.max(0, Math.min(ms, leftMs)), options.signal);
    if (ms > leftMs) throw new RepriseError('embedder_timeout', 'The table embedder took longer than its deadline.');
    return texts.map((text) => this.#embedding(text));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #embedding(text: string): Embedding {
    const meaning = unitVector(this.#random.fork(`meaning ${this.#meanings.get(text) ?? text}`), this.dimensions);
    const own = unitVector(this.#random.fork(`text ${text}`), this.dimensions);
    const vector = meaning.map((component, index) => component + this.#options.spread * (own[index] ?? 0));
    const tokenCount = text.split(/\s+/u).length;
    return { vector: normalised(vector), tokenCount, truncated: tokenCount > this.windowTokens };
  }
}

function unitVector(random: Random, dimensions: number): Float32Array {
  return normalised(Float32Array.from({ length: dimensions }, () => random.float() * 2 - 1));
}

function normalised(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, component) => sum + component * component, 0));
  return vector.map((component) => component / length);
}
