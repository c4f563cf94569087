import { align, alignedSide, piecesShared } from './alignment.ts';
import type { AlignedSide } from './alignment.ts';
import { contextMatch } from './context-match.ts';
import type { PairSide } from './pair-side.ts';
import type { Features } from './features.ts';
import { antonymConflict } from './guards/antonyms.ts';
import { negationConflict } from './guards/negation.ts';
import { dateConflict, numberConflict } from './guards/quantities.ts';
import { questionConflict } from './guards/questions.ts';
import { remembered } from './guards/remembered.ts';
import { scopeConflict } from './guards/scope.ts';
import { tenseConflict } from './guards/tense.ts';
import type { DomainLexicon } from './lexicons/domain-lexicon.ts';
import type { Rarity } from './rarity.ts';

/** One number about a pair of texts, the same whichever of them comes first. */
export interface SignalDefinition {
  readonly name: string;
  /** `raises`: more of it never makes the pair less probable. `lowers`: more of it never makes it more probable. */
  readonly direction: 'raises' | 'lowers';
}

/** Values of all `SIGNALS` for one pair. */
export type Signals = Float64Array;

interface Prepared {
  readonly features: Features;
  readonly side: AlignedSide;
}

const raising = [
  'similarity',
  'worst-word-poorer',
  'worst-word-richer',
  'mean-word-poorer',
  'mean-word-richer',
] as const;

const lowering = [
  'unmatched-share-poorer',
  'unmatched-share-richer',
  'unmatched-bits-poorer',
  'unmatched-bits-richer',
  'unmatched-rarest-poorer',
  'unmatched-rarest-richer',
  'unmatched-words-poorer',
  'unmatched-words-richer',
  'unmatched-names-poorer',
  'unmatched-names-richer',
  'inversions',
  'exchange',
  'addition',
  'exchange-apart',
  'addition-apart',
  'pieces-apart',
  'length-apart',
  'numbers-conflict',
  'numbers-apart',
  'dates-conflict',
  'negation-conflict',
  'antonym-conflict',
  'scope-conflict',
  'question-conflict',
  'tense-conflict',
  'symbols-apart',
  'dependent',
  'shortness',
  'unfamiliar',
  'telling',
] as const;

/** Every signal, in the order of `Signals`. */
export const SIGNALS: readonly SignalDefinition[] = [
  ...raising.map((name): SignalDefinition => ({ name, direction: 'raises' })),
  ...lowering.map((name): SignalDefinition => ({ name, direction: 'lowers' })),
];

/** Sides made ready for a table of rarity, the latest first, for as long as the features live: two policies in turn may weigh by two tables. */
const preparedOf: (features: Features) => { readonly rarity: Rarity; readonly prepared: Prepared }[] = remembered(
  () => [],
);
const PREPARED_MAX = 2;

/** What signals are read with. */
export interface SignalContext {
  readonly rarity: Rarity;
  readonly lexicon: DomainLexicon;
}

/** The signals of a pair. Symmetric, deterministic, finite for a finite similarity. */
export function signalsOf(a: PairSide, b: PairSide, similarity: number, context: SignalContext): Signals {
  const { rarity, lexicon } = context;
  const one = prepare(a.features, rarity);
  const two = prepare(b.features, rarity);
  const alignment = align(one, two, lexicon);
  const match = contextMatch({ ...one, sketch: a.sketch }, { ...two, sketch: b.sketch });
  const { contentCount: lengthA } = one.side;
  const { contentCount: lengthB } = two.side;
  const signals = new Float64Array(SIGNALS.length);
  signals[0] = similarity;
  signals[1] = match.worstPoorer;
  signals[2] = match.worstRicher;
  signals[3] = match.meanPoorer;
  signals[4] = match.meanRicher;
  signals[5] = alignment.sharePoorer;
  signals[6] = alignment.shareRicher;
  signals[7] = Math.sqrt(alignment.bitsPoorer);
  signals[8] = Math.sqrt(alignment.bitsRicher);
  signals[9] = alignment.rarestPoorer;
  signals[10] = alignment.rarestRicher;
  signals[11] = Math.sqrt(alignment.wordsPoorer);
  signals[12] = Math.sqrt(alignment.wordsRicher);
  signals[13] = bounded(alignment.namesPoorer);
  signals[14] = bounded(alignment.namesRicher);
  signals[15] = alignment.inversions;
  signals[16] = alignment.exchange;
  signals[17] = alignment.addition;
  signals[18] = alignment.exchange * (1 - match.worstPoorer);
  signals[19] = alignment.addition * (1 - match.worstPoorer);
  signals[20] = 1 - piecesShared(one.side, two.side);
  signals[21] = Math.log((Math.max(lengthA, lengthB) + 1) / (Math.min(lengthA, lengthB) + 1));
  signals[22] = bounded(numberConflict(a.features, b.features));
  signals[23] = bounded(apart(a.features.numbers, b.features.numbers));
  signals[24] = bounded(dateConflict(a.features, b.features));
  signals[25] = bounded(negationConflict(a.features, b.features));
  signals[26] = bounded(antonymConflict(a.features, b.features, lexicon));
  signals[27] = bounded(scopeConflict(a.features, b.features, lexicon));
  signals[28] = bounded(questionConflict(a.features, b.features));
  signals[29] = bounded(tenseConflict(a.features, b.features));
  signals[30] = bounded(apart(a.features.symbols, b.features.symbols));
  signals[31] = a.features.dependent || b.features.dependent ? 1 : 0;
  signals[32] = 1 / (1 + Math.min(lengthA, lengthB));
  signals[33] = Math.max(one.side.unfamiliarBits, two.side.unfamiliarBits);
  signals[34] = rarity.tellingOf === undefined ? 0 : telling(one, two, rarity.tellingOf);
  return signals;
}

/** More of a mismatch than this says nothing new. */
const CONFLICTS_MAX = 3;

function bounded(conflicts: number): number {
  return Math.min(CONFLICTS_MAX, conflicts);
}

function prepare(features: Features, rarity: Rarity): Prepared {
  const known = preparedOf(features);
  for (const one of known) if (one.rarity === rarity) return one.prepared;
  const fresh = { features, side: alignedSide(features, rarity) };
  if (known.length >= PREPARED_MAX) known.pop();
  known.unshift({ rarity, prepared: fresh });
  return fresh;
}

/** What the words say that only one of two texts has. */
function telling(one: Prepared, two: Prepared, tellingOf: (stem: string) => number): number {
  const stemsOne = distinctStems(one.features);
  const stemsTwo = distinctStems(two.features);
  let sum = 0;
  for (const stem of stemsOne) if (!stemsTwo.has(stem)) sum += tellingOf(stem);
  for (const stem of stemsTwo) if (!stemsOne.has(stem)) sum += tellingOf(stem);
  return sum;
}

/** The stems of a text, each once; words without one as they are. */
export const distinctStems = remembered(({ words, stems, kinds }: Features): ReadonlySet<string> => {
  const distinct = new Set<string>();
  for (const [at, kind] of kinds.entries()) if (kind !== ',') distinct.add(stems[at] || (words[at] ?? ''));
  return distinct;
});

/** How many items only one of two lists has. */
function apart(a: readonly string[], b: readonly string[]): number {
  let count = 0;
  for (const item of a) if (!b.includes(item)) count += 1;
  for (const item of b) if (!a.includes(item)) count += 1;
  return count;
}
