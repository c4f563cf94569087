import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runChild } from '../conformance/child-run.ts';
import { NEAR_CACHE_ITEM_OVERHEAD_BYTES, NearCache, type Reservation } from './near-cache.ts';

const POLICIES = ['lru', 'sieve'] as const;

/** Room for this many items with keys of one character and no value. */
function boundFor(items: number): number {
  return items * (NEAR_CACHE_ITEM_OVERHEAD_BYTES + 2);
}

function put<V>(cache: NearCache<V>, key: string, value: V, bytes = 0): boolean {
  return cache.publish(cache.reserve(key), value, bytes);
}

describe('NearCache values', () => {
  it('gives what was published', () => {
    const cache = new NearCache<string>({ bytesMax: boundFor(4), policy: 'sieve' });
    expect(put(cache, 'a', 'one')).toBe(true);
    expect(cache.get('a')).toBe('one');
  });

  it('replaces a value, and charges the new size', () => {
    const cache = new NearCache<string>({ bytesMax: boundFor(4), policy: 'sieve' });
    put(cache, 'a', 'one', 100);
    put(cache, 'a', 'two', 7);
    expect(cache.get('a')).toBe('two');
    expect(cache.bytes).toBe(NEAR_CACHE_ITEM_OVERHEAD_BYTES + 2 + 7);
  });

  it('refuses a value that the bound has no room for, and drops the one that it would have replaced', () => {
    const cache = new NearCache<string>({ bytesMax: boundFor(1), policy: 'sieve' });
    put(cache, 'a', 'one');
    expect(put(cache, 'a', 'two', 1)).toBe(false);
    expect(cache.get('a')).toBeUndefined();
    expect(cache.bytes).toBe(0);
  });

  it('charges items without bytes too, so that they are bounded', () => {
    const cache = new NearCache<number>({ bytesMax: boundFor(3), policy: 'lru' });
    for (let at = 0; at < 10; at += 1) put(cache, String(at), at);
    expect(cache.size).toBe(3);
    expect(cache.evictions).toBe(7);
  });

  it('tells of evictions when they are done, so that the listener may call the cache', () => {
    const seen: string[] = [];
    const cache: NearCache<number> = new NearCache<number>({
      bytesMax: boundFor(2),
      policy: 'lru',
      onEvict: (key) => {
        seen.push(`${key}:${cache.size}:${String(cache.get(key))}`);
        cache.invalidate('c');
      },
    });
    put(cache, 'a', 1);
    put(cache, 'b', 2);
    put(cache, 'c', 3);
    expect(seen).toEqual(['a:2:undefined']);
    expect(cache.get('c')).toBeUndefined();
  });

  it('is empty after a clear, and usable', () => {
    const cache = new NearCache<number>({ bytesMax: boundFor(2), policy: 'sieve' });
    put(cache, 'a', 1);
    cache.clear();
    expect([cache.size, cache.bytes, cache.get('a')]).toEqual([0, 0, undefined]);
    expect(put(cache, 'a', 2)).toBe(true);
  });
});

describe('NearCache reservations', () => {
  it.each(['invalidate', 'clear', 'publish'] as const)('refuse to publish after a %s of the key', (change) => {
    const cache = new NearCache<string>({ bytesMax: boundFor(4), policy: 'sieve' });
    const slow = cache.reserve('a');
    if (change === 'invalidate') cache.invalidate('a');
    else if (change === 'clear') cache.clear();
    else put(cache, 'a', 'newer');
    expect(cache.publish(slow, 'older', 0)).toBe(false);
    expect(cache.get('a')).toBe(change === 'publish' ? 'newer' : undefined);
  });

  it('publish in spite of a change of another key', () => {
    const cache = new NearCache<string>({ bytesMax: boundFor(4), policy: 'sieve' });
    const reservation = cache.reserve('a');
    cache.invalidate('b');
    expect(cache.publish(reservation, 'one', 0)).toBe(true);
  });

  it('publish once', () => {
    const cache = new NearCache<string>({ bytesMax: boundFor(4), policy: 'sieve' });
    const reservation = cache.reserve('a');
    cache.publish(reservation, 'one', 0);
    expect(cache.publish(reservation, 'two', 0)).toBe(false);
    expect(cache.get('a')).toBe('one');
  });

  it('end with a release, any number of times', () => {
    const cache = new NearCache<string>({ bytesMax: boundFor(4), policy: 'sieve' });
    const reservation = cache.reserve('a');
    cache.release(reservation);
    cache.release(reservation);
    expect(cache.reservations).toBe(0);
    expect(cache.publish(reservation, 'one', 0)).toBe(false);
  });

  it('lapse in their order past the bound, so that forgotten ones never add up', () => {
    const cache = new NearCache<string>({ bytesMax: boundFor(4), policy: 'sieve', reservationsMax: 2 });
    const forgotten = [cache.reserve('a'), cache.reserve('b')];
    const last = cache.reserve('c');
    expect(cache.reservations).toBe(2);
    expect(cache.publish(forgotten[0] as Reservation, 'one', 0)).toBe(false);
    expect(cache.publish(last, 'three', 0)).toBe(true);
    expect(cache.reservations).toBe(1);
  });
});

