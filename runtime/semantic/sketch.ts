import { WORD_VECTOR_STEP, type WordVectors } from '../ports/embedder.ts';
import type { Features } from './features.ts';
import { bareWord } from './guards/word-info.ts';

/** The word vectors of a text beside its features; stored with its vector. */
export interface Sketch {
  /** Of each word vector the place of its word in `Features.words`, or `NOWHERE`. */
  readonly places: Uint8Array;
  /** As in `WordVectors`. */
  readonly vectors: Int8Array;
}

/** Place of a word that the features leave out. */
export const NOWHERE = 255;

/** So many words of the features may lie between two words that the embedder reads one after the other. */
const SKIPPED_MAX = 8;
const SCALE = WORD_VECTOR_STEP * WORD_VECTOR_STEP;

/** The sketch of a text; undefined where there are no word vectors. */
export function sketchOf(features: Features, wordVectors: WordVectors | undefined): Sketch | undefined {
  if (wordVectors === undefined || wordVectors.words.length === 0) return undefined;
  const { words, vectors } = wordVectors;
  const places = new Uint8Array(words.length).fill(NOWHERE);
  let next = 0;
  /** What the embedder hasn't read yet of the word before `next`: it splits "e-mail", the features don't. */
  let left = '';
  for (const [index, word] of words.entries()) {
    if (left !== '' && left.startsWith(word)) {
      places[index] = next - 1;
      left = left.slice(word.length);
      continue;
    }
    const place = placeOf(features.words, next, word);
    if (place < 0 || place >= NOWHERE) continue;
    places[index] = place;
    left = bareWord(features.words[place] ?? '').slice(word.length);
    next = place + 1;
  }
  return { places, vectors };
}

function placeOf(words: readonly string[], from: number, word: string): number {
  const to = Math.min(words.length, from + SKIPPED_MAX);
  for (let at = from; at < to; at += 1) if (bareWord(words[at] ?? '') === word) return at;
  return bareWord(words[from] ?? '').startsWith(word) ? from : -1;
}

/** Cosine of two word vectors of sketches of one embedder. */
export function wordCosine(a: Sketch, i: number, b: Sketch, j: number): number {
  const one = a.vectors;
  const other = b.vectors;
  const dimensions = one.length / a.places.length;
  const from = i * dimensions;
  const apart = (j - i) * dimensions;
  const whole = from + dimensions - (dimensions % 4);
  let [sum0, sum1] = [0, 0];
  let at = from;
  for (; at < whole; at += 4) {
    sum0 += Math.imul(one[at]!, other[at + apart]!) + Math.imul(one[at + 1]!, other[at + apart + 1]!);
    sum1 += Math.imul(one[at + 2]!, other[at + apart + 2]!) + Math.imul(one[at + 3]!, other[at + apart + 3]!);
  }
  for (; at < from + dimensions; at += 1) sum0 += Math.imul(one[at]!, other[at + apart]!);
  return (sum0 + sum1) * SCALE;
}
