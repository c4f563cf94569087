import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { MemoryGrid } from '../../grid/memory/memory-grid.ts';
import { SeededRandom } from '../../simulation/kernel/seeded-random.ts';
import { QuietTelemetry } from '../../simulation/world/quiet-telemetry.ts';
import { RepriseError } from '../errors.ts';
import type { Grid } from '../ports/grid.ts';
import type { Storage } from '../ports/storage.ts';
import { ControlRecord, type ControlShape } from './control-record.ts';
import { Ledger } from './ledger.ts';
import { MemoryStorage } from './testing/memory-storage.ts';

const FOREVER = { deadlineAtMs: Number.MAX_SAFE_INTEGER };
const UNION: ControlShape<readonly string[]> = {
  empty: [],
  parse: (value) => (Array.isArray(value) ? (value as string[]) : undefined),
  merge: (a, b) => [...new Set([...a, ...b])],
};

function newGrid(clock: ManualClock): MemoryGrid {
  const bytesMax = 1 << 20;
  return new MemoryGrid({ clock }, { roles: { entries: { bytesMax }, vectors: { bytesMax } }, policy: 'lru' });
}

async function node(clock: ManualClock, grid: Grid, seed: string, storage?: Storage) {
  const ledger = new Ledger(
    { grid, clock, random: new SeededRandom(seed), telemetry: new QuietTelemetry() },
    { stalenessBoundMs: 2_000, unconfirmedMs: 60_000, confirmIntervalMs: 500, callTimeoutMs: 1_000 },
  );
  await ledger.confirm(FOREVER);
  const record = new ControlRecord('pairs', { grid, storage, ledger }, UNION);
  await record.load(FOREVER);
  return { ledger, record };
}

const add = (name: string) => (value: readonly string[]) => [...value, name];

describe('ControlRecord', () => {
  it('loses no change that another node makes, or a look-up follows, at the same time', async () => {
    const clock = new ManualClock();
    const grid = newGrid(clock);
    const a = await node(clock, grid, 'a');
    const b = await node(clock, grid, 'b');
    for (const name of ['b1', 'b2', 'b3']) await b.record.update(add(name), FOREVER);
    await a.ledger.confirm(FOREVER);

    await Promise.all([
      a.record.update(add('a1'), FOREVER),
      a.record.follow(FOREVER),
      b.record.update(add('b4'), FOREVER),
    ]);
    await Promise.all([a.record.sync(FOREVER), b.record.sync(FOREVER)]);

    const all = ['a1', 'b1', 'b2', 'b3', 'b4'];
    expect([...a.record.value].sort()).toEqual(all);
    expect([...b.record.value].sort()).toEqual(all);
  });

  it('merges histories that meet at different versions after a loss of the grid', async () => {
    const clock = new ManualClock();
    const [disk, first] = [new MemoryStorage(), newGrid(clock)];
    const a = await node(clock, first, 'a', disk);
    await a.record.update(add('shared'), FOREVER);
    const b = await node(clock, first, 'b');
    await a.record.update(add('a2'), FOREVER);
    await a.record.update(add('a3'), FOREVER);
    for (const role of ['control', 'ledger'] as const) {
      for (const { key } of (await first.scan(role, { limit: 100 }, FOREVER)).items)
        await first.remove(role, key, FOREVER);
    }
    await b.ledger.confirm(FOREVER);
    await b.record.update(add('b2'), FOREVER);
    const returned = await node(clock, first, 'c', disk);
    await b.record.sync(FOREVER);
    for (const { record } of [returned, b]) expect([...record.value].sort()).toEqual(['a2', 'a3', 'b2', 'shared']);
  });

  it('publishes later what the grid did not take, also after a restart', async () => {
    const clock = new ManualClock();
    const grid = newGrid(clock);
    const storage = new MemoryStorage();
    const a = await node(clock, grid, 'a', storage);
    const b = await node(clock, grid, 'b');
    for (const name of ['b1', 'b2', 'b3']) await b.record.update(add(name), FOREVER);
    const put = grid.replaceIfSame.bind(grid);
    grid.replaceIfSame = () => Promise.reject(new RepriseError('grid_unavailable', 'away'));
    await expect(a.record.update(add('a1'), FOREVER)).rejects.toMatchObject({ code: 'grid_unavailable' });
    grid.replaceIfSame = put;

    const restarted = await node(clock, grid, 'again', storage);
    await b.record.sync(FOREVER);

    expect(restarted.record.value).toContain('a1');
    expect([...b.record.value].sort()).toEqual(['a1', 'b1', 'b2', 'b3']);
  });

  it('keeps a change that the disk refused, and publishes it later', async () => {
    const clock = new ManualClock();
    const grid = newGrid(clock);
    const storage = new MemoryStorage();
    const { record } = await node(clock, grid, 'a', storage);
    await record.update(add('first'), FOREVER);
    const write = storage.write.bind(storage);
    storage.write = () => Promise.reject(new Error('disk full'));
    await expect(record.update(add('second'), FOREVER)).rejects.toThrow('disk full');
    storage.write = write;

    await record.load(FOREVER);
    const other = await node(clock, grid, 'b');

    expect(record.value).toEqual(['first', 'second']);
    expect(other.record.value).toEqual(['first', 'second']);
  });

  it('seeds an empty grid from disk, and takes the higher version from a full one', async () => {
    const clock = new ManualClock();
    const storage = new MemoryStorage();
    const first = await node(clock, newGrid(clock), 'a', storage);
    await first.record.update(add('kept'), FOREVER);

    const empty = newGrid(clock);
    const second = await node(clock, empty, 'b', storage);
    const third = await node(clock, empty, 'c');

    expect(second.record.value).toEqual(['kept']);
    expect(third.record.value).toEqual(['kept']);
  });
});
