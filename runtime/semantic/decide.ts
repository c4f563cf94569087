import { lightFold, sameFold, spellingDiffers } from './asked-text.ts';
import type { Equivalence } from './equivalence.ts';
import type { Features } from './features.ts';
import { firstVetoOf, unknownTo, vetoesOf } from './guards/guards.ts';
import type { DomainLexicon } from './lexicons/domain-lexicon.ts';
import type { PairSide } from './pair-side.ts';
import { signalsOf } from './signals.ts';

export type { PairSide };

/** What a pair is held against. */
export interface PairPolicy {
  /** Names of the guards that may veto. */
  readonly guards: readonly string[];
  readonly lexicon: DomainLexicon;
  readonly similarityMin: number;
  readonly probabilityMin: number;
  readonly equivalence: Equivalence;
  /** Holds in place of a lower `similarityMin` where a guard doesn't know the language of a text; absent: `STRICT_SIMILARITY_MIN`. */
  readonly strictSimilarityMin?: number;
}

/** What was decided about a pair, and why. */
export interface PairVerdict {
  readonly similarity: number;
  /** That the stored answer serves the asked text; 0 when vetoed, and where nothing asked for it after a refusal. */
  readonly probability: number;
  /** Names of the guards that refuse, in the policy's order; where no evidence was asked for, the first of them. */
  readonly vetoes: readonly string[];
  readonly serve: boolean;
  readonly reason: 'served' | 'below-threshold' | 'improbable' | 'vetoed';
  /** The embedder gave two different texts one vector: it doesn't know their words. */
  readonly blind: boolean;
  /** Guards that don't know the language of a text: the strict threshold holds. */
  readonly unknown: readonly string[];
}

export interface DecideOptions {
  /** Every guard gives its verdict, also where one or the similarity has refused already, and so does the equivalence. */
  readonly evidence?: boolean;
}

/** Least similarity where guards can't read a text: near-repeats only. */
export const STRICT_SIMILARITY_MIN = 0.97;

/** Closer than two texts with different letters ever come, unless the embedder doesn't know their words. */
const BLIND_SIMILARITY = 0.9999;
/** Name, beside the guards', of a pair that the embedder can't tell apart. */
export const BLIND_VETO = 'degenerate';

/**
 * Decides whether the answer to the stored text serves the asked one: the one function of the running node, judge, calibrate and train.
 * The threshold comes first: guards cost more than a comparison, and most candidates are below it.
 */
export function decidePair(
  policy: PairPolicy,
  asked: PairSide,
  stored: PairSide,
  similarity: number,
  options: DecideOptions = {},
): PairVerdict {
  const unknown = unknownOf(policy.guards, asked.features, stored.features);
  const strict = unknown.length > 0 ? (policy.strictSimilarityMin ?? STRICT_SIMILARITY_MIN) : 0;
  const near = similarity >= Math.max(policy.similarityMin, strict);
  const base = { similarity, probability: 0, vetoes: [], serve: false, blind: false, unknown };
  if (!near && options.evidence !== true) return { ...base, reason: 'below-threshold' };
  const { vetoes, blind } = vetoesOfPair(policy, asked, stored, similarity, options.evidence === true);
  const judged = { ...base, vetoes, blind };
  if (vetoes.length > 0) return { ...judged, reason: near ? 'vetoed' : 'below-threshold' };
  const context = { rarity: policy.equivalence.rarity, lexicon: policy.lexicon };
  const probability = policy.equivalence.probability(signalsOf(asked, stored, similarity, context));
  if (!near) return { ...judged, probability, reason: 'below-threshold' };
  if (probability < policy.probabilityMin) return { ...judged, probability, reason: 'improbable' };
  return { ...judged, probability, serve: true, reason: 'served' };
}

function vetoesOfPair(
  policy: PairPolicy,
  asked: PairSide,
  stored: PairSide,
  similarity: number,
  evidence: boolean,
): { readonly vetoes: readonly string[]; readonly blind: boolean } {
  const vetoes = (evidence ? vetoesOf : firstOf)(policy.guards, asked.features, stored.features, policy.lexicon);
  if (stored.text === asked.text) return { vetoes, blind: false };
  const sameVector = similarity >= BLIND_SIMILARITY;
  const sameLetters = sameFold(stored.text, asked.text);
  const blind = sameVector && !sameLetters;
  const unseen = sameLetters ? spellingDiffers(stored.text, asked.text) : sameVector;
  if (unseen || (sameVector && lightFold(stored.text) !== lightFold(asked.text))) {
    return { vetoes: [...vetoes, BLIND_VETO], blind };
  }
  return { vetoes, blind };
}

const NONE: readonly string[] = [];

function firstOf(...pair: Parameters<typeof firstVetoOf>): readonly string[] {
  const veto = firstVetoOf(...pair);
  return veto === undefined ? NONE : [veto];
}

function unknownOf(names: readonly string[], a: Features, b: Features): readonly string[] {
  const unknown = unknownTo(names, a);
  const other = unknownTo(names, b);
  return other.length === 0 ? unknown : [...new Set([...unknown, ...other])];
}
