import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TraceSource } from '../workload/trace.ts';
import { REPLAY_NAMES, replay } from './replay.ts';

function trace(keys: readonly number[], sizes?: readonly number[]): TraceSource {
  return {
    name: 'made',
    async *batches() {
      await Promise.resolve();
      for (let from = 0; from < keys.length; from += 7) {
        const part = Uint32Array.from(keys.slice(from, from + 7));
        const column = sizes === undefined ? {} : { sizes: Float64Array.from(sizes.slice(from, from + 7)) };
        yield { count: part.length, keys: part, ...column };
      }
    },
  };
}

const keys = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 120, size: 'max' });

/** The most hits that any choice of residents gives, by trying all of them. */
function mostHits(asked: readonly number[], entries: number): number {
  let states = new Map<string, number>([['', 0]]);
  for (const key of asked) {
    const after = new Map<string, number>();
    const keep = (held: readonly number[], hits: number): void => {
      const name = held.toSorted((left, right) => left - right).join();
      after.set(name, Math.max(after.get(name) ?? 0, hits));
    };
    for (const [name, hits] of states) {
      const held = name === '' ? [] : name.split(',').map(Number);
      if (held.includes(key)) {
        keep(held, hits + 1);
        continue;
      }
      keep(held, hits);
      if (held.length < entries) keep([...held, key], hits);
      else for (const gone of held) keep([...held.filter((other) => other !== gone), key], hits);
    }
    states = after;
  }
  return Math.max(...states.values());
}

describe('replay', () => {
  it('counts the same in one reading as alone', async () => {
    await fc.assert(
      fc.asyncProperty(keys, async (asked) => {
        const runs = REPLAY_NAMES.map((policy) => ({ policy, size: 3, unit: 'entries' as const }));
        const together = await replay(trace(asked), runs);
        for (const [at, run] of runs.entries()) expect(await replay(trace(asked), [run])).toEqual([together[at]]);
      }),
      { numRuns: 20 },
    );
  });

  it('gives hits, missed bytes and windows that add up', async () => {
    const source = trace([1, 2, 1, 3, 1, 2], [10, 20, 10, 30, 10, 20]);
    const [row] = await replay(source, [{ policy: 'lru', size: 30, unit: 'bytes' }], { windowRequests: 4 });
    expect(row).toMatchObject({ trace: 'made', requests: 6, hits: 1, missBytes: 90, windows: [0.75, 1] });
  });

  it('names the policies there are when it is asked for another', async () => {
    const asked = replay(trace([1]), [{ policy: 'mru', size: 1, unit: 'entries' }]);
    await expect(asked).rejects.toThrow(/mru is no policy; there are fifo, lru, .*belady-size/);
  });
});

describe('the clairvoyant bounds', () => {
  it('has as many hits as the best choice of all, with equal sizes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 14 }),
        fc.integer({ min: 1, max: 3 }),
        async (asked, size) => {
          const [row] = await replay(trace(asked), [{ policy: 'belady', size, unit: 'entries' }]);
          expect(row?.hits).toBe(mostHits(asked, size));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('are passed by no policy: belady with equal sizes, belady-size with any', async () => {
    const sized = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 10, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(keys, sized, fc.integer({ min: 1, max: 20 }), async (asked, sizeOf, size) => {
        const sizes = asked.map((key) => sizeOf[key] as number);
        const runs = (unit: 'entries' | 'bytes') => REPLAY_NAMES.map((policy) => ({ policy, size, unit }));
        const equal = await replay(trace(asked), runs('entries'));
        const best = equal.find(({ policy }) => policy === 'belady');
        for (const row of equal.filter(({ policy }) => policy !== 'belady-size'))
          expect(row.hits).toBeLessThanOrEqual(best?.hits ?? 0);
        const bySize = await replay(trace(asked, sizes), runs('bytes'));
        const bound = bySize.find(({ policy }) => policy === 'belady-size');
        for (const row of bySize) expect(row.hits).toBeLessThanOrEqual(bound?.hits ?? 0);
      }),
      { numRuns: 60 },
    );
  });
});
