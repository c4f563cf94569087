import { describe, expect, it } from 'vitest';
import { extractFeatures } from './features.ts';
import { NOWHERE, sketchOf, wordCosine } from './sketch.ts';

const DIMENSIONS = 4;
const vectorsOf = (words: readonly string[]): Int8Array => new Int8Array(words.length * DIMENSIONS).fill(127);

function placedWords(text: string, words: readonly string[]): readonly (string | undefined)[] {
  const features = extractFeatures(text);
  const sketch = sketchOf(features, { words, vectors: vectorsOf(words) });
  return [...(sketch?.places ?? [])].map((place) => (place === NOWHERE ? undefined : features.words[place]));
}

describe('sketchOf', () => {
  it('finds the words of the features, names too', () => {
    expect(placedWords('Where is the Eiffel tower?', ['where', 'is', 'the', 'eiffel', 'tower'])).toEqual([
      'where',
      'is',
      'the',
      '^eiffel',
      'tower',
    ]);
  });

  it('gives all parts of a word that the embedder splits its one place', () => {
    expect(placedWords('Is my e-mail lost?', ['is', 'my', 'e', 'mail', 'lost'])).toEqual([
      'is',
      'my',
      'email',
      'email',
      'lost',
    ]);
  });

  it('leaves words that the features leave out without a place, and goes on after them', () => {
    const placed = placedWords('Hi, is it 20 mg for adults?', ['hi', 'is', 'it', '20', 'mg', 'for', 'adults']);
    expect(placed[0]).toBeUndefined();
    expect(placed.at(-1)).toBe('adults');
  });

  it('is undefined without word vectors', () => {
    expect(sketchOf(extractFeatures('Is it open?'), undefined)).toBeUndefined();
    expect(sketchOf(extractFeatures('Is it open?'), { words: [], vectors: new Int8Array(0) })).toBeUndefined();
  });
});

describe('wordCosine', () => {
  it('is the cosine of the chosen words', () => {
    const one = { places: Uint8Array.of(0, 1), vectors: Int8Array.of(127, 127, 127, 127, 127, -127, 127, -127) };
    const other = { places: Uint8Array.of(0), vectors: Int8Array.of(127, 127, 127, 127) };
    expect(wordCosine(one, 0, other, 0)).toBeCloseTo(1, 5);
    expect(wordCosine(one, 1, other, 0)).toBeCloseTo(0, 5);
  });
});
