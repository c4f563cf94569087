import type { CallOptions } from './call-options.ts';

/** What an embedder makes of a text word by word, each in its context; only ever compared between texts of one embedder. */
export interface WordVectors {
  /** Words in order, lower case, without punctuation. */
  readonly words: readonly string[];
  /** A unit vector for each word, one after the other, in steps of `WORD_VECTOR_STEP`; what a step can't hold is cut. */
  readonly vectors: Int8Array;
}

/** One step of a component of a word's vector. */
export const WORD_VECTOR_STEP = 1 / 254;

/** One embedded text. `truncated`: the text is longer than the embedder's window, so the vector says nothing of its end. */
export interface Embedding {
  /** Unit length, `dimensions` finite numbers; may be empty when `truncated`. */
  readonly vector: Float32Array;
  readonly tokenCount: number;
  readonly truncated: boolean;
  /** Absent: the embedder has none, or the text has none or too many words. */
  readonly wordVectors?: WordVectors;
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
