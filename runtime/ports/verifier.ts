import type { CallOptions } from './call-options.ts';

/**
 * A slower second opinion on a candidate (cross-encoder, model as judge). It is asked within a deadline, and every failure counts as a
 * refusal: `embedder_timeout` or `model_timeout` past the deadline, `cancelled` when the signal is aborted, else whatever went wrong.
 */
export interface Verifier {
  /** Names what gives the opinion; for evidence and logs. */
  readonly id: string;
  /** Probability, 0 to 1, that the stored text's answer serves the asked text. */
  verify(storedText: string, askedText: string, options: CallOptions): Promise<number>;
  close(): Promise<void>;
}
