import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyTable, NameTable } from './key-table.ts';

describe('KeyTable', () => {
  it('gives each key the number of keys before it, always the same', () => {
    const small = fc.bigInt({ min: 0n, max: 40n });
    const any = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(fc.array(fc.oneof(small, any), { maxLength: 3_000 }), (keys) => {
        const table = new KeyTable();
        const known = new Map<bigint, number>();
        for (const key of keys) {
          if (!known.has(key)) known.set(key, known.size);
          expect(table.idOfPair(Number(key >> 32n), Number(key & 0xffff_ffffn))).toBe(known.get(key));
        }
        expect(table.size).toBe(known.size);
      }),
      { numRuns: 30 },
    );
  });

  it('takes numbers past 32 bits', () => {
    const table = new KeyTable();
    expect([2 ** 32, 0, 2 ** 53 - 1, 2 ** 32].map((key) => table.idOf(key))).toEqual([0, 1, 2, 0]);
    expect(table.idOfPair(2 ** 21 - 1, 2 ** 32 - 1)).toBe(2);
  });
});

describe('NameTable', () => {
  it('goes on when a part of it is full', () => {
    const table = new NameTable(3);
    const names = Array.from({ length: 20 }, (_, at) => `name-${at}`);
    expect(names.map((name) => table.idOf(name))).toEqual(names.map((_, at) => at));
    expect(names.map((name) => table.idOf(name))).toEqual(names.map((_, at) => at));
  });
});
