import type { EquivalenceParameters } from '../../runtime/ports/calibration.ts';
import { normaliseAskedText } from '../../runtime/semantic/asked-text.ts';
import { decidePair, type PairPolicy, type PairSide } from '../../runtime/semantic/decide.ts';
import { MonotoneEquivalence } from '../../runtime/semantic/equivalence.ts';
import { pairSide } from '../../runtime/semantic/pair-side.ts';
import { FlatIndex } from '../../runtime/semantic/flat-index.ts';
import { fitDomain } from '../calibrate/fit-domain.ts';
import type { EmbedOptions, TextEmbedder } from '../embedding/text-embedder.ts';
import type { PreparedPair } from '../judge/judge-pairs.ts';
import { OUT_OF_SCOPE, type Clinc150, type IntentText } from '../pairs/known-data.ts';
import { seededRandom, shuffled } from '../statistics/random.ts';
import { Neighbours } from './neighbours.ts';
import { Stream, pointAtHitShare, type StreamPoint, type StreamScore } from './stream.ts';

export interface ClincStreamInput {
  readonly data: Clinc150;
  readonly embedder: TextEmbedder;
  /** One order of the test questions each. */
  readonly seeds: readonly number[];
  readonly candidatesMax: number;
  /** Guards and lexicon of the policy; its minima and model are found here. */
  readonly policy: PairPolicy;
  readonly onRun?: (done: number, total: number) => void;
}

/** Two rankings at one share of hits. */
export interface StreamComparison {
  /** The threshold of cosine alone that gives this share. */
  readonly cosine: StreamPoint;
  /** The calibrated policy, as near to that share as thresholds come. */
  readonly policy: StreamPoint;
}

/** One order of the questions. */
export interface StreamRun {
  readonly seed: number;
  readonly compared: readonly StreamComparison[];
  readonly cosineCurve: readonly StreamPoint[];
  /** Thresholds are log odds. */
  readonly policyCurve: readonly StreamPoint[];
}

export interface ClincStreamResult {
  /** Of one run. */
  readonly requests: number;
  readonly trainingPairs: number;
  readonly runs: readonly StreamRun[];
}

/** Neighbours that are less similar aren't looked at, neither in training nor in the stream. */
const SIMILARITY_MIN = 0.65;
const NEIGHBOURS_MAX = 8;
const TRAINING_SEED = 1;
const TRAINING_ROUNDS = 2;
const TRAINING_PARTS = 3;
/** A right answer so near would have been served, and nothing stored. */
const TRAINING_HIT_SIMILARITY = 0.8;
const COMPARED_SIMILARITIES = [0.92, 0.85, 0.8];
const CURVE_POINTS = 40;

interface Embedded extends IntentText {
  readonly side: PairSide;
  readonly vector: Float32Array;
}

/**
 * The stream test: all test questions of CLINC150 in orders that seeds draw are asked of empty caches, which cosine alone decides, and then
 * a policy whose coefficients were fitted, once, to pairs of the training split.
 */
export async function runClincStream(input: ClincStreamInput, options: EmbedOptions = {}): Promise<ClincStreamResult> {
  const { data, seeds, policy } = input;
  const embed = (texts: readonly IntentText[]): Promise<readonly Embedded[]> =>
    embedded(texts, input.embedder, options);
  const training = trainingPairs(await embed(data.train), await embed(data.oosTrain), TRAINING_SEED);
  const parameters = fitDomain(training, { seed: TRAINING_SEED, policy });
  const test = await embed([...data.test, ...data.oosTest]);
  const runs: StreamRun[] = [];
  for (const seed of seeds) {
    runs.push(runOf(shuffled(test, seededRandom(seed)), seed, input, parameters));
    input.onRun?.(runs.length, seeds.length);
  }
  return { requests: test.length, trainingPairs: training.length, runs };
}

