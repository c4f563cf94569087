import { successesMax, trialsMin, upperBound } from '../statistics/binomial.ts';

/** A threshold and what the pairs that it was tested on say of it. */
export interface TestedThreshold {
  /** Least score that is served. */
  readonly threshold: number;
  readonly negatives: number;
  readonly wrong: number;
  /** Upper confidence bound of the share of negatives that are served. */
  readonly bound: number;
}

/** Too few negatives to promise the bound. */
export interface TooFew {
  readonly negatives: number;
  readonly negativesMin: number;
}

export interface BoundOptions {
  /** Bound of the share of negatives that may be served. */
  readonly wrongAtMost: number;
  /** With which the bound holds. */
  readonly confidence: number;
}

/** How a threshold is tested, for people and for the file. */
export const METHOD =
  'fixed-sequence testing of thresholds from the strictest on, exact binomial p-values (Clopper–Pearson), on held-out pairs of which no two share a text (Learn then Test: Angelopoulos et al. 2021; Bates et al. 2021)';

/**
 * The laxest threshold whose share of wrong hits is below the bound with the wanted confidence. Thresholds are tested from the strictest
 * on, each at the full level, until one can't be told from the bound; since a laxer threshold serves whatever a stricter one does, the
 * sequence needs no correction for its length. `scores`: of independent negatives; -Infinity: never served, whatever the threshold.
 * `lowest`: no threshold is laxer.
 */
export function thresholdFor(
  scores: readonly number[],
  lowest: number,
  options: BoundOptions,
): TestedThreshold | TooFew {
  const { wrongAtMost, confidence } = options;
  const tail = 1 - confidence;
  const negatives = scores.length;
  const wrongMax = successesMax(negatives, wrongAtMost, tail);
  if (wrongMax < 0) return { negatives, negativesMin: trialsMin(wrongAtMost, tail) };
  const ranked = scores.toSorted((one, two) => two - one);
  const breaker = ranked[wrongMax] ?? -Infinity;
  const threshold = breaker < lowest ? lowest : above(breaker);
  const wrong = scores.filter((score) => score >= threshold).length;
  return { threshold, negatives, wrong, bound: upperBound(wrong, negatives, tail) };
}

/** The next number that a double can hold. */
function above(value: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value < 0 ? -1n : 1n));
  return value === 0 ? Number.MIN_VALUE : view.getFloat64(0);
}
