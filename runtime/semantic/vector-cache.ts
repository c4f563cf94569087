import type { Embedding } from '../ports/embedder.ts';
import { RecentCache } from './recent-cache.ts';

/** What a cached embedding costs beside its vector and text: map slot, objects, array headers. */
const OVERHEAD_BYTES = 256;
/** What one word of a cached embedding costs beside its vector. */
const WORD_BYTES = 40;

/** Embeddings by text. */
export class VectorCache extends RecentCache<string, Embedding> {
  constructor(bytesMax: number) {
    super(bytesMax, costOf);
  }
}

function costOf(text: string, embedding: Embedding): number {
  const { vector, wordVectors } = embedding;
  const ofWords = wordVectors === undefined ? 0 : wordVectors.vectors.length + wordVectors.words.length * WORD_BYTES;
  return OVERHEAD_BYTES + text.length * 2 + vector.byteLength + ofWords;
}
