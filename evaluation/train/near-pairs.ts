import type { IntentText } from '../pairs/known-data.ts';
import { OUT_OF_SCOPE } from '../pairs/known-data.ts';
import { similarityOf } from '../embedding/text-embedder.ts';
import { seededRandom, shuffled } from '../statistics/random.ts';
import type { TextPair } from './sources.ts';

/** A pair made from a data set, with how much it counts. */
export interface MadePair extends TextPair {
  readonly weight: number;
}

/** The vector of a text; undefined: it has none. */
export type VectorOf = (text: string) => Float32Array | undefined;

interface Near {
  readonly similarity: number;
  readonly index: number;
}

const NEIGHBOURS = 8;
const SAME_SIMILARITY_MIN = 0.7;
const OTHER_SIMILARITY_MIN = 0.55;
const ANCHORS_MAX = 1_500;
/** Same intent isn't always same answer: the nearest text of an intent mostly is, others less. */
const NEAREST_WEIGHT = 0.3;
const SAME_WEIGHT = 0.15;
const OTHER_WEIGHT = 0.42;
/** Sentences of one documentation are less like requests than pairs that were written as such. */
const PARAPHRASE_WEIGHT = 0.5;
const PARAPHRASE_OTHER_SHARE = 0.6;
/** Nearer texts that nobody paired are paraphrases of each other more often than not. */
const PARAPHRASE_OTHER_MAX = 0.75;

/**
 * Pairs of near texts: the nearest two of the same intent are taken for same, the nearest two of another intent for different. Texts out of
 * scope are the same as none.
 */
export function intentPairs(texts: readonly IntentText[], vectorOf: VectorOf, seed: number): readonly MadePair[] {
  const random = seededRandom(seed);
  const made = new PairSet();
  const vectors = texts.map(({ text }) => vectorOf(text));
  for (const index of anchorsOf(texts.length, seed)) {
    const { text, intent } = texts[index]!;
    const alike = (other: number): boolean => intent !== OUT_OF_SCOPE && texts[other]?.intent === intent;
    const same = nearest(vectors, index, SAME_SIMILARITY_MIN, alike);
    const others = nearest(vectors, index, OTHER_SIMILARITY_MIN, (other) => !alike(other));
    const add = (near: Near | undefined, isSame: boolean, category: string, weight: number): void => {
      const b = near === undefined ? undefined : texts[near.index]?.text;
      if (b !== undefined) made.add({ a: text, b, same: isSame, category, weight });
    };
    add(same[0], true, 'same-intent-nearest', NEAREST_WEIGHT);
    add(same[2 + Math.floor(random() * 5)], true, 'same-intent', SAME_WEIGHT);
    add(others[0], false, 'other-intent', OTHER_WEIGHT);
    add(others[1], false, 'other-intent', OTHER_WEIGHT);
  }
  return made.pairs;
}

/** Places of so many texts, drawn by the seed, in order: files often list one intent after the other. */
function anchorsOf(texts: number, seed: number): readonly number[] {
  const places = Array.from({ length: texts }, (_, place) => place);
  return shuffled(places, seededRandom(seed))
    .slice(0, ANCHORS_MAX)
    .sort((a, b) => a - b);
}

/** The paraphrases themselves, and near pairs of texts that aren't paraphrases of each other. */
export function paraphrasePairs(pairs: readonly TextPair[], vectorOf: VectorOf, seed: number): readonly MadePair[] {
  const random = seededRandom(seed);
  const made = new PairSet();
  const mates = new Map<string, Set<string>>();
  const mate = (text: string, other: string): void => {
    mates.set(text, (mates.get(text) ?? new Set([text])).add(other));
  };
  for (const pair of pairs) {
    mate(pair.a, pair.b);
    mate(pair.b, pair.a);
    made.add({ ...pair, weight: PARAPHRASE_WEIGHT });
  }
  const texts = [...mates.keys()];
  const vectors = texts.map(vectorOf);
  for (const [index, text] of texts.entries()) {
    const isOther = (other: number): boolean => mates.get(text)?.has(texts[other] ?? '') !== true;
    const near = nearest(vectors, index, 0, isOther, PARAPHRASE_OTHER_MAX);
    const chosen = near[Math.floor(random() * 5)];
    const kept = random() < PARAPHRASE_OTHER_SHARE;
    if (chosen === undefined || !kept) continue;
    made.add({ a: text, b: texts[chosen.index] ?? '', same: false, category: 'near', weight: PARAPHRASE_WEIGHT });
  }
  return made.pairs;
}

function nearest(
  vectors: readonly (Float32Array | undefined)[],
  index: number,
  floor: number,
  wanted: (other: number) => boolean,
  ceiling = Number.POSITIVE_INFINITY,
): readonly Near[] {
  const own = vectors[index];
  const found: Near[] = [];
  if (own === undefined) return found;
  for (let other = 0; other < vectors.length; other += 1) {
    const vector = vectors[other];
    if (other === index || vector === undefined || !wanted(other)) continue;
    const similarity = similarityOf(own, vector);
    const last = found[NEIGHBOURS - 1];
    if (similarity < floor || similarity > ceiling || (last !== undefined && similarity <= last.similarity)) continue;
    found.push({ similarity, index: other });
    found.sort((a, b) => b.similarity - a.similarity || a.index - b.index);
    if (found.length > NEIGHBOURS) found.pop();
  }
  return found;
}

/** Pairs, each once whichever text comes first. */
class PairSet {
  readonly #known = new Set<string>();
  readonly pairs: MadePair[] = [];

  add(pair: MadePair): void {
    const key = pair.a < pair.b ? `${pair.a}\n${pair.b}` : `${pair.b}\n${pair.a}`;
    if (pair.a === pair.b || this.#known.has(key)) return;
    this.#known.add(key);
    this.pairs.push(pair);
  }
}