type Step =
  | { readonly act: 'reserve'; readonly key: string }
  | { readonly act: 'publish' | 'release'; readonly pick: number; readonly bytes: number }
  | { readonly act: 'get' | 'invalidate'; readonly key: string }
  | { readonly act: 'clear' };

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'];
const key = fc.constantFrom(...KEYS);
const BOUND = boundFor(4);
const bytes = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(0, BOUND, 2 * BOUND));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ act: fc.constant('reserve' as const), key }) },
  {
    weight: 6,
    arbitrary: fc.record({ act: fc.constantFrom('publish' as const, 'release' as const), pick: fc.nat(7), bytes }),
  },
  { weight: 6, arbitrary: fc.record({ act: fc.constantFrom('get' as const, 'invalidate' as const), key }) },
  { weight: 1, arbitrary: fc.constant({ act: 'clear' as const }) },
);

/** What a near cache may know: values by key, a change count by key, and the reservations with the count they began at. */
class NaiveModel {
  readonly values = new Map<string, number>();
  readonly changes = new Map<string, number>();
  readonly open: { key: string; change: number; reservation: Reservation }[] = [];
  #value = 0;

  changed(owned: string): void {
    this.changes.set(owned, this.change(owned) + 1);
  }

  change(owned: string): number {
    return this.changes.get(owned) ?? 0;
  }

  run(next: Step, cache: NearCache<number>): void {
    if ('pick' in next) {
      this.#end(next, cache);
    } else if (next.act === 'reserve') {
      this.open.push({ key: next.key, change: this.change(next.key), reservation: cache.reserve(next.key) });
    } else if (next.act === 'clear') {
      cache.clear();
      this.values.clear();
      for (const owned of KEYS) this.changed(owned);
    } else if (next.act === 'invalidate') {
      cache.invalidate(next.key);
      this.values.delete(next.key);
      this.changed(next.key);
    } else {
      const found = cache.get(next.key);
      if (found !== undefined) expect(found).toBe(this.values.get(next.key));
    }
  }

  #end(next: { act: 'publish' | 'release'; pick: number; bytes: number }, cache: NearCache<number>): void {
    if (this.open.length === 0) return;
    const [load] = this.open.splice(next.pick % this.open.length, 1);
    if (load === undefined) return;
    if (next.act === 'release') {
      cache.release(load.reservation);
      return;
    }
    this.#value += 1;
    const isCurrent = load.change === this.change(load.key);
    const fits = next.bytes + NEAR_CACHE_ITEM_OVERHEAD_BYTES + 2 <= BOUND;
    expect(cache.publish(load.reservation, this.#value, next.bytes)).toBe(isCurrent && fits);
    if (!isCurrent) return;
    this.changed(load.key);
    if (fits) this.values.set(load.key, this.#value);
    else this.values.delete(load.key);
  }
}

describe.each(POLICIES)('NearCache with %s', (policy) => {
  it('agrees with a naive model and stays within its bound after any sequence', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150, size: 'max' }), (steps) => {
        const model = new NaiveModel();
        const cache: NearCache<number> = new NearCache<number>({
          bytesMax: BOUND,
          policy,
          onEvict: (evicted) => model.values.delete(evicted),
        });
        for (const next of steps) {
          model.run(next, cache);
          expect(cache.bytes).toBeLessThanOrEqual(BOUND);
          expect(cache.size).toBe(model.values.size);
        }
        for (const [owned, value] of model.values) expect(cache.get(owned)).toBe(value);
        for (const load of model.open) cache.release(load.reservation);
        expect(cache.reservations).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  it('never serves a value from before an invalidation under any interleaving of loads', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 4 }), async (scheduler, loads) => {
        const cache = new NearCache<number>({ bytesMax: boundFor(2), policy });
        let truth = 0;
        const read = scheduler.scheduleFunction(() => Promise.resolve(truth));
        const answer = scheduler.scheduleFunction((value: number) => Promise.resolve(value));
        const load = async (): Promise<void> => {
          const reservation = cache.reserve('a');
          cache.publish(reservation, await answer(await read()), 0);
        };
        const change = scheduler.scheduleFunction(() => {
          truth += 1;
          cache.invalidate('a');
          return Promise.resolve();
        });
        const all = Promise.all([...Array.from({ length: loads }, load), change(), change()]);
        while (scheduler.count() > 0) {
          await scheduler.waitOne();
          expect([undefined, truth]).toContain(cache.get('a'));
        }
        await all;
        expect(cache.reservations).toBe(0);
      }),
    );
  });
});

describe('NearCache of 128 MiB', { timeout: 120_000 }, () => {
  it('holds its bound at every moment of 200,000 entries of 2 KB, and its memory within 1.5 times the bound', async () => {
    const measured = await runChild(`
      import { NearCache } from ${JSON.stringify(new URL('near-cache.ts', import.meta.url).href)};
      const bytesMax = 128 * 1024 * 1024;
      const cache = new NearCache({ bytesMax, policy: 'sieve' });
      gc();
      const before = process.memoryUsage().rss;
      let bytesPeak = 0;
      for (let at = 0; at < 200_000; at += 1) {
        const key = at.toString(16).padStart(64, '0');
        cache.publish(cache.reserve(key), new Uint8Array(2048).fill(at), 2048);
        bytesPeak = Math.max(bytesPeak, cache.bytes);
        if (at % 5_000 === 0) gc();
        if (at % 50 === 0) await undefined;
      }
      gc();
      const growth = process.memoryUsage().rss - before;
      console.log(JSON.stringify({ bytesMax, bytesPeak, growth, size: cache.size, evictions: cache.evictions }));
    `);
    const { bytesMax, bytesPeak, growth, size, evictions } = measured as Record<string, number>;
    expect(bytesPeak).toBeLessThanOrEqual(bytesMax as number);
    expect((size as number) + (evictions as number)).toBe(200_000);
    expect((growth as number) / (bytesMax as number)).toBeLessThanOrEqual(1.5);
  });
});
