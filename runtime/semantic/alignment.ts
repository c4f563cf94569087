import type { Features } from './features.ts';
import { compare, isContent } from './guards/compare.ts';
import type { Rest } from './guards/compare.ts';
import type { DomainLexicon } from './lexicons/domain-lexicon.ts';
import type { Rarity } from './rarity.ts';

/** A text's words made ready to be aligned. */
export interface AlignedSide {
  /** Bits of rarity of each word of `Features.words`; words of grammar and courtesy count little, ends of phrases nothing. */
  readonly bits: Float64Array;
  readonly weight: number;
  /** Words of meaning, names, identifiers and numbers. */
  readonly contentCount: number;
  /** By how many bits its words of meaning and names, each once, are rarer than familiar ones. */
  readonly unfamiliarBits: number;
  /** Stem of each word of meaning → its last place. */
  readonly places: ReadonlyMap<string, number>;
  /** Three-letter pieces of the words of meaning, each once, sorted. */
  readonly pieces: Int32Array;
}

/** What two texts don't share. `poorer` is the side where that is less, `richer` the other one. Symmetric. */
export interface Alignment {
  /** Share of its weight that the other text lacks, 0 to 1. */
  readonly sharePoorer: number;
  readonly shareRicher: number;
  /** That weight, in bits. */
  readonly bitsPoorer: number;
  readonly bitsRicher: number;
  /** The rarest word that the other text lacks, in bits. */
  readonly rarestPoorer: number;
  readonly rarestRicher: number;
  /** Words of meaning that the other text lacks. */
  readonly wordsPoorer: number;
  readonly wordsRicher: number;
  /** Names and identifiers that the other text lacks. */
  readonly namesPoorer: number;
  readonly namesRicher: number;
  /** Share of pairs of shared words of meaning that stand in another order, 0 to 1. */
  readonly inversions: number;
  /** Share of words that both texts have, 0 to 1, where each also has words of meaning of its own: one thing put in another's place. */
  readonly exchange: number;
  /** That share where only one text has words of meaning of its own: something narrows the question. */
  readonly addition: number;
}

const GRAMMAR_FACTOR = 0.3;
/** A word of so many bits is at home in the texts that the rarity was counted in. */
const FAMILIAR_BITS = 8;
const PIECES_MAX = 2_000;
/** Order is read among so many shared words only. */
const ORDERED_MAX = 64;

/** A side of an alignment. */
export function alignedSide(features: Features, rarity: Rarity): AlignedSide {
  const { words, stems, kinds } = features;
  const bits = new Float64Array(words.length);
  const places = new Map<string, number>();
  const pieces = new Set<number>();
  let weight = 0;
  let contentCount = 0;
  let unfamiliarBits = 0;
  for (let at = 0; at < words.length; at += 1) {
    const kind = kinds[at] ?? ',';
    if (kind === ',') continue;
    const stem = stems[at] || (words[at] ?? '');
    const grammar = kind === 'f' || kind === 'c' || kind === 's';
    const own = rarity.weightOf(stem) * (grammar ? GRAMMAR_FACTOR : 1);
    bits[at] = own;
    weight += own;
    if (grammar) continue;
    contentCount += 1;
    if ((kind === 'w' || kind === 'n') && !places.has(stem)) unfamiliarBits += Math.max(0, own - FAMILIAR_BITS);
    places.set(stem, at);
    addPieces(stem, pieces);
  }
  return { bits, weight, contentCount, unfamiliarBits, places, pieces: Int32Array.from(pieces).sort() };
}

/** One text of an alignment, with its side made ready. */
export interface Aligned {
  readonly features: Features;
  readonly side: AlignedSide;
}

/** Aligns two texts. Linear in their lengths but for the words that differ. */
export function align(a: Aligned, b: Aligned, lexicon: DomainLexicon): Alignment {
  const comparison = compare(a.features, b.features, lexicon);
  const restA = weigh(comparison.a, a.side);
  const restB = weigh(comparison.b, b.side);
  const shareA = restA.bits / Math.max(1, a.side.weight);
  const shareB = restB.bits / Math.max(1, b.side.weight);
  return {
    sharePoorer: Math.min(shareA, shareB),
    shareRicher: Math.max(shareA, shareB),
    bitsPoorer: Math.min(restA.bits, restB.bits),
    bitsRicher: Math.max(restA.bits, restB.bits),
    rarestPoorer: Math.min(restA.rarest, restB.rarest),
    rarestRicher: Math.max(restA.rarest, restB.rarest),
    wordsPoorer: Math.min(restA.words, restB.words),
    wordsRicher: Math.max(restA.words, restB.words),
    namesPoorer: Math.min(restA.names, restB.names),
    namesRicher: Math.max(restA.names, restB.names),
    inversions: inversionsOf(a.side, b.side),
    exchange: Math.min(restA.words, restB.words) > 0 ? comparison.share : 0,
    addition: Math.min(restA.words, restB.words) === 0 && Math.max(restA.words, restB.words) > 0 ? comparison.share : 0,
  };
}

/** Dice coefficient of the pieces of two sides, 0 to 1. */
export function piecesShared(a: AlignedSide, b: AlignedSide): number {
  let shared = 0;
  for (let i = 0, j = 0; i < a.pieces.length && j < b.pieces.length;) {
    const difference = a.pieces[i]! - b.pieces[j]!;
    if (difference === 0) shared += 1;
    if (difference <= 0) i += 1;
    if (difference >= 0) j += 1;
  }
  const all = a.pieces.length + b.pieces.length;
  return all === 0 ? 1 : (2 * shared) / all;
}

interface Weighed {
  bits: number;
  rarest: number;
  words: number;
  names: number;
}

function weigh(rests: readonly Rest[], side: AlignedSide): Weighed {
  const weighed: Weighed = { bits: 0, rarest: 0, words: 0, names: 0 };
  for (const rest of rests) {
    const bits = side.bits[rest.index] ?? 0;
    weighed.bits += bits;
    weighed.rarest = Math.max(weighed.rarest, bits);
    if (isContent(rest)) weighed.words += 1;
    if (rest.kind === 'n' || rest.kind === 'i') weighed.names += 1;
  }
  return weighed;
}

function inversionsOf(a: AlignedSide, b: AlignedSide): number {
  const shared: (readonly [number, number])[] = [];
  for (const [stem, place] of a.places) {
    const other = b.places.get(stem);
    if (other !== undefined && shared.length < ORDERED_MAX) shared.push([place, other]);
  }
  let inverted = 0;
  for (let i = 1; i < shared.length; i += 1) {
    for (let j = 0; j < i; j += 1) {
      if (shared[j]![0] < shared[i]![0] !== shared[j]![1] < shared[i]![1]) inverted += 1;
    }
  }
  return shared.length < 2 ? 0 : (2 * inverted) / (shared.length * (shared.length - 1));
}

function addPieces(stem: string, pieces: Set<number>): void {
  const padded = ` ${stem} `;
  for (let from = 0; from + 3 <= padded.length && pieces.size < PIECES_MAX; from += 1) {
    pieces.add((padded.charCodeAt(from) << 20) ^ (padded.charCodeAt(from + 1) << 10) ^ padded.charCodeAt(from + 2));
  }
}
