/** What a worker thread is told at its start. */
export interface CrossEncoderWorkerData {
  readonly modelPath: string;
  readonly tokenizerPath: string;
  readonly windowTokens: number;
  /** In order of preference; `cpu` is always there as the last. */
  readonly executionProviders: readonly string[];
}

export interface VerifyTask {
  readonly storedText: string;
  readonly askedText: string;
  /** One `Int32`: not 0 once nobody waits for the reply any more. */
  readonly givenUp: SharedArrayBuffer;
}

/** `too-long`: the pair is past the model's window, and a cut one says nothing. */
export type VerifyReply =
  | { readonly kind: 'probability'; readonly probability: number }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'given-up' };
