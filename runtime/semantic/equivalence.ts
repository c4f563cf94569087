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
  readonly #networks: readonly Network[];
  readonly #centre: Float64Array;
  /** Signed, so that more of every scaled signal raises the probability. */
  readonly #perScale: Float64Array;
  readonly #slope: number;
  readonly #offset: number;
  readonly #scaled = new Float64Array(SIGNALS.length);

  /** `parameters` as `parseCalibration` has checked them. */
  constructor(parameters: EquivalenceParameters) {
    this.#networks = parameters.networks.map(networkOf);
    this.#centre = Float64Array.from(SIGNS, (_, at) => parameters.centre[at] ?? 0);
    this.#perScale = Float64Array.from(SIGNS, (sign, at) => sign / (parameters.scale[at] ?? 1));
    this.#slope = parameters.slope;
    this.#offset = parameters.offset;
    this.rarity = new RarityTable(parameters.rarity);
  }

  probability(signals: Signals): number {
    const scaled = this.#scaled;
    for (let at = 0; at < scaled.length; at += 1) {
      const value = ((signals[at] ?? 0) - this.#centre[at]!) * this.#perScale[at]!;
      scaled[at] = Math.min(SCALED_MAX, Math.max(-SCALED_MAX, value));
    }
    let logOdds = 0;
    for (const network of this.#networks) logOdds += logOddsOf(network, scaled);
    const probability = logistic((this.#slope * logOdds) / this.#networks.length + this.#offset);
    return Number.isNaN(probability) ? 0 : probability;
  }
}

/** A network's weights, the rows of its hidden units one after the other. */
interface Network {
  readonly hidden: Float64Array;
  readonly hiddenBias: Float64Array;
  readonly output: Float64Array;
  readonly direct: Float64Array;
  readonly bias: number;
}

function networkOf({ hidden, hiddenBias, output, direct, bias }: NetworkParameters): Network {
  const width = SIGNS.length;
  const rows = new Float64Array(hidden.length * width);
  for (const [unit, row] of hidden.entries()) rows.set(row.slice(0, width), unit * width);
  return {
    hidden: rows,
    hiddenBias: Float64Array.from(hiddenBias),
    output: Float64Array.from(output),
    direct: Float64Array.from(direct),
    bias,
  };
}

function logOddsOf({ hidden, hiddenBias, output, direct, bias }: Network, scaled: Float64Array): number {
  const width = scaled.length;
  let sum = bias;
  for (let at = 0; at < width; at += 1) sum += direct[at]! * scaled[at]!;
  for (let unit = 0; unit < hiddenBias.length; unit += 1) {
    const from = unit * width;
    let input = hiddenBias[unit]!;
    for (let at = 0; at < width; at += 1) input += hidden[from + at]! * scaled[at]!;
    sum += output[unit]! * Math.tanh(input);
  }
  return sum;
}

function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}
