import type { Embedding } from '../ports/embedder.ts';
import type { Features } from './features.ts';
import { pairSide } from './pair-side.ts';
import type { PairSide } from './pair-side.ts';
import { RecentCache } from './recent-cache.ts';
import { decodeVectorText } from './vector-record.ts';

const BYTES_MAX = 8 * 1_024 * 1_024;
/** What a side costs beside what it was made from: map slot, objects, array headers. */
const OVERHEAD_BYTES = 1_024;
/** What one word of a side costs, with all that guards and signals remember of it. */
const WORD_BYTES = 320;

/**
 * Sides of pairs read lately, by the very object that each was made from: neither records nor embeddings are ever changed. A candidate that
 * is looked at again is neither parsed nor made ready anew, since guards and signals remember what they made of its features.
 */
export class SideCache {
  readonly #sides = new RecentCache<Uint8Array | Embedding, PairSide>(BYTES_MAX, costOf);

  /** Bytes charged now. */
  get bytes(): number {
    return this.#sides.bytes;
  }

  /** The side of a vector record; undefined as for `decodeVectorText`. */
  stored(record: Uint8Array): PairSide | undefined {
    const known = this.#sides.get(record);
    if (known !== undefined) return known;
    const side = decodeVectorText(record);
    if (side !== undefined) this.#sides.put(record, side);
    return side;
  }

  /** The side of a normalised text with its embedding; `features`: where they were read already. */
  asked(text: string, embedding: Embedding, features?: Features): PairSide {
    const known = this.#sides.get(embedding);
    if (known?.text === text) return known;
    const side = pairSide(text, embedding.wordVectors, features);
    this.#sides.put(embedding, side);
    return side;
  }
}

function costOf(source: Uint8Array | Embedding, { text, features, sketch }: PairSide): number {
  const kept =
    source instanceof Uint8Array ? source.byteLength : source.vector.byteLength + (sketch?.vectors.length ?? 0);
  return OVERHEAD_BYTES + kept + text.length * 2 + features.words.length * WORD_BYTES;
}
