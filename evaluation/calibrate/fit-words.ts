import type { TellingParameters } from '../../runtime/ports/calibration.ts';
import { seededRandom, shuffled } from '../statistics/random.ts';

/** One labelled pair as far as its words and its similarity go. */
export interface WordsRow {
  readonly similarity: number;
  /** Stems that only one of the texts has, each as often as it is so. */
  readonly unmatched: readonly string[];
  /** The signal of this name. */
  readonly unfamiliar: number;
  readonly same: boolean;
  readonly weight: number;
}

/** Log odds of a right hit: `bias + slope * nearnessOf(similarity) - unfamiliar * (the signal) - telling (of each unmatched stem)`. */
export interface WordsFit {
  readonly bias: number;
  readonly slope: number;
  readonly unfamiliar: number;
  readonly telling: TellingParameters;
}

/** Grows faster and faster towards a similarity of 1, as the odds of a right hit do: `linear * s + height * tanh(steepness * (s - middle))`. */
export const NEARNESS = { constant: 5.4176, linear: 1.7863, height: 5.8251, steepness: 4.25, middle: 1.29 };

/** A stem of fewer texts says what an unknown one says. */
const TEXTS_MIN = 3;
const EPOCHS = 4;
const RATE = 0.1;
const DECAY = 1e-4;
const TELLING_START = 0.2;
const STEP = 0.05;
const LEVELS_MAX = 200;
const TINY = 1e-8;
const STEM = /^[^\s]{1,24}$/u;

export function nearnessOf(similarity: number): number {
  const { constant, linear, height, steepness, middle } = NEARNESS;
  return constant + linear * similarity + height * Math.tanh(steepness * (similarity - middle));
}

/**
 * Learns what each word says against a pair when only one of its texts has it, beside similarity and familiarity: logistic regression whose
 * weights never fall below 0, so that a difference never helps, by AdaGrad (Duchi, Hazan and Singer, JMLR 12, 2011). Repeatable for one
 * seed.
 */
export function fitWords(rows: readonly WordsRow[], textCounts: ReadonlyMap<string, number>, seed: number): WordsFit {
  const places = new Map<string, number>();
  for (const [stem, count] of textCounts) if (count >= TEXTS_MIN && STEM.test(stem)) places.set(stem, places.size + 1);
  const items = rows.map((row) => ({
    nearness: nearnessOf(row.similarity),
    unfamiliar: row.unfamiliar,
    words: Int32Array.from(row.unmatched, (stem) => places.get(stem) ?? 0),
    target: row.same ? 1 : 0,
    weight: row.weight,
  }));
  const random = seededRandom(seed);
  const weights = new Float64Array(places.size + 1).fill(TELLING_START);
  const sums = new Float64Array(places.size + 1).fill(TINY);
  const bias = new Weight(-3, -Infinity);
  const slope = new Weight(3, 0);
  const unfamiliar = new Weight(0.2, 0);
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    for (const item of shuffled(items, random)) {
      let logOdds = bias.value + slope.value * item.nearness - unfamiliar.value * item.unfamiliar;
      for (const word of item.words) logOdds -= weights[word]!;
      const error = (1 / (1 + Math.exp(-logOdds)) - item.target) * item.weight;
      bias.step(error);
      slope.step(error * item.nearness);
      unfamiliar.step(-error * item.unfamiliar);
      for (const word of item.words) {
        const gradient = DECAY * (weights[word]! - TELLING_START) - error;
        sums[word]! += gradient * gradient;
        weights[word] = Math.max(0, weights[word]! - (RATE * gradient) / Math.sqrt(sums[word]!));
      }
    }
  }
  return {
    bias: rounded(bias.value),
    slope: rounded(slope.value),
    unfamiliar: rounded(unfamiliar.value),
    telling: tableOf(places, weights),
  };
}

/** One number that is learned, with the sum of its squared gradients. */
class Weight {
  value: number;
  readonly #least: number;
  #sum = TINY;

  constructor(value: number, least: number) {
    this.value = value;
    this.#least = least;
  }

  step(gradient: number): void {
    this.#sum += gradient * gradient;
    this.value = Math.max(this.#least, this.value - (RATE * gradient) / Math.sqrt(this.#sum));
  }
}

function tableOf(places: ReadonlyMap<string, number>, weights: Float64Array): TellingParameters {
  const levels: string[][] = [];
  for (const [stem, place] of places) {
    const level = Math.min(LEVELS_MAX - 1, Math.round((weights[place] ?? 0) / STEP));
    while (levels.length <= level) levels.push([]);
    levels[level]?.push(stem);
  }
  return { step: STEP, levels: levels.map((stems) => stems.toSorted().join(' ')), unknown: rounded(weights[0] ?? 0) };
}

/** Short in a file. */
function rounded(value: number): number {
  return Number(value.toPrecision(6));
}
