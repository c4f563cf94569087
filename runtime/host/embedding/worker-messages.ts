import type { Embedding } from '../../ports/embedder.ts';
import type { InferenceTask } from './inference-threads.ts';
import type { OnnxSessionOptions } from './onnx-session.ts';

/** What a worker thread is told at its start. */
export interface OnnxWorkerData extends OnnxSessionOptions {
  readonly intraOpThreads: number;
}

/** The worker looks before each text whether it was given up. */
export interface EmbedTask extends InferenceTask {
  readonly texts: readonly string[];
}

export interface EmbedReply {
  /** In the order of the texts; fewer once the call was given up. */
  readonly embeddings: readonly Embedding[];
  /** Providers that were asked for and could not be had. */
  readonly missingProviders: readonly string[];
}
