import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SortedBlocks } from './sorted-blocks.ts';

function make(members: Iterable<number> = []): SortedBlocks<number> {
  const blocks = new SortedBlocks<number>((left, right) => left - right);
  for (const member of members) blocks.insert(member);
  return blocks;
}

describe('SortedBlocks', () => {
  it('holds what a sorted array holds after any insertions and removals, from any probe', () => {
    const member = fc.integer({ min: 0, max: 2_000 });
    fc.assert(
      fc.property(fc.array(member, { maxLength: 1_500, size: 'max' }), fc.array(member), member, (add, drop, probe) => {
        const distinct = new Set(add);
        const blocks = make(distinct);
        for (const dropped of drop) expect(blocks.remove(dropped)).toBe(distinct.delete(dropped));
        expect(blocks.size).toBe(distinct.size);
        const expected = [...distinct].filter((each) => each >= probe).toSorted((left, right) => left - right);
        expect([...blocks.from(probe)]).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('stays whole while it thins out and fills again', () => {
    const blocks = make(Array.from({ length: 5_000 }, (_, at) => at));
    for (let at = 0; at < 5_000; at += 1) if (at % 50 !== 0) blocks.remove(at);
    expect([...blocks.from(0)]).toEqual(Array.from({ length: 100 }, (_, at) => at * 50));
    for (let at = 4_999; at >= 0; at -= 1) if (at % 50 !== 0) blocks.insert(at);
    expect([...blocks.from(0)]).toEqual(Array.from({ length: 5_000 }, (_, at) => at));
  });

  it('is empty after a clear', () => {
    const blocks = make([1, 2]);
    blocks.clear();
    expect([blocks.size, ...blocks.from(0)]).toEqual([0]);
  });
});
