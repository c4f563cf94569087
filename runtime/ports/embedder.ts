import type { CallOptions } from './call-options.ts';

/** One embedded text. `truncated`: the text is longer than the embedder's window, so the vector says nothing of its end. */
export interface Embedding {
  /** Unit length, `dimensions` finite numbers; may be empty when `truncated`. */
  readonly vector: Float32Array;
  readonly tokenCount: number;
  readonly truncated: boolean;
}

/** Makes vectors from texts, one result a text, in order. May be slow: only ever called through the embed queue. */
export interface Embedder {
  /** Names the model and its exact parameters; vectors of different ids are never compared. */
  readonly id: string;
  readonly dimensions: number;
  /** Longest text that is embedded whole, in tokens. */
  readonly windowTokens: number;
  embed(texts: readonly string[], options: CallOptions): Promise<readonly Embedding[]>;
  close(): Promise<void>;
}
