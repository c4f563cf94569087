import type { PairSide } from '../../runtime/semantic/decide.ts';

/** One labelled pair with all that the equivalence model may see. */
export interface TrainingPair {
  readonly asked: PairSide;
  readonly stored: PairSide;
  readonly similarity: number;
  readonly same: boolean;
  /** How much the pair counts, above 0. */
  readonly weight: number;
  /** Where the pair comes from. */
  readonly source: string;
  readonly category: string;
  /** Pairs of one group share texts, so they belong in one fold. */
  readonly group: number;
}
