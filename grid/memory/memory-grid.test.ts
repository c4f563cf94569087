import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GridEvent, GridItem } from '../../runtime/ports/grid.ts';
import { runChild } from '../conformance/child-run.ts';
import { gridContract } from '../conformance/grid-contract.ts';
import { ManualClock } from '../conformance/manual-clock.ts';
import { EVENTS_WAITING_MAX } from './event-hub.ts';
import { MemoryGrid } from './memory-grid.ts';
import { GRID_ITEM_OVERHEAD_BYTES } from './memory-map.ts';

const FOREVER = { deadlineAtMs: Infinity };
const BYTES_MAX = 256 * 1024;

function makeGrid(bytesMax = BYTES_MAX): { grid: MemoryGrid; clock: ManualClock } {
  const clock = new ManualClock();
  const roles = { entries: { bytesMax }, vectors: { bytesMax } };
  return { clock, grid: new MemoryGrid({ clock }, { roles, policy: 'sieve' }) };
}

function small(key: string, more: Partial<GridItem> = {}): GridItem {
  return { key, value: new Uint8Array([1]), ...more };
}

gridContract(
  'MemoryGrid',
  () => {
    const { grid, clock } = makeGrid();
    return Promise.resolve({
      grid,
      monotonicMs: () => clock.monotonicMs(),
      advance: (ms: number) => clock.advanceAsync(ms),
      settle: () => clock.settle(),
      close: () => grid.close(),
    });
  },
  {
    ttlResolutionMs: 0,
    bound: { bytesMax: BYTES_MAX, bytes: (grid) => (grid as MemoryGrid).stats('entries').bytes },
  },
);

describe('MemoryGrid values', () => {
  it('keeps a copy, which no reader and no writer can change', async () => {
    const { grid } = makeGrid();
    const item = { key: 'a', value: Uint8Array.of(1, 2, 3) };
    await grid.set('entries', item, FOREVER);
    item.value.fill(0);
    (await grid.get('entries', 'a', FOREVER))?.value.fill(9);

    expect((await grid.get('entries', 'a', FOREVER))?.value).toEqual(Uint8Array.of(1, 2, 3));
  });

  it('copies a view of a larger buffer, which would outlive what is charged', async () => {
    const { grid } = makeGrid();
    const view = new Uint8Array(10_000).subarray(0, 3);
    await grid.set('entries', { key: 'a', value: view }, FOREVER);
    expect((await grid.get('entries', 'a', FOREVER))?.value.buffer.byteLength).toBe(3);
  });

  it('leaves what a reader holds as it was when the item is replaced', async () => {
    const { grid } = makeGrid();
    await grid.set('entries', small('a'), FOREVER);
    const held = await grid.get('entries', 'a', FOREVER);
    await grid.set('entries', { key: 'a', value: new Uint8Array([2]) }, FOREVER);
    expect(held?.value).toEqual(new Uint8Array([1]));
  });

  it('charges keys, values, attributes and overhead, and gives all of it back', async () => {
    const { grid } = makeGrid();
    await grid.set('vectors', small('ab', { attributes: { scope: 'cd', code: 1 } }), FOREVER);
    expect(grid.stats('vectors').bytes).toBeGreaterThan(GRID_ITEM_OVERHEAD_BYTES + 4 + 1 + 4);
    await grid.remove('vectors', 'ab', FOREVER);
    expect(grid.stats('vectors')).toEqual({ bytes: 0, items: 0, evictions: 0 });
  });

  it('drops an item whose time is up when it is set', async () => {
    const { grid } = makeGrid();
    await grid.set('entries', small('a'), FOREVER);
    await grid.set('entries', small('a', { ttlMs: 0 }), FOREVER);
    expect(await grid.get('entries', 'a', FOREVER)).toBeUndefined();
  });

  it('counts the eviction of an item that is larger than the bound', async () => {
    const { grid } = makeGrid();
    const events: GridEvent[] = [];
    grid.listen('entries', (event) => events.push(event));
    await grid.set('entries', { key: 'a', value: new Uint8Array(BYTES_MAX) }, FOREVER);
    expect(grid.stats('entries')).toEqual({ bytes: 0, items: 0, evictions: 1 });
    expect(events).toEqual([{ kind: 'evicted', key: 'a' }]);
  });
});

