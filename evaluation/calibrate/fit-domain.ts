import type { EquivalenceParameters, NetworkParameters } from '../../runtime/ports/calibration.ts';
import { decidePair, type PairPolicy, type PairSide } from '../../runtime/semantic/decide.ts';
import { RarityTable } from '../../runtime/semantic/rarity.ts';
import { SIGNALS, distinctStems, signalsOf } from '../../runtime/semantic/signals.ts';
import type { PreparedPair } from '../judge/judge-pairs.ts';
import { seededRandom } from '../statistics/random.ts';
import { countRarity } from '../train/fit-equivalence.ts';
import { NEARNESS, fitWords, type WordsFit, type WordsRow } from './fit-words.ts';

export interface FitDomainOptions {
  readonly seed: number;
  readonly policy: PairPolicy;
}

/** Weight of all that is outside the domain, against all that is right in it. */
const OUTSIDE_SHARE = 0.5;
const OUTSIDE_COPIES = 20;
/** Scaled signals are cut where they are far out; these are sums, whose large values count. */
const UNBOUNDED_SCALE = 20;
const SCALES: Readonly<Record<string, number>> = { unfamiliar: UNBOUNDED_SCALE, telling: UNBOUNDED_SCALE };
const UNFAMILIAR = placeOf('unfamiliar');

/**
 * Coefficients of a domain's own pairs: rarity of its words, what each of them tells, and the weight of similarity and of unfamiliar words.
 * Same and different count alike, however many there are. A pair of one text with itself and same=0 says that the text is outside the
 * domain: whatever is as unfamiliar isn't to be served. Repeatable for one seed.
 */
export function fitDomain(pairs: readonly PreparedPair[], { seed, policy }: FitDomainOptions): EquivalenceParameters {
  const inside = pairs.filter((pair) => !isOutside(pair) && !isVetoed(pair, policy));
  const outside = [...new Map(pairs.filter(isOutside).map(({ asked }) => [asked.text, asked])).values()];
  const texts = new Map(inside.flatMap(({ asked, stored }) => [asked, stored]).map((side) => [side.text, side]));
  const rarity = countRarity([...texts.values()].map(({ features }) => features));
  const context = { rarity: new RarityTable(rarity), lexicon: policy.lexicon };
  const unfamiliarOf = ({ asked, stored }: Pick<PreparedPair, 'asked' | 'stored'>): number =>
    signalsOf(asked, stored, 1, context)[UNFAMILIAR] ?? 0;
  const same = inside.filter(({ pair }) => pair.same === true).length;
  const differentWeight = same / Math.max(1, inside.length - same);
  const rows = inside.map((pair): WordsRow => ({
    similarity: pair.similarity,
    unmatched: unmatchedOf(pair),
    unfamiliar: unfamiliarOf(pair),
    same: pair.pair.same === true,
    weight: pair.pair.same === true ? 1 : differentWeight,
  }));
  const unfamiliar = outside.map((side) => unfamiliarOf({ asked: side, stored: side }));
  const fit = fitWords([...rows, ...outsideRows(unfamiliar, rows, seed)], countStems(texts.values()), seed);
  return {
    kind: 'monotone-networks',
    signals: SIGNALS.map(({ name }) => name),
    centre: SIGNALS.map(() => 0),
    scale: SIGNALS.map(({ name }) => SCALES[name] ?? 1),
    networks: [networkOf(fit)],
    slope: 1,
    offset: 0,
    rarity: { ...rarity, telling: fit.telling },
  };
}

/** True for a text that the domain isn't about. */
export function isOutside({ pair, asked, stored }: PreparedPair): boolean {
  return pair.same === false && asked.text === stored.text;
}

function isVetoed({ asked, stored, similarity }: PreparedPair, policy: PairPolicy): boolean {
  return decidePair({ ...policy, similarityMin: -1 }, asked, stored, similarity).vetoes.length > 0;
}

function unmatchedOf({ asked, stored }: PreparedPair): readonly string[] {
  const one = distinctStems(asked.features);
  const two = distinctStems(stored.features);
  const unmatched = [...one].filter((stem) => !two.has(stem));
  for (const stem of two) if (!one.has(stem)) unmatched.push(stem);
  return unmatched;
}

/** What two askings of one thing outside the domain look like: right pairs of it, but for words that are as unfamiliar. */
function outsideRows(unfamiliar: readonly number[], rows: readonly WordsRow[], seed: number): readonly WordsRow[] {
  const right = rows.filter(({ same }) => same);
  if (right.length === 0) return [];
  const random = seededRandom(seed);
  const weight = (OUTSIDE_SHARE * right.length) / (unfamiliar.length * OUTSIDE_COPIES);
  return unfamiliar.flatMap((value) =>
    Array.from({ length: OUTSIDE_COPIES }, (): WordsRow => {
      const like = right[Math.floor(random() * right.length)]!;
      return { ...like, unfamiliar: value, same: false, weight };
    }),
  );
}

function countStems(sides: Iterable<PairSide>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { features } of sides) {
    for (const stem of distinctStems(features)) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  return counts;
}

/** The same log odds as a network of one unit, over signals that are scaled only so as not to be cut. */
function networkOf({ bias, slope, unfamiliar, telling: _telling }: WordsFit): NetworkParameters {
  const { constant, linear, height, steepness, middle } = NEARNESS;
  const only = (weights: Readonly<Record<string, number>>): readonly number[] =>
    SIGNALS.map(({ name }) => weights[name] ?? 0);
  return {
    hidden: [only({ similarity: steepness })],
    hiddenBias: [-steepness * middle],
    output: [slope * height],
    direct: only({
      similarity: slope * linear,
      unfamiliar: unfamiliar * UNBOUNDED_SCALE,
      telling: UNBOUNDED_SCALE,
    }),
    bias: bias + slope * constant,
  };
}

function placeOf(name: string): number {
  return SIGNALS.findIndex((signal) => signal.name === name);
}
