import type { RarityParameters, TellingParameters } from '../ports/calibration.ts';

/** How much a word says: the rarer, the more. */
export interface Rarity {
  /** Bits of a word stem: 1 for a stem in half of all texts, more for rarer ones, most for unknown ones. */
  weightOf(stem: string): number;
  /** True for a stem that came in the texts which the weights were counted in. */
  isKnown(stem: string): boolean;
  /** Log odds that a stem says against a pair when only one text has it, 0 or more; absent: nothing was learned of that. */
  readonly tellingOf?: ((stem: string) => number) | undefined;
}

/** Without a trained table every word weighs the same. */
export const EVEN_RARITY: Rarity = { weightOf: () => 5, isKnown: () => true };

/** The table of trained parameters. */
export class RarityTable implements Rarity {
  readonly #weights = new Map<string, number>();
  readonly #unknown: number;
  readonly tellingOf: ((stem: string) => number) | undefined;

  constructor(parameters: RarityParameters) {
    for (const [level, stems] of parameters.levels.entries()) {
      for (const stem of stems.split(' ')) if (stem !== '') this.#weights.set(stem, level + 1);
    }
    this.#unknown = parameters.levels.length + 1;
    this.tellingOf = parameters.telling === undefined ? undefined : tellingOf(parameters.telling);
  }

  weightOf(stem: string): number {
    return this.#weights.get(stem) ?? this.#unknown;
  }

  isKnown(stem: string): boolean {
    return this.#weights.has(stem);
  }
}

function tellingOf({ step, levels, unknown }: TellingParameters): (stem: string) => number {
  const logOdds = new Map<string, number>();
  for (const [level, stems] of levels.entries()) {
    for (const stem of stems.split(' ')) if (stem !== '') logOdds.set(stem, level * step);
  }
  return (stem) => logOdds.get(stem) ?? unknown;
}
