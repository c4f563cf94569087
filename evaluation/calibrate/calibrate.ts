import { RepriseError } from '../../runtime/errors.ts';
import type { CalibratedDomain, EquivalenceParameters } from '../../runtime/ports/calibration.ts';
import { decidePair } from '../../runtime/semantic/decide.ts';
import { MonotoneEquivalence } from '../../runtime/semantic/equivalence.ts';
import type { DomainPolicy } from '../../runtime/semantic/policies.ts';
import type { TextEmbedder, EmbedOptions } from '../embedding/text-embedder.ts';
import { coverageAt, curveOf } from '../judge/curve.ts';
import { preparePairs, type PreparedPair } from '../judge/judge-pairs.ts';
import { shareOf, type Share } from '../judge/summary.ts';
import { dataInvalid } from '../pairs/data-file.ts';
import type { LabelledPair, PairFile } from '../pairs/labelled-pair.ts';
import { seededRandom } from '../statistics/random.ts';
import { upperBound } from '../statistics/binomial.ts';
import { fitDomain } from './fit-domain.ts';
import { splitByText, withoutSharedTexts, type TextPair } from './splits.ts';
import { METHOD, thresholdFor } from './threshold.ts';

/** Whose coefficients the domain gets: the shared ones, ones of its own pairs, or the better of the two. */
export type Coefficients = 'auto' | 'shared' | 'own';

export interface CalibrateInput {
  readonly file: PairFile;
  readonly domain: string;
  /** Guards and lexicon count; the minima are what is sought. */
  readonly policy: DomainPolicy;
  readonly equivalence: EquivalenceParameters;
  readonly embedder: TextEmbedder;
  /** Least similarity of a candidate, whatever its probability. */
  readonly similarityMin: number;
  readonly wrongAtMost: number;
  readonly confidence: number;
  readonly seed: number;
  readonly coefficients: Coefficients;
}

/** A calibrated domain and what was found on the way. */
export interface DomainCalibration {
  readonly calibrated: CalibratedDomain;
  /** Pairs of the file that count for the domain. */
  readonly pairs: number;
  readonly coefficients: 'shared' | 'own';
  readonly fitted: number;
  /** Pairs with a text in each part. */
  readonly dropped: number;
  /** Of the independent negatives, those served. */
  readonly wrong: Share;
  /** Of all held-out positives, those served. */
  readonly right: Share;
  /** Upper confidence bound of the share of wrong hits. */
  readonly bound: number;
}

const HELD_OUT_SHARE = 0.4;
/** Pairs of each label below which coefficients of a domain's own would be noise. */
const OWN_PAIRS_MIN = 500;

/**
 * Finds the laxest threshold that keeps wrong hits of a domain below a bound, with confidence, on pairs that nothing was fitted to.
 * Fails with `data_invalid` where labels are missing and `data_insufficient` where the pairs are too few to promise it.
 */
export async function calibrate(input: CalibrateInput, options: EmbedOptions = {}): Promise<DomainCalibration> {
  const rows = rowsOf(input.file, input.domain);
  const prepared = (await preparePairs(rows, input.embedder, options)).filter(({ beyondWindow }) => !beyondWindow);
  const texts = prepared.map(({ stored, asked }): TextPair => [stored.text, asked.text]);
  const random = seededRandom(input.seed);
  const chosen = coefficientsOf(input, prepared, texts, random);
  const { heldOut, equivalence } = chosen;
  const score = scorer(input, equivalence);
  const scores = new Map(heldOut.map((at) => [at, score(prepared[at]!)]));
  const negatives = heldOut.filter((at) => prepared[at]?.pair.same === false);
  const positives = heldOut.filter((at) => prepared[at]?.pair.same === true);
  const independent = withoutSharedTexts(texts, negatives, random);
  const reached = positives.map((at) => scores.get(at) ?? -Infinity).filter((value) => value !== -Infinity);
  const lowest = reached.reduce((least, value) => Math.min(least, value), 1);
  const tested = thresholdFor(
    independent.map((at) => scores.get(at) ?? -Infinity),
    lowest,
    input,
  );
  if ('negativesMin' in tested) throw tooFew(input, { ...tested, all: negatives.length, split: chosen.fitted > 0 });
  const right = reached.filter((value) => value >= tested.threshold).length;
  return {
    calibrated: {
      similarityMin: input.similarityMin,
      probabilityMin: tested.threshold,
      wrongAtMost: input.wrongAtMost,
      confidence: input.confidence,
      method: METHOD,
      counts: {
        pairs: heldOut.length,
        negatives: tested.negatives,
        positives: positives.length,
        wrong: tested.wrong,
        right,
      },
      dataHash: input.file.hash,
      ...(chosen.coefficients === 'own' ? { equivalence } : {}),
    },
    pairs: rows.length,
    coefficients: chosen.coefficients,
    fitted: chosen.fitted,
    dropped: chosen.dropped,
    wrong: shareOf(tested.wrong, tested.negatives),
    right: shareOf(right, positives.length),
    bound: upperBound(tested.wrong, tested.negatives, 1 - input.confidence),
  };
}

