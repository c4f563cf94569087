import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIRST_SLOT } from './slot-rings.ts';
import { SlotTable } from './slot-table.ts';

const key = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.constantFrom('a', 'b', 'c', '', '1'),
  fc.constantFrom(2 ** 32, 2 ** 40 + 1, -1, 0.5),
);

describe('SlotTable', () => {
  it('finds what was added and not dropped, each key at a slot of its own, and a clone does the same', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.boolean()), { maxLength: 400, size: 'max' }), (steps) => {
        const table = new SlotTable<string | number>();
        const model = new Map<string | number, number>();
        for (const [asked, isDrop] of steps) {
          const slot = table.find(asked);
          expect(slot).toBe(model.get(asked) ?? -1);
          if (slot === -1) model.set(asked, table.add(asked));
          else if (isDrop) {
            table.drop(slot);
            model.delete(asked);
          }
          expect(new Set(model.values()).size).toBe(table.size);
        }
        for (const copy of [table, table.clone()])
          for (const [held, slot] of model) {
            expect(slot).toBeGreaterThanOrEqual(FIRST_SLOT);
            expect(copy.find(held)).toBe(slot);
            expect(copy.keys[slot]).toBe(held);
          }
      }),
    );
  });

  it('gives out the slots of dropped keys again', () => {
    const table = new SlotTable<number>();
    for (let at = 0; at < 10_000; at += 1) {
      table.add(at);
      if (at >= 100) table.drop(table.find(at - 100));
    }
    expect(table.keys.length).toBeLessThanOrEqual(FIRST_SLOT + 101);
  });
});
