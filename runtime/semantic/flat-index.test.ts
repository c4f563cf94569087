import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FlatIndex } from './flat-index.ts';

const DIMENSIONS = 5;
const unit = fc
  .array(fc.integer({ min: -3, max: 3 }), { minLength: DIMENSIONS, maxLength: DIMENSIONS })
  .filter((numbers) => numbers.some((number) => number !== 0))
  .map((numbers) => Float32Array.from(numbers).map((number) => number / Math.hypot(...numbers)));

describe('FlatIndex', () => {
  it('finds 1 for the same vector and -1 for the contrary: cosine, no distance', () => {
    const index = new FlatIndex(2);
    index.add('same', Float32Array.of(0.6, 0.8));
    index.add('contrary', Float32Array.of(-0.6, -0.8));
    index.add('across', Float32Array.of(0.8, -0.6));
    const found = index.search(Float32Array.of(0.6, 0.8), 3, -1);
    expect(found.map(({ id }) => id)).toEqual(['same', 'across', 'contrary']);
    expect(found.map(({ similarity }) => similarity)).toEqual([
      expect.closeTo(1),
      expect.closeTo(0),
      expect.closeTo(-1),
    ]);
  });

  it('breaks ties by id', () => {
    const index = new FlatIndex(1);
    for (const id of ['c', 'a', 'd', 'b']) index.add(id, Float32Array.of(1));
    expect(index.search(Float32Array.of(1), 2, 0).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('finds nothing for k 0 and nothing below the floor', () => {
    const index = new FlatIndex(1);
    index.add('a', Float32Array.of(1));
    expect(index.search(Float32Array.of(1), 0, -1)).toEqual([]);
    expect(index.search(Float32Array.of(-1), 1, 0)).toEqual([]);
  });

  it('agrees with sorting everything, after any additions, replacements and removals', () => {
    const operation = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), id: fc.integer({ min: 0, max: 600 }), vector: unit }),
      fc.record({ kind: fc.constant('remove' as const), id: fc.integer({ min: 0, max: 600 }) }),
    );
    fc.assert(
      fc.property(
        fc.array(operation, { maxLength: 700 }),
        unit,
        fc.integer({ min: 1, max: 9 }),
        (operations, asked, k) => {
          const index = new FlatIndex(DIMENSIONS);
          const model = new Map<string, Float32Array>();
          for (const step of operations) {
            const id = `k${step.id}`;
            if (step.kind === 'remove') expect(index.remove(id)).toBe(model.delete(id));
            else {
              index.add(id, step.vector);
              model.set(id, step.vector);
            }
            expect(index.size).toBe(model.size);
          }
          const found = index.search(asked, k, 0.25);
          const expected = [...model]
            .map(([id, vector]) => ({
              id,
              similarity: vector.reduce((sum, value, i) => sum + value * (asked[i] ?? 0), 0),
            }))
            .filter(({ similarity }) => similarity > 0.2501)
            .sort((a, b) => b.similarity - a.similarity);
          for (const [rank, match] of found.entries()) {
            const own = model.get(match.id);
            expect(own).toBeDefined();
            expect(match.similarity).toBeCloseTo(expected[rank]?.similarity ?? 0.25, 2);
          }
          expect(found.length).toBeGreaterThanOrEqual(Math.min(k, expected.length));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('grows over several blocks and shrinks to nothing', () => {
    const index = new FlatIndex(2);
    for (let n = 0; n < 1_000; n += 1) index.add(`k${n}`, Float32Array.of(Math.cos(n / 500), Math.sin(n / 500)));
    expect(index.search(Float32Array.of(Math.cos(777 / 500), Math.sin(777 / 500)), 1, 0.5)[0]?.id).toBe('k777');
    for (let n = 0; n < 1_000; n += 1) expect(index.remove(`k${n}`)).toBe(true);
    expect(index.size).toBe(0);
    expect(index.search(Float32Array.of(1, 0), 3, -1)).toEqual([]);
  });
});