function runOf(
  questions: readonly Embedded[],
  seed: number,
  { policy, candidatesMax }: ClincStreamInput,
  parameters: EquivalenceParameters,
): StreamRun {
  const neighbours = new Neighbours(
    questions.map(({ vector }) => vector),
    SIMILARITY_MIN,
  );
  const stream = new Stream(questions, neighbours, { candidatesMax, outOfScope: OUT_OF_SCOPE });
  const score = policyScore(questions, policy, parameters);
  const byCosine: StreamScore = (_asked, _stored, similarity) => similarity;
  const compared = COMPARED_SIMILARITIES.map((threshold): StreamComparison => {
    const cosine = stream.run(byCosine, threshold);
    const share = cosine.hits / cosine.requests;
    return { cosine, policy: pointAtHitShare((value) => stream.run(score, value), share, LOG_ODDS) };
  });
  return {
    seed,
    compared,
    cosineCurve: spread([SIMILARITY_MIN, 0.99]).map((threshold) => stream.run(byCosine, threshold)),
    policyCurve: spread([-3, 7]).map((threshold) => stream.run(score, threshold)),
  };
}

/** Thresholds of the policy are log odds: near 1 probabilities lie too close. */
const LOG_ODDS = [-12, 24] as const;

function spread([low, high]: readonly [number, number]): readonly number[] {
  return Array.from({ length: CURVE_POINTS }, (_, index) => high - ((high - low) * index) / (CURVE_POINTS - 1));
}

async function embedded(
  texts: readonly IntentText[],
  embedder: TextEmbedder,
  options: EmbedOptions,
): Promise<readonly Embedded[]> {
  const normalised = texts.map(({ text }) => normaliseAskedText(text));
  const vectors = await embedder.embed(normalised, options);
  return texts.map(({ intent }, at) => {
    const text = normalised[at] ?? '';
    const { vector, wordVectors } = vectors[at]!;
    return { text, intent, side: pairSide(text, wordVectors), vector };
  });
}

/**
 * What caches meet that are asked the training questions: several streams of about the test's length, each question with the nearest of
 * those stored, where a right hit isn't stored; and each out-of-scope question with itself, as a text outside the domain.
 */
function trainingPairs(
  inScope: readonly Embedded[],
  outOfScope: readonly Embedded[],
  seed: number,
): readonly PreparedPair[] {
  const random = seededRandom(seed);
  const pairs = new Map<string, PreparedPair>();
  for (let round = 0; round < TRAINING_ROUNDS; round += 1) {
    const drawn = shuffled(inScope, random);
    for (let part = 0; part < TRAINING_PARTS; part += 1) {
      const some = drawn.filter((_, at) => at % TRAINING_PARTS === part);
      for (const pair of metPairs(shuffled([...some, ...outOfScope], random))) {
        pairs.set(`${pair.stored.text}\n${pair.asked.text}`, pair);
      }
    }
  }
  return [...pairs.values(), ...outOfScope.map((question) => preparedPair(question, question, 1))];
}

function metPairs(questions: readonly Embedded[]): readonly PreparedPair[] {
  const index = new FlatIndex(questions[0]?.vector.length ?? 1);
  const pairs: PreparedPair[] = [];
  for (const [at, asked] of questions.entries()) {
    const found = index.search(asked.vector, NEIGHBOURS_MAX, SIMILARITY_MIN);
    const met = found.map(({ id, similarity }) => preparedPair(questions[Number(id)]!, asked, similarity));
    pairs.push(...met);
    const isHit = met[0]?.pair.same === true && met[0].similarity >= TRAINING_HIT_SIMILARITY;
    if (!isHit) index.add(String(at), asked.vector);
  }
  return pairs;
}

function preparedPair(stored: Embedded, asked: Embedded, similarity: number): PreparedPair {
  const same = stored.intent === asked.intent && asked.intent !== OUT_OF_SCOPE;
  const pair = { a: stored.text, b: asked.text, same, domain: null, category: null, line: 0 };
  return { pair, stored: stored.side, asked: asked.side, similarity, beyondWindow: false };
}

/** Log odds of the policy's probability; each pair is decided about once, whatever the threshold. */
function policyScore(
  questions: readonly Embedded[],
  policy: PairPolicy,
  parameters: EquivalenceParameters,
): StreamScore {
  const equivalence = new MonotoneEquivalence(parameters);
  const open = { ...policy, similarityMin: SIMILARITY_MIN, probabilityMin: 0, equivalence };
  const decided = new Map<number, number>();
  return (asked, stored, similarity) => {
    const key = asked * questions.length + stored;
    let logOdds = decided.get(key);
    if (logOdds === undefined) {
      const { serve, probability } = decidePair(open, questions[asked]!.side, questions[stored]!.side, similarity);
      logOdds = serve ? Math.log(probability / (1 - probability)) : -Infinity;
      decided.set(key, logOdds);
    }
    return logOdds;
  };
}
