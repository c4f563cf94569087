import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entryName, modelName, namespaceName, tagName, tenantName } from './ledger-names.ts';
import type { LedgerNames } from './ledger-names.ts';
import { MarkTable } from './ledger-marks.ts';

const letter = fc.constantFrom('a', 'b', 'c');
const names: fc.Arbitrary<LedgerNames> = fc.record({
  tenant: letter,
  namespace: letter,
  tags: fc.array(letter, { maxLength: 2 }),
  model: letter,
  key: letter,
});
const name = fc.oneof(
  letter.map(tenantName),
  fc.tuple(letter, letter).map(([tenant, namespace]) => namespaceName(tenant, namespace)),
  fc.tuple(letter, letter).map(([tenant, tag]) => tagName(tenant, tag)),
  letter.map(modelName),
  letter.map(entryName),
  fc.constant('control/aliases'),
);
const raises = fc.array(fc.record({ name, kind: fc.constantFrom('hard' as const, 'soft' as const) }), {
  maxLength: 40,
});

function namesOf(entry: LedgerNames): string[] {
  return [
    tenantName(entry.tenant),
    namespaceName(entry.tenant, entry.namespace),
    ...entry.tags.map((tag) => tagName(entry.tenant, tag)),
    modelName(entry.model),
    entryName(entry.key),
  ];
}

describe('MarkTable', () => {
  it('judges an entry by exactly its own names', () => {
    fc.assert(
      fc.property(raises, names, fc.nat(40), (steps, entry, sequence) => {
        const table = new MarkTable(1_000);
        for (const [index, step] of steps.entries()) table.raise(step.name, step.kind, index + 1);

        const own = new Set(namesOf(entry));
        const hits = steps.map((step, index) => ({ ...step, at: index + 1 })).filter((step) => own.has(step.name));
        const after = hits.filter((step) => step.at > sequence);
        const expected = after.some((step) => step.kind === 'hard') ? 'hard' : after.length > 0 ? 'soft' : 'none';
        expect(table.markedAfter(entry, sequence)).toBe(expected);
        expect(table.lastOf(entry)).toBe(Math.max(0, ...hits.map((step) => step.at)));
        expect(table.last).toBe(steps.length);
        expect(table.size).toBe(new Set(steps.map((step) => step.name)).size);
      }),
    );
  });

  it('never holds more names than its bound, and lets no marked entry pass', () => {
    fc.assert(
      fc.property(raises, names, fc.nat(40), fc.integer({ min: 1, max: 8 }), (steps, entry, sequence, marksMax) => {
        const table = new MarkTable(marksMax);
        const whole = new MarkTable(1_000);
        for (const [index, step] of steps.entries()) {
          table.raise(step.name, step.kind, index + 1);
          whole.raise(step.name, step.kind, index + 1);
          expect(table.size).toBeLessThanOrEqual(marksMax);
        }
        expect(table.floor).toBeLessThanOrEqual(steps.length);
        expect(table.lastOf(entry)).toBeGreaterThanOrEqual(whole.lastOf(entry));
        if (sequence >= table.floor) {
          expect(table.markedAfter(entry, sequence)).toBe(whole.markedAfter(entry, sequence));
        }
      }),
    );
  });

  it('never lowers a mark', () => {
    const table = new MarkTable(10);
    table.raise(modelName('a'), 'hard', 7);
    table.raise(modelName('a'), 'hard', 3);
    expect(table.markedAfter({ tenant: '', namespace: '', tags: [], model: 'a', key: '' }, 6)).toBe('hard');
  });

  it('counts again a name that was forgotten and marked anew', () => {
    const table = new MarkTable(10);
    table.raise(tenantName('a'), 'hard', 1);
    table.raise(tagName('a', 't'), 'soft', 2);
    table.raiseFloor(1);
    expect(table.size).toBe(1);
    table.raise(tenantName('a'), 'soft', 3);
    expect(table.size).toBe(2);
  });
});