describe('MemoryGrid expiry', () => {
  it('hides an item from the millisecond of its time on, before any sweep', async () => {
    const { grid, clock } = makeGrid();
    await grid.set('entries', small('a', { ttlMs: 10 }), FOREVER);
    clock.advance(9);
    expect(await grid.get('entries', 'a', FOREVER)).toBeDefined();
    clock.advance(1);
    expect(grid.stats('entries').items).toBe(1);
    expect(await grid.get('entries', 'a', FOREVER)).toBeUndefined();
  });

  it('collects expired items that nobody asks for, and tells of them', async () => {
    const { grid, clock } = makeGrid();
    const events: GridEvent[] = [];
    grid.listen('entries', (event) => events.push(event));
    await grid.set('entries', small('a', { ttlMs: 5_000 }), FOREVER);
    await clock.advanceAsync(5_000);
    expect(grid.stats('entries').items).toBe(0);
    expect(events.map((event) => event.kind)).toEqual(['set', 'expired']);
  });

  it('collects a large number in several bounded sweeps', async () => {
    const { grid, clock } = makeGrid(64 * 1024 * 1024);
    const items = Array.from({ length: 5_000 }, (_, at) => small(`k${at}`, { ttlMs: 5_000 }));
    await grid.setAll('entries', items, FOREVER);
    clock.advance(5_000);
    expect(grid.stats('entries').items).toBeGreaterThan(0);
    clock.advance(1_000);
    expect(grid.stats('entries').items).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('has one timer a role, however many items wait, and none after the close', async () => {
    const { grid, clock } = makeGrid();
    for (let at = 0; at < 20; at += 1)
      await grid.set('entries', small(`k${at}`, { ttlMs: 1_000_000 - at * 10_000 }), FOREVER);
    expect(clock.pendingTimers).toBe(1);
    await grid.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('collects items in any order of their times, whatever is removed or replaced in between', async () => {
    const times = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 60 })), {
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(times, async (writes) => {
        const { grid, clock } = makeGrid();
        const expiresAtMs = new Map<string, number>();
        for (const [which, ttlS] of writes) {
          const key = String(which);
          if (ttlS > 50) await grid.remove('entries', key, FOREVER);
          else await grid.set('entries', small(key, { ttlMs: ttlS * 1_000 }), FOREVER);
          if (ttlS > 50) expiresAtMs.delete(key);
          else expiresAtMs.set(key, clock.monotonicMs() + ttlS * 1_000);
          clock.advance(700);
          const alive = [...expiresAtMs.values()].filter((atMs) => atMs > clock.monotonicMs());
          expect(await grid.size('entries', FOREVER)).toBe(alive.length);
        }
      }),
    );
  });
});

describe('MemoryGrid events', () => {
  it('are told in order to every listener, even when one writes to the map', async () => {
    const { grid, clock } = makeGrid();
    const seen: string[] = [];
    grid.listen('control', (event) => {
      if (event.kind === 'set' && event.key === 'a') void grid.remove('control', 'a', FOREVER);
    });
    grid.listen('control', (event) => seen.push(event.kind));
    await grid.set('control', small('a'), FOREVER);
    await clock.settle();
    expect(seen).toEqual(['set', 'removed']);
  });

  it('turn into one that says that some are lost when too many wait', async () => {
    const { grid, clock } = makeGrid();
    const kinds = new Set<string>();
    grid.listen('control', (event) => kinds.add(event.kind));
    const item = small('a');
    await grid.setAll(
      'control',
      Array.from({ length: EVENTS_WAITING_MAX + 1 }, () => item),
      FOREVER,
    );
    await clock.settle();
    expect([...kinds]).toEqual(['lost']);
  });
});

describe('MemoryGrid of 128 MiB', { timeout: 120_000 }, () => {
  it('holds its bound at every moment of 200,000 entries of 2 KB, and what it keeps within 1.5 times the bound', async () => {
    const measured = await runChild(`
      import { MemoryGrid } from ${JSON.stringify(new URL('memory-grid.ts', import.meta.url).href)};
      const bytesMax = 128 * 1024 * 1024;
      const clock = { monotonicMs: () => performance.now(), setTimer: () => ({ cancel() {} }) };
      const roles = { entries: { bytesMax }, vectors: { bytesMax } };
      const grid = new MemoryGrid({ clock }, { roles, policy: 'sieve' });
      gc();
      const before = process.memoryUsage().rss;
      let bytesPeak = 0;
      let rssPeak = 0;
      for (let at = 0; at < 200_000; at += 1) {
        const item = { key: at.toString(16).padStart(64, '0'), value: new Uint8Array(2048).fill(at), ttlMs: 86_400_000 };
        await grid.set('entries', item, { deadlineAtMs: Infinity });
        bytesPeak = Math.max(bytesPeak, grid.stats('entries').bytes);
        if (at % 5_000 === 0) {
          gc();
          rssPeak = Math.max(rssPeak, process.memoryUsage().rss);
        }
      }
      const growth = rssPeak - before;
      console.log(JSON.stringify({ bytesMax, bytesPeak, growth, ...grid.stats('entries') }));
    `);
    const { bytesMax, bytesPeak, growth, items, evictions } = measured as Record<string, number>;
    expect(bytesPeak).toBeLessThanOrEqual(bytesMax as number);
    expect((items as number) + (evictions as number)).toBe(200_000);
    expect((growth as number) / (bytesMax as number)).toBeLessThanOrEqual(1.5);
  });
});
