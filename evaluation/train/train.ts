import { createHash } from 'node:crypto';
import type { Calibration } from '../../runtime/ports/calibration.ts';
import { FEATURE_VERSION } from '../../runtime/semantic/features.ts';
import { pairSide } from '../../runtime/semantic/pair-side.ts';
import { similarityOf } from '../embedding/text-embedder.ts';
import type { TextEmbedder } from '../embedding/text-embedder.ts';
import type { EmbeddedText } from '../embedding/vector-folder.ts';
import { textGroups } from '../pairs/text-groups.ts';
import { augmentedPairs } from './augment.ts';
import { crossValidate, leaveSourcesOut } from './cross-validate.ts';
import type { HeldOut } from './cross-validate.ts';
import { countRarity, fitRows, signalRows } from './fit-equivalence.ts';
import { intentPairs, paraphrasePairs } from './near-pairs.ts';
import type { MadePair, VectorOf } from './near-pairs.ts';
import { plattScaling } from './platt.ts';
import { readSources } from './sources.ts';
import type { Source } from './sources.ts';
import type { TrainingPair } from './training-pair.ts';

export interface TrainOptions {
  readonly folders: readonly string[];
  readonly embedder: TextEmbedder;
  readonly seed: number;
  /** As it was typed, for the origin. */
  readonly command: string;
  readonly onProgress?: (what: string, done?: number, total?: number) => void;
}

/** Parameters, with how well models that hadn't seen the pairs did. */
export interface Training {
  readonly calibration: Calibration;
  /** Pair files, cross-validated by text groups among all sources. */
  readonly crossValidated: readonly HeldOut[];
  /** Each source, by a model of the other sources. */
  readonly leftOut: readonly HeldOut[];
  readonly passedOver: readonly string[];
}

/** Says that a text is foreign to one domain; parameters for all domains have nothing to say of that. */
const MUTE = ['unfamiliar'];
const AUGMENTED_SHARE = 0.25;
const HARMLESS = 'harmless-changes';

/** Fits the equivalence model to all training data below some folders. Repeatable to the byte for one seed, embedder and data. */
export async function train(options: TrainOptions): Promise<Training> {
  const { embedder, seed } = options;
  const { sources, passedOver, hashes } = await readSources(options.folders, seed);
  const pairs = await pairsOf(sources, options);
  const counts: Record<string, number> = {};
  for (const { source } of pairs) counts[source] = (counts[source] ?? 0) + 1;
  const texts = new Map(
    pairs.flatMap(({ asked, stored }) => [asked, stored]).map((side) => [side.text, side.features]),
  );
  const rarity = countRarity([...texts.values()]);
  options.onProgress?.(`signals of ${pairs.length} pairs`);
  const rows = signalRows(pairs, { rarity });
  const validated = pairs.map((pair, index) => ({ pair, row: rows[index]! }));
  const validation = { seed, rarity, mute: MUTE, onProgress: (what: string) => options.onProgress?.(what) };
  const files = sources.filter(({ kind }) => kind === 'pairs').map(({ name }) => name);
  const crossValidated = crossValidate(validated, files, validation);
  const leftOut = leaveSourcesOut(
    validated,
    sources.map(({ name }) => name),
    validation,
  );
  options.onProgress?.('all pairs');
  const equivalence = {
    ...fitRows(rows, { seed, rarity, mute: MUTE }),
    ...plattScaling(judgedRows(pairs, crossValidated)),
  };
  const dataHash = createHash('sha256').update(hashes.join('\n')).digest('hex');
  return {
    calibration: {
      version: 1,
      embedderId: embedder.embedderId,
      featureVersion: FEATURE_VERSION,
      equivalence,
      domains: {},
      origin: { command: options.command, seed, dataHash, counts },
    },
    crossValidated,
    leftOut,
    passedOver,
  };
}

/** Out-of-fold probabilities of the pair files that no guard vetoed. */
function judgedRows(
  pairs: readonly TrainingPair[],
  tables: readonly HeldOut[],
): readonly { readonly score: number; readonly same: boolean }[] {
  return tables.flatMap(({ name, scores }) => {
    const tested = pairs.filter(({ source }) => source === name);
    return scores.flatMap((score, index) => (score > 0 ? [{ score, same: tested[index]?.same === true }] : []));
  });
}

async function pairsOf(sources: readonly Source[], options: TrainOptions): Promise<readonly TrainingPair[]> {
  const { seed } = options;
  const vectors = new Map<string, EmbeddedText>();
  const embed = async (texts: readonly string[]): Promise<void> => {
    const wanted = [...new Set(texts)].filter((text) => !vectors.has(text));
    const embedded = await options.embedder.embed(wanted, {
      onProgress: (done, total) => options.onProgress?.('embedding texts', done, total),
    });
    for (const [index, text] of wanted.entries()) {
      const found = embedded[index];
      if (found?.truncated === false) vectors.set(text, found);
    }
  };
  await embed(sources.flatMap(textsOf));
  const vectorOf: VectorOf = (text) => vectors.get(text)?.vector;
  const made = sources.flatMap((source) =>
    madeOf(source, vectorOf, seed).map((pair) => ({ pair, source: source.name })),
  );
  const plain = sources.filter(({ kind }) => kind !== 'intents').flatMap(textsOf);
  const augmented = augmentedPairs([...new Set(plain)], AUGMENTED_SHARE, seed);
  await embed(augmented.map(({ b }) => b));
  const all = [...made, ...augmented.map((pair) => ({ pair, source: HARMLESS }))];
  return trainingPairs(all, vectors);
}

function textsOf(source: Source): readonly string[] {
  return source.kind === 'intents' ? source.texts.map(({ text }) => text) : source.pairs.flatMap(({ a, b }) => [a, b]);
}

function madeOf(source: Source, vectorOf: VectorOf, seed: number): readonly MadePair[] {
  if (source.kind === 'intents') return intentPairs(source.texts, vectorOf, seed);
  if (source.kind === 'paraphrases') return paraphrasePairs(source.pairs, vectorOf, seed);
  return source.pairs.map((pair) => ({ ...pair, weight: source.weight }));
}

function trainingPairs(
  made: readonly { readonly pair: MadePair; readonly source: string }[],
  embedded: ReadonlyMap<string, EmbeddedText>,
): readonly TrainingPair[] {
  const groups = textGroups(made.map(({ pair }) => [pair.a, pair.b]));
  const sides = new Map<string, TrainingPair['asked']>();
  const sideOf = (text: string): TrainingPair['asked'] => {
    const side = sides.get(text) ?? pairSide(text, embedded.get(text)?.wordVectors);
    sides.set(text, side);
    return side;
  };
  return made.flatMap(({ pair, source }, index) => {
    const [a, b] = [embedded.get(pair.a)?.vector, embedded.get(pair.b)?.vector];
    if (a === undefined || b === undefined) return [];
    const { same, weight, category } = pair;
    const common = { same, weight, category, source, group: groups[index] ?? 0 };
    return [{ ...common, stored: sideOf(pair.a), asked: sideOf(pair.b), similarity: similarityOf(a, b) }];
  });
}