/** The rows that name the domain; all where none does. */
function rowsOf(file: PairFile, domain: string): readonly LabelledPair[] {
  const named = file.pairs.filter((pair) => pair.domain === domain);
  const rows = named.length > 0 ? named : file.pairs;
  const unlabelled = rows.find((row) => row.same === null);
  if (unlabelled !== undefined)
    throw dataInvalid(file.path, unlabelled.line, 'same is missing; calibration needs 1 or 0');
  for (const same of [true, false]) {
    if (rows.some((row) => row.same === same)) continue;
    throw dataInvalid(
      file.path,
      undefined,
      `no row of the domain ${domain} has same=${Number(same)}; calibration needs both`,
    );
  }
  return rows;
}

interface Chosen {
  readonly coefficients: 'shared' | 'own';
  readonly equivalence: EquivalenceParameters;
  readonly heldOut: readonly number[];
  readonly fitted: number;
  readonly dropped: number;
}

function coefficientsOf(
  input: CalibrateInput,
  prepared: readonly PreparedPair[],
  texts: readonly TextPair[],
  random: () => number,
): Chosen {
  const all = prepared.map((_, at) => at);
  const shared: Chosen = {
    coefficients: 'shared',
    equivalence: input.equivalence,
    heldOut: all,
    fitted: 0,
    dropped: 0,
  };
  if (input.coefficients === 'shared') return shared;
  const { fit, heldOut, dropped } = splitByText(texts, HELD_OUT_SHARE, random);
  const pairs = fit.map((at) => prepared[at]!);
  const fewest = Math.min(...[true, false].map((same) => pairs.filter(({ pair }) => pair.same === same).length));
  if (input.coefficients === 'auto' && (fewest < OWN_PAIRS_MIN || !ownIsBetter(input, pairs, random))) return shared;
  const equivalence = fitDomain(pairs, { seed: input.seed, policy: input.policy });
  return { coefficients: 'own', equivalence, heldOut, fitted: pairs.length, dropped };
}

/** Compares by right hits at the bound, on a part of the pairs to be fitted: those held out are for the promise alone. */
function ownIsBetter(input: CalibrateInput, pairs: readonly PreparedPair[], random: () => number): boolean {
  const texts = pairs.map(({ stored, asked }): TextPair => [stored.text, asked.text]);
  const { fit, heldOut } = splitByText(texts, HELD_OUT_SHARE, random);
  const own = fitDomain(
    fit.map((at) => pairs[at]!),
    { seed: input.seed, policy: input.policy },
  );
  const rightAtBound = (equivalence: EquivalenceParameters): number => {
    const score = scorer(input, equivalence);
    const items = heldOut.map((at) => ({ same: pairs[at]?.pair.same === true, score: score(pairs[at]!) }));
    return coverageAt(curveOf(items), input.wrongAtMost).right;
  };
  return rightAtBound(own) > rightAtBound(input.equivalence);
}

/** The probability by which a pair is served or not; -Infinity for one that isn't served whatever the threshold. */
function scorer(input: CalibrateInput, parameters: EquivalenceParameters): (pair: PreparedPair) => number {
  const equivalence = new MonotoneEquivalence(parameters);
  const policy = { ...input.policy, similarityMin: input.similarityMin, probabilityMin: 0, equivalence };
  return ({ asked, stored, similarity }) => {
    const { serve, probability } = decidePair(policy, asked, stored, similarity);
    return serve ? probability : -Infinity;
  };
}

function tooFew(
  { wrongAtMost, confidence, domain }: CalibrateInput,
  found: { readonly negatives: number; readonly negativesMin: number; readonly all: number; readonly split: boolean },
): RepriseError {
  const percent = (share: number): string => `${Number((100 * share).toFixed(4))} %`;
  const { negatives, negativesMin, all, split } = found;
  const kept = all === negatives ? '' : ` (${all} with those that share a text)`;
  const held = split
    ? ` Of what is added ${100 * HELD_OUT_SHARE} % is held out; --coefficients shared holds out all.`
    : '';
  return new RepriseError(
    'data_insufficient',
    `Wrong hits of at most ${percent(wrongAtMost)} with ${percent(confidence)} confidence need at least ${negativesMin} held-out pairs with same=0 of which no two share a text. The domain ${domain} has ${negatives}${kept}: ${negativesMin - negatives} more are needed.${held}`,
  );
}
