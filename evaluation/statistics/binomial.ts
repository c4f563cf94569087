/** A two-sided confidence interval of a share. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * The exact interval of a binomial share (C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the
 * case of the binomial", Biometrika 26, 1934); everything where there are no trials.
 */
export function clopperPearson(successes: number, trials: number, confidence = 0.95): Interval {
  if (trials === 0) return { low: 0, high: 1 };
  const tail = (1 - confidence) / 2;
  return {
    low: successes === 0 ? 0 : 1 - upperBound(trials - successes, trials, tail),
    high: upperBound(successes, trials, tail),
  };
}

/** The share that `successes` of `trials` stay below with probability `1 - tail`, one-sided. */
export function upperBound(successes: number, trials: number, tail: number): number {
  if (successes >= trials) return 1;
  let [low, high] = [successes / trials, 1];
  const STEPS = 60;
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2;
    if (binomialAtMost(successes, trials, middle) > tail) low = middle;
    else high = middle;
  }
  return high;
}

/** Probability of at most `successes` in `trials` of probability `share`. */
export function binomialAtMost(successes: number, trials: number, share: number): number {
  if (successes >= trials || share <= 0) return 1;
  if (successes < 0 || share >= 1) return 0;
  const logShare = Math.log(share);
  const logRest = Math.log1p(-share);
  let sum = 0;
  let logChoices = 0;
  for (let k = 0; k <= successes; k += 1) {
    if (k > 0) logChoices += Math.log(trials - k + 1) - Math.log(k);
    sum += Math.exp(logChoices + k * logShare + (trials - k) * logRest);
  }
  return Math.min(1, sum);
}

/** The most successes in `trials` that refute, at level `tail`, a share of `share` or more; -1: not even none does. */
export function successesMax(trials: number, share: number, tail: number): number {
  let [low, high] = [-1, trials];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (binomialAtMost(middle, trials, share) <= tail) low = middle;
    else high = middle;
  }
  return low;
}

/** The fewest trials without a success that refute, at level `tail`, a share of `share` or more. */
export function trialsMin(share: number, tail: number): number {
  return Math.ceil(Math.log(tail) / Math.log1p(-share));
}
