import type { RarityParameters } from '../../runtime/ports/calibration.ts';
import { MonotoneEquivalence } from '../../runtime/semantic/equivalence.ts';
import type { Equivalence } from '../../runtime/semantic/equivalence.ts';
import { fitRows } from './fit-equivalence.ts';
import type { SignalRow } from './fit-equivalence.ts';
import { seededRandom, shuffled } from '../statistics/random.ts';
import type { TrainingPair } from './training-pair.ts';

/** How well scores part right from wrong pairs. */
export interface Coverage {
  readonly positives: number;
  readonly negatives: number;
  /** Share of same pairs that score above all but 1 % (5 %) of the others. */
  readonly at1: number;
  readonly at5: number;
}

/** One row of a table: a set of pairs that the model hasn't seen, scored by it and by cosine alone. */
export interface HeldOut {
  readonly name: string;
  readonly model: Coverage;
  readonly cosine: Coverage;
  /** Share of same pairs, and of others, that a guard vetoes. */
  readonly vetoedSame: number;
  readonly vetoedOther: number;
  /** Scores in the order of the pairs. */
  readonly scores: readonly number[];
}

export interface ValidationOptions {
  readonly seed: number;
  /** Counted in all texts: it knows no labels. */
  readonly rarity: RarityParameters;
  /** Names of signals that don't count. */
  readonly mute: readonly string[];
  readonly folds?: number;
  readonly onProgress?: (what: string) => void;
}

/** A pair with its signals. */
export interface ValidatedPair {
  readonly pair: TrainingPair;
  readonly row: SignalRow;
}

const FOLDS = 5;

/** Fold of each pair, 0 to `folds` - 1, drawn by text groups: no text is in two folds. */
export function foldsOf(pairs: readonly TrainingPair[], folds: number, seed: number): readonly number[] {
  const groups = [...new Set(pairs.map(({ group }) => group))];
  const foldOf = new Map(shuffled(groups, seededRandom(seed)).map((group, place) => [group, place % folds]));
  return pairs.map(({ group }) => foldOf.get(group) ?? 0);
}

/** Scores the pairs of some sources by models that were fitted to all other sources and to the other folds of these. */
export function crossValidate(
  pairs: readonly ValidatedPair[],
  sources: readonly string[],
  options: ValidationOptions,
): readonly HeldOut[] {
  const { seed, folds = FOLDS } = options;
  const foldOf = foldsOf(
    pairs.map(({ pair }) => pair),
    folds,
    seed,
  );
  const tested = pairs.flatMap(({ pair }, index) => (sources.includes(pair.source) ? [index] : []));
  const groups = new Set(tested.map((index) => pairs[index]?.pair.group));
  const scores = new Map<number, number>();
  for (let fold = 0; fold < folds && tested.length > 0; fold += 1) {
    options.onProgress?.(`fold ${fold + 1} of ${folds}`);
    const model = fit(
      pairs.filter(({ pair }, index) => !groups.has(pair.group) || foldOf[index] !== fold),
      options,
    );
    for (const index of tested) if (foldOf[index] === fold) scores.set(index, scoreOf(model, pairs[index]!));
  }
  return sources.map((source) => {
    const own = tested.filter((index) => pairs[index]?.pair.source === source);
    return heldOut(
      source,
      own.map((index) => pairs[index]!),
      own.map((index) => scores.get(index) ?? 0),
    );
  });
}

/** Scores the pairs of each source by a model that was fitted to the other sources only. */
export function leaveSourcesOut(
  pairs: readonly ValidatedPair[],
  names: readonly string[],
  options: ValidationOptions,
): readonly HeldOut[] {
  return names.flatMap((name) => {
    options.onProgress?.(`without ${name}`);
    const tested = pairs.filter(({ pair }) => pair.source === name);
    const groups = new Set(tested.map(({ pair }) => pair.group));
    const others = pairs.filter(({ pair }) => !groups.has(pair.group));
    if (others.length === 0) return [];
    const model = fit(others, options);
    return [
      heldOut(
        name,
        tested,
        tested.map((one) => scoreOf(model, one)),
      ),
    ];
  });
}

function fit(pairs: readonly ValidatedPair[], { seed, rarity, mute }: ValidationOptions): Equivalence {
  const rows = pairs.map(({ row }) => row);
  return new MonotoneEquivalence(fitRows(rows, { seed, rarity, mute }));
}

function scoreOf(model: Equivalence, { row }: ValidatedPair): number {
  return row.vetoed ? 0 : model.probability(row.signals);
}

function heldOut(name: string, pairs: readonly ValidatedPair[], scores: readonly number[]): HeldOut {
  const same = pairs.map(({ pair }) => pair.same);
  const vetoed = (wanted: boolean): number => {
    const of = scores.filter((_, index) => same[index] === wanted);
    return of.length === 0 ? 0 : of.filter((score) => score === 0).length / of.length;
  };
  return {
    name,
    model: coverageOf(scores, same),
    cosine: coverageOf(
      pairs.map(({ pair }) => pair.similarity),
      same,
    ),
    vetoedSame: vetoed(true),
    vetoedOther: vetoed(false),
    scores,
  };
}

/** Coverage of scores; a score of 0 is never served. */
export function coverageOf(scores: readonly number[], same: readonly boolean[]): Coverage {
  const others = scores.filter((_, index) => same[index] !== true).sort((a, b) => b - a);
  const own = scores.filter((_, index) => same[index] === true);
  const at = (share: number): number => {
    const bar = Math.max(0, others[Math.floor(share * others.length)] ?? 0);
    return own.length === 0 ? 0 : own.filter((score) => score > bar).length / own.length;
  };
  return { positives: own.length, negatives: others.length, at1: at(0.01), at5: at(0.05) };
}
