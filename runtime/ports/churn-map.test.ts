import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChurnMap } from './churn-map.ts';

describe('ChurnMap', () => {
  it('holds what a Map holds, whatever comes and goes', () => {
    const step = fc.record({ act: fc.constantFrom('set', 'delete'), key: fc.nat({ max: 20 }), value: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 200, maxLength: 2_000 }), (steps) => {
        const ours = new ChurnMap<number, number>();
        const model = new Map<number, number>();
        for (const { act, key, value } of steps) {
          if (act === 'delete') expect(ours.delete(key)).toBe(model.delete(key));
          else {
            ours.set(key, value);
            model.set(key, value);
          }
          expect([ours.size, ours.get(key), ours.has(key)]).toEqual([model.size, model.get(key), model.has(key)]);
        }
        expect(ours.snapshot()).toEqual([...model.values()]);
      }),
      { numRuns: 30 },
    );
  });

  it('lets go of what passed through it without a full collection', { timeout: 60_000 }, () => {
    const heldMb = (map: string): number =>
      Number(execFileSync(process.execPath, ['--import', 'tsx', '-e', churn(map)]));
    const plain = heldMb('new Map()');
    const ours = heldMb('new ChurnMap()');
    expect(ours).toBeLessThan(plain / 4);
  });
});

/** A program that says how much the heap grew, MB, while 50 entries at a time came and went; a full collection is far off. */
function churn(map: string): string {
  return `
    import { ChurnMap } from ${JSON.stringify(new URL('churn-map.ts', import.meta.url).href)};
    import { setFlagsFromString } from 'node:v8';
    setFlagsFromString('--initial-old-space-size=400');
    const map = ${map};
    let junk;
    for (let round = 0; round < 4; round += 1) {
      for (let at = 0; at < 10; at += 1) map.set('stays' + round + at, 1);
      for (let at = 0; at < 600_000; at += 1) junk = new Array(10).fill(at);
    }
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < 100_000; at += 1) {
      map.set(at, new Array(20).fill(at));
      if (at >= 50) map.delete(at - 50);
      if (at % 50 === 0 && at > 50) for (let gone = at - 49; gone <= at; gone += 1) map.delete(gone);
    }
    console.log((process.memoryUsage().heapUsed - before) / 1e6, junk.length > 0 ? '' : '');
  `;
}
