import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Expiring, ExpiryHeap } from './expiry-heap.ts';

describe('ExpiryHeap', () => {
  it('gives its members up by their time after any insertions and removals', () => {
    const times = fc.array(fc.integer({ min: 0, max: 1_000 }), { maxLength: 200, size: 'max' });
    fc.assert(
      fc.property(times, fc.array(fc.nat(), { maxLength: 100, size: 'max' }), (expiries, drops) => {
        const heap = new ExpiryHeap<Expiring>();
        const members = expiries.map((expiresAtMs) => ({ expiresAtMs, heapIndex: -1 }));
        for (const member of members) heap.insert(member);
        for (const drop of drops) {
          if (members.length === 0) break;
          const [dropped] = members.splice(drop % members.length, 1);
          heap.remove(dropped as Expiring);
        }
        const given: number[] = [];
        for (let next = heap.earliest; next !== undefined; next = heap.earliest) {
          given.push(next.expiresAtMs);
          heap.remove(next);
        }
        expect(given).toEqual(members.map((member) => member.expiresAtMs).toSorted((left, right) => left - right));
      }),
    );
  });

  it('refuses to remove a member twice', () => {
    const heap = new ExpiryHeap<Expiring>();
    const member = { expiresAtMs: 1, heapIndex: -1 };
    heap.insert(member);
    heap.remove(member);
    expect(() => heap.remove(member)).toThrow('Reprise bug');
  });
});
