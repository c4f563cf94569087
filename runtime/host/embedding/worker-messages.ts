import type { Embedding } from '../../ports/embedder.ts';

/** What a worker thread is told at its start. */
export interface OnnxWorkerData {
  readonly modelPath: string;
  readonly tokenizerPath: string;
  readonly windowTokens: number;
  readonly intraOpThreads: number;
  /** In order of preference; `cpu` is always there as the last. */
  readonly executionProviders: readonly string[];
}

export interface EmbedTask {
  readonly texts: readonly string[];
  /** One `Int32`: not 0 once nobody waits for the reply any more. The worker looks at it before each text. */
  readonly givenUp: SharedArrayBuffer;
}

export interface EmbedReply {
  /** In the order of the texts; fewer once the call was given up. */
  readonly embeddings: readonly Embedding[];
  /** Providers that were asked for and could not be had. */
  readonly missingProviders: readonly string[];
}
