import type { Embedding } from '../ports/embedder.ts';

/** What a cached embedding costs beside its vector and text: map slot, objects, array headers. */
const OVERHEAD_BYTES = 256;
/** What one word of a cached embedding costs beside its vector. */
const WORD_BYTES = 40;

/** Embeddings by text, least recently used first out; its bytes never exceed the bound. */
export class VectorCache {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, Embedding>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(text: string): Embedding | undefined {
    const embedding = this.#entries.get(text);
    if (embedding === undefined) return undefined;
    this.#entries.delete(text);
    this.#entries.set(text, embedding);
    return embedding;
  }

  has(text: string): boolean {
    return this.#entries.has(text);
  }

  /** Keeps an embedding, unless it alone is above the bound. */
  put(text: string, embedding: Embedding): void {
    this.#drop(text);
    const bytes = cost(text, embedding);
    if (bytes > this.#bytesMax) return;
    while (this.#bytes + bytes > this.#bytesMax) {
      const [oldest] = this.#entries.keys();
      if (oldest === undefined) break;
      this.#drop(oldest);
    }
    this.#entries.set(text, embedding);
    this.#bytes += bytes;
  }

  #drop(text: string): void {
    const embedding = this.#entries.get(text);
    if (embedding === undefined) return;
    this.#entries.delete(text);
    this.#bytes -= cost(text, embedding);
  }
}

function cost(text: string, embedding: Embedding): number {
  const { vector, wordVectors } = embedding;
  const ofWords = wordVectors === undefined ? 0 : wordVectors.vectors.length + wordVectors.words.length * WORD_BYTES;
  return OVERHEAD_BYTES + text.length * 2 + vector.byteLength + ofWords;
}
