import { describe, expect, it } from 'vitest';
import { WORD_VECTOR_STEP } from '../../ports/embedder.ts';
import { WordSketcher } from './word-sketcher.ts';

const WIDTH = 384;

/** A direction of its own for each number. */
function direction(seed: number): Float32Array {
  return Float32Array.from({ length: WIDTH }, (_, at) => Math.sin(seed * 12.9898 + at * 78.233 + seed * at));
}

const hiddenOf = (seeds: readonly number[]): Float32Array =>
  Float32Array.from(seeds.flatMap((seed) => [...direction(seed)]));

function cosine(vectors: Int8Array, i: number, j: number, words: number): number {
  const dimensions = vectors.length / words;
  let sum = 0;
  for (let at = 0; at < dimensions; at += 1) sum += vectors[i * dimensions + at]! * vectors[j * dimensions + at]!;
  return sum * WORD_VECTOR_STEP ** 2;
}

describe('WordSketcher', () => {
  it('joins the pieces of a word and leaves out punctuation and special pieces', () => {
    const pieces = ['[CLS]', 'zol', '##mitriptan', ',', 'Please', '!', '[SEP]'];
    const sketch = new WordSketcher().sketch(pieces, hiddenOf([1, 2, 3, 4, 5, 6, 7]), WIDTH);
    expect(sketch?.words).toEqual(['zolmitriptan', 'please']);
  });

  it('reads vocabularies that mark where words start', () => {
    const sketch = new WordSketcher().sketch(['<s>', '▁re', 'set', '▁it', '</s>'], hiddenOf([1, 2, 3, 4, 5]), WIDTH);
    expect(sketch?.words).toEqual(['reset', 'it']);
  });

  it('keeps unit length and about the cosines of the model', () => {
    const near = direction(1).map((value, at) => value + 0.3 * (direction(2)[at] ?? 0));
    const hidden = Float32Array.from([...direction(1), ...near, ...direction(3)]);
    const sketch = new WordSketcher().sketch(['a', 'b', 'c'], hidden, WIDTH);
    const vectors = sketch?.vectors ?? new Int8Array(0);
    expect(cosine(vectors, 0, 0, 3)).toBeCloseTo(1, 1);
    expect(cosine(vectors, 0, 1, 3)).toBeGreaterThan(0.85);
    expect(cosine(vectors, 0, 2, 3)).toBeLessThan(0.5);
  });

  it('gives the same vectors whenever it is asked', () => {
    const hidden = hiddenOf([1, 2]);
    expect(new WordSketcher().sketch(['a', 'b'], hidden, WIDTH)).toEqual(
      new WordSketcher().sketch(['a', 'b'], hidden, WIDTH),
    );
  });

  it('has nothing for texts without words and for long ones', () => {
    expect(new WordSketcher().sketch(['[CLS]', '?', '[SEP]'], hiddenOf([1, 2, 3]), WIDTH)).toBeUndefined();
    const long = Array.from({ length: 80 }, () => 'word');
    expect(new WordSketcher().sketch(long, new Float32Array(80 * WIDTH), WIDTH)).toBeUndefined();
  });
});
