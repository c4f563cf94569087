import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NodeHash } from '../host/node-hash.ts';
import { LshCoder, rangeOf, wholeRange } from './lsh.ts';

const DIMENSIONS = 32;
const coder = new LshCoder(new NodeHash(), { embedderId: 'e', dimensions: DIMENSIONS, bits: 12 });
const component = fc.float({ min: -1, max: 1, noNaN: true });
const vectors = fc
  .array(component, { minLength: DIMENSIONS, maxLength: DIMENSIONS })
  .map((numbers) => Float32Array.from(numbers));

describe('LshCoder', () => {
  it('is determined by the embedder id', () => {
    const vector = Float32Array.from({ length: DIMENSIONS }, (_, i) => Math.sin(i * 7 + 1));
    const same = new LshCoder(new NodeHash(), { embedderId: 'e', dimensions: DIMENSIONS, bits: 12 });
    const other = new LshCoder(new NodeHash(), { embedderId: 'f', dimensions: DIMENSIONS, bits: 12 });
    expect(same.code(vector).code).toBe(coder.code(vector).code);
    expect([...other.code(vector).margins]).not.toEqual([...coder.code(vector).margins]);
  });

  it('probes the own code first, then distinct codes by rising sum of squared margins', () => {
    fc.assert(
      fc.property(vectors, (vector) => {
        const coded = coder.code(vector);
        const probes = coder.probes(coded, 20);
        expect(probes).toHaveLength(21);
        expect(new Set(probes).size).toBe(21);
        const scores = probes.map((code) => score(coded.margins, code ^ coded.code));
        expect(scores).toEqual([...scores].sort((a, b) => a - b));
        expect(scores[0]).toBe(0);
      }),
    );
  });

  it('finds no more probes than codes', () => {
    const tiny = new LshCoder(new NodeHash(), { embedderId: 'e', dimensions: DIMENSIONS, bits: 2 });
    expect(tiny.probes(tiny.code(new Float32Array(DIMENSIONS).fill(1)), 64)).toHaveLength(4);
  });

  it('gives codes of 32 bits without a sign', () => {
    const wide = new LshCoder(new NodeHash(), { embedderId: 'e', dimensions: DIMENSIONS, bits: 32 });
    fc.assert(
      fc.property(vectors, (vector) => {
        for (const code of wide.probes(wide.code(vector), 8)) {
          expect(code).toBeGreaterThanOrEqual(0);
          expect(code).toBeLessThan(2 ** 32);
        }
      }),
    );
  });

  it('brings near vectors together: most lie within eight probes', () => {
    let found = 0;
    for (let n = 0; n < 200; n += 1) {
      const vector = Float32Array.from({ length: DIMENSIONS }, (_, i) => Math.sin((n + 1) * (i + 3) * 1.7));
      const near = vector.map((value, i) => value + 0.12 * Math.cos((n + 2) * (i + 1) * 2.3));
      if (coder.probes(coder.code(near), 8).includes(coder.code(vector).code)) found += 1;
    }
    expect(found).toBeGreaterThan(150);
  });
});

describe('rangeOf', () => {
  it('is the whole range at depth 0 and one code at full depth', () => {
    expect(rangeOf(1234, 0, 12)).toEqual(wholeRange(12));
    expect(rangeOf(1234, 12, 12)).toEqual({ from: 1234, to: 1234 });
  });

  it('holds the code and halves with each level', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4095 }), fc.integer({ min: 0, max: 12 }), (code, depth) => {
        const range = rangeOf(code, depth, 12);
        expect(range.from <= code && code <= range.to).toBe(true);
        expect(range.to - range.from + 1).toBe(2 ** (12 - depth));
      }),
    );
  });
});

function score(margins: Float64Array, flipped: number): number {
  const ordered = [...margins]
    .map((margin, bit) => ({ square: margin * margin, bit }))
    .sort((a, b) => a.square - b.square);
  let sum = 0;
  for (const { square, bit } of ordered) if ((flipped & (1 << bit)) !== 0) sum += square;
  return sum;
}
