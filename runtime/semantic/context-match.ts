import type { AlignedSide } from './alignment.ts';
import type { Features } from './features.ts';
import { NOWHERE, wordCosine, type Sketch } from './sketch.ts';

/** How well the words of meaning of two texts find, in their context, a word of the other text. Cosines; 1 where a text has no such word. Symmetric. */
export interface ContextMatch {
  /** Best cosine of the word that finds least; the lower and the higher of both texts. */
  readonly worstPoorer: number;
  readonly worstRicher: number;
  /** Mean best cosine, weighted by rarity; the lower and the higher of both texts. */
  readonly meanPoorer: number;
  readonly meanRicher: number;
}

/** Holds where a text has no sketch: as of words that hardly find a match, so that it never speaks for a pair. */
export const NO_CONTEXT: ContextMatch = { worstPoorer: 0.3, worstRicher: 0.4, meanPoorer: 0.5, meanRicher: 0.6 };

/** One text of a match. */
export interface ContextSide {
  readonly features: Features;
  readonly side: AlignedSide;
  readonly sketch: Sketch | undefined;
}

/**
 * Matches the words of two texts. A word that the other text has too is matched with itself, which tells whether it means the same there;
 * any other with the best of all words.
 */
export function contextMatch(a: ContextSide, b: ContextSide): ContextMatch {
  if (a.sketch === undefined || b.sketch === undefined) return NO_CONTEXT;
  if (dimensionsOf(a.sketch) !== dimensionsOf(b.sketch)) return NO_CONTEXT;
  const meantA = meantWords(a.features, a.sketch);
  const meantB = meantWords(b.features, b.sketch);
  const bestA = new Float64Array(meantA.length).fill(UNMATCHED);
  const bestB = new Float64Array(meantB.length).fill(UNMATCHED);
  matchShared(a, b, { meantA, meantB, bestA, bestB });
  matchOthers(a.sketch, b.sketch, { meantA, meantB, bestA, bestB });
  const [worstA, meanA] = found(meantA, bestA, a);
  const [worstB, meanB] = found(meantB, bestB, b);
  return {
    worstPoorer: Math.min(worstA, worstB),
    worstRicher: Math.max(worstA, worstB),
    meanPoorer: Math.min(meanA, meanB),
    meanRicher: Math.max(meanA, meanB),
  };
}

/** Below any cosine. */
const UNMATCHED = -2;
const NOT_MEANT = 0;
const MEANT = 1;
/** Meant, and the other text has it too. */
const SHARED = 2;

interface Matching {
  /** `NOT_MEANT`, `MEANT` or `SHARED` for each word. */
  readonly meantA: Uint8Array;
  readonly meantB: Uint8Array;
  /** Best cosine of each word that is meant. */
  readonly bestA: Float64Array;
  readonly bestB: Float64Array;
}

function matchShared(a: ContextSide, b: ContextSide, { meantA, meantB, bestA, bestB }: Matching): void {
  const [one, other] = [a.sketch as Sketch, b.sketch as Sketch];
  for (let i = 0; i < meantA.length; i += 1) {
    if (meantA[i] === NOT_MEANT) continue;
    const stem = a.features.stems[one.places[i]!];
    for (let j = 0; j < meantB.length; j += 1) {
      if (meantB[j] === NOT_MEANT || b.features.stems[other.places[j]!] !== stem) continue;
      const cosine = wordCosine(one, i, other, j);
      meantA[i] = SHARED;
      meantB[j] = SHARED;
      if (cosine > bestA[i]!) bestA[i] = cosine;
      if (cosine > bestB[j]!) bestB[j] = cosine;
    }
  }
}

function matchOthers(one: Sketch, other: Sketch, { meantA, meantB, bestA, bestB }: Matching): void {
  for (let i = 0; i < meantA.length; i += 1) {
    for (let j = 0; j < meantB.length; j += 1) {
      const [counts, countsToo] = [meantA[i] === MEANT, meantB[j] === MEANT];
      if (!counts && !countsToo) continue;
      const cosine = wordCosine(one, i, other, j);
      if (counts && cosine > bestA[i]!) bestA[i] = cosine;
      if (countsToo && cosine > bestB[j]!) bestB[j] = cosine;
    }
  }
}

function dimensionsOf({ places, vectors }: Sketch): number {
  return vectors.length / places.length;
}

/** `MEANT` for each vector of a word of meaning, a name or an identifier. */
function meantWords({ kinds }: Features, { places }: Sketch): Uint8Array {
  const meant = new Uint8Array(places.length);
  for (let at = 0; at < places.length; at += 1) {
    const place = places[at]!;
    const kind = place === NOWHERE ? ',' : kinds[place];
    if (kind === 'w' || kind === 'n' || kind === 'i') meant[at] = MEANT;
  }
  return meant;
}

function found(meant: Uint8Array, best: Float64Array, { side, sketch }: ContextSide): readonly [number, number] {
  let worst = 1;
  let sum = 0;
  let weight = 0;
  for (let at = 0; at < meant.length; at += 1) {
    if (meant[at] === NOT_MEANT) continue;
    const cosine = best[at]!;
    const bits = side.bits[sketch?.places[at] ?? NOWHERE] ?? 0;
    worst = Math.min(worst, cosine);
    sum += bits * cosine;
    weight += bits;
  }
  return [worst, weight > 0 ? sum / weight : worst];
}
