import type { Embedder, Embedding } from '../../runtime/ports/embedder.ts';

/** Embeds a text by the letters that it has, and counts what it was asked. Texts with `#` are beyond its window. */
export class LetterEmbedder implements Embedder {
  readonly id = 'letters-1';
  readonly dimensions = 26;
  readonly windowTokens = 64;
  readonly asked: string[] = [];

  embed(texts: readonly string[]): Promise<readonly Embedding[]> {
    this.asked.push(...texts);
    return Promise.resolve(
      texts.map((text) => ({ vector: vectorOf(text), tokenCount: 1, truncated: text.includes('#') })),
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(26).fill(0.01);
  for (const letter of text.toLowerCase()) {
    const place = letter.charCodeAt(0) - 97;
    if (place >= 0 && place < 26) vector[place] = (vector[place] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
