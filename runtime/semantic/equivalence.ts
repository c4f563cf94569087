/** What the equivalence model sees of one candidate. */
export interface EquivalenceInput {
  /** Cosine similarity in [-1, 1]. */
  readonly similarity: number;
  /** True when any guard vetoed. */
  readonly vetoed: boolean;
}

/** The probability that the stored answer serves the asked text. More similarity never lowers it, a veto makes it 0. */
export type Equivalence = (input: EquivalenceInput) => number;

const MIDPOINT = 0.8;
const STEEPNESS = 25;

/** A fixed logistic curve over similarity. It isn't calibrated: it orders candidates, and a domain's similarity threshold decides. */
export const uncalibratedEquivalence: Equivalence = ({ similarity, vetoed }) => {
  if (vetoed || !Number.isFinite(similarity)) return 0;
  return 1 / (1 + Math.exp(-STEEPNESS * (similarity - MIDPOINT)));
};
