import type { CallOptions } from './call-options.ts';

/** A slower second opinion on a candidate (cross-encoder, model as judge); a failure counts as a refusal. */
export interface Verifier {
  readonly id: string;
  /** Probability that the stored text's answer serves the asked text. */
  verify(storedText: string, askedText: string, options: CallOptions): Promise<number>;
}
