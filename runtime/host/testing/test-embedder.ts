import type { CallOptions } from '../../ports/call-options.ts';
import type { Embedder, Embedding } from '../../ports/embedder.ts';

const DIMENSIONS = 16;

/**
 * An embedder in which a text's meaning is what stands before its first `|`: texts of one meaning get the same vector but for
 * a trace of the rest. Behaves as `next` says, or well.
 */
export class TestEmbedder implements Embedder {
  readonly id = 'test-embedder';
  readonly dimensions = DIMENSIONS;
  readonly windowTokens = 64;
  /** Instead of the vectors of a batch: rejects, waits, or gives others. */
  next: ((texts: readonly string[], options: CallOptions) => Promise<readonly Embedding[]>) | undefined;
  readonly batches: (readonly string[])[] = [];

  embed(texts: readonly string[], options: CallOptions): Promise<readonly Embedding[]> {
    this.batches.push(texts);
    return this.next === undefined ? Promise.resolve(this.vectors(texts)) : this.next(texts, options);
  }

  vectors(texts: readonly string[]): readonly Embedding[] {
    return texts.map((text) => {
      const tokenCount = text.split(/\s+/u).length;
      return { vector: vectorOf(text), tokenCount, truncated: tokenCount > this.windowTokens };
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function vectorOf(text: string): Float32Array {
  const meaning = text.split(/[|—]/u, 1)[0]?.trim() ?? '';
  const own = hashed(text);
  const vector = hashed(meaning).map((value, index) => value + 0.05 * (own[index] ?? 0));
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function hashed(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  let state = 2_166_136_261;
  for (let at = 0; at < DIMENSIONS; at += 1) {
    for (const char of text) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 16_777_619);
    state = Math.imul(state ^ (at + 1), 16_777_619);
    vector[at] = (state >>> 0) / 2 ** 31 - 1;
  }
  return vector;
}
