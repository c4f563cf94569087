import type { EquivalenceParameters, NetworkParameters } from '../ports/calibration.ts';
import { EVEN_RARITY, RarityTable } from './rarity.ts';
import type { Rarity } from './rarity.ts';
import { SIGNALS } from './signals.ts';
import type { Signals } from './signals.ts';

/** Gives the probability that the stored answer serves the asked text. More similarity never lowers it, a mismatch never raises it. */
export interface Equivalence {
  readonly rarity: Rarity;
  /** False for a fixed curve over similarity, which only orders candidates. */
  readonly calibrated: boolean;
  probability(signals: Signals): number;
}

const MIDPOINT = 0.8;
const STEEPNESS = 25;

/** A fixed logistic curve over similarity. It isn't calibrated: it orders candidates, and a domain's similarity threshold decides. */
export const UNCALIBRATED: Equivalence = {
  rarity: EVEN_RARITY,
  calibrated: false,
  probability(signals) {
    const similarity = signals[0] ?? Number.NaN;
    return Number.isFinite(similarity) ? logistic(STEEPNESS * (similarity - MIDPOINT)) : 0;
  },
};

/** +1 for signals that raise the probability, -1 for those that lower it. */
const SIGNS = Float64Array.from(SIGNALS, ({ direction }) => (direction === 'raises' ? 1 : -1));

/** A signal farther off than this many scales says no more: a rare value mustn't outweigh all others. */
export const SCALED_MAX = 6;

/** Trained networks over the signals. */
export class MonotoneEquivalence implements Equivalence {
  readonly rarity: Rarity;
  readonly calibrated = true;
  readonly #parameters: EquivalenceParameters;
  readonly #scaled = new Float64Array(SIGNALS.length);

  /** `parameters` as `parseCalibration` has checked them. */
  constructor(parameters: EquivalenceParameters) {
    this.#parameters = parameters;
    this.rarity = new RarityTable(parameters.rarity);
  }

  probability(signals: Signals): number {
    const { centre, scale, networks, slope, offset } = this.#parameters;
    const scaled = this.#scaled;
    for (let at = 0; at < scaled.length; at += 1) {
      const value = ((SIGNS[at] ?? 0) * ((signals[at] ?? 0) - (centre[at] ?? 0))) / (scale[at] ?? 1);
      scaled[at] = Math.min(SCALED_MAX, Math.max(-SCALED_MAX, value));
    }
    let logOdds = 0;
    for (const network of networks) logOdds += logOddsOf(network, scaled);
    const probability = logistic((slope * logOdds) / networks.length + offset);
    return Number.isNaN(probability) ? 0 : probability;
  }
}

function logOddsOf(network: NetworkParameters, scaled: Float64Array): number {
  const { hidden, hiddenBias, output, direct, bias } = network;
  let sum = bias;
  for (let at = 0; at < scaled.length; at += 1) sum += (direct[at] ?? 0) * (scaled[at] ?? 0);
  for (let unit = 0; unit < hidden.length; unit += 1) {
    const row = hidden[unit] ?? [];
    let input = hiddenBias[unit] ?? 0;
    for (let at = 0; at < scaled.length; at += 1) input += (row[at] ?? 0) * (scaled[at] ?? 0);
    sum += (output[unit] ?? 0) * Math.tanh(input);
  }
  return sum;
}

function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}
