import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { MemoryGrid } from '../../grid/memory/memory-grid.ts';
import { SeededRandom } from '../../simulation/kernel/seeded-random.ts';
import { QuietTelemetry } from '../../simulation/world/quiet-telemetry.ts';
import { ControlRecord } from '../cache/control-record.ts';
import { Ledger } from '../cache/ledger.ts';
import { MemoryStorage } from '../cache/testing/memory-storage.ts';
import { RepriseError } from '../errors.ts';
import { NodeHash } from '../host/node-hash.ts';
import type { Grid, GridItem, GridRole } from '../ports/grid.ts';
import type { Storage } from '../ports/storage.ts';
import { Refusals, REFUSAL_INDEX_SHAPE, type RefusalLimits } from './refusals.ts';

const FOREVER = { deadlineAtMs: Number.MAX_SAFE_INTEGER };

/** A memory grid that counts the bytes written to its control map, and can be away. */
class WatchedGrid extends MemoryGrid {
  controlBytes = 0;
  isAway = false;

  override replaceIfSame(...args: Parameters<Grid['replaceIfSame']>): ReturnType<Grid['replaceIfSame']> {
    this.#note(args[0], args[2]);
    return super.replaceIfSame(...args);
  }

  override putIfAbsent(...args: Parameters<Grid['putIfAbsent']>): ReturnType<Grid['putIfAbsent']> {
    this.#note(args[0], args[1]);
    return super.putIfAbsent(...args);
  }

  override get(...args: Parameters<Grid['get']>): ReturnType<Grid['get']> {
    if (this.isAway) return Promise.reject(new RepriseError('grid_unavailable', 'away'));
    return super.get(...args);
  }

  #note(role: GridRole, item: GridItem): void {
    if (role === 'control') this.controlBytes += item.value.byteLength;
  }
}

function newGrid(): WatchedGrid {
  const bytesMax = 1 << 20;
  return new WatchedGrid(
    { clock: new ManualClock() },
    { roles: { entries: { bytesMax }, vectors: { bytesMax } }, policy: 'lru' },
  );
}

async function node(grid: Grid, seed = 'a', more: { storage?: Storage; limits?: RefusalLimits } = {}) {
  const ledger = new Ledger(
    { grid, clock: new ManualClock(), random: new SeededRandom(seed), telemetry: new QuietTelemetry() },
    { stalenessBoundMs: 2_000, unconfirmedMs: 60_000, confirmIntervalMs: 500, callTimeoutMs: 1_000 },
  );
  await ledger.confirm(FOREVER);
  const control = { grid, storage: more.storage, ledger };
  const index = new ControlRecord('refusals', control, REFUSAL_INDEX_SHAPE);
  await index.load(FOREVER);
  const refusals = new Refusals(index, { ...control, hash: new NodeHash() }, more.limits);
  const refused = async (tenant: string, key: string, stored: string, asked: string) =>
    (await refusals.follow(tenant, FOREVER)).has(key, stored, asked);
  const refuse = (tenant: string, storedKey: string, storedText: string, askedText: string) =>
    refusals.refuse(tenant, { storedKey, storedText, askedText }, FOREVER);
  return { ledger, refusals, refused, refuse };
}

describe('Refusals', () => {
  it('refuses a pair by its entry, and no other', async () => {
    const { refuse, refused } = await node(newGrid());
    expect(await refuse('t', 'k', '', 'asked')).toBe(true);
    expect(await refused('t', 'k', 'stored', 'asked')).toBe(true);
    expect(await refused('t', 'k', 'stored', 'other')).toBe(false);
    expect(await refused('t', 'k2', 'stored', 'asked')).toBe(false);
  });

  it('refuses a pair by its texts, whatever the entry', async () => {
    const { refuse, refused } = await node(newGrid());
    await refuse('t', '', 'stored', 'asked');
    expect(await refused('t', 'any', 'stored', 'asked')).toBe(true);
    expect(await refused('t', 'any', 'asked', 'stored')).toBe(false);
  });

  it('says nothing of another tenant', async () => {
    const { refuse, refused } = await node(newGrid());
    await refuse('t', 'k', 'stored', 'asked');
    expect(await refused('u', 'k', 'stored', 'asked')).toBe(false);
  });

  it('a tenant that has used up its share takes nothing from the others', async () => {
    const limits = { perTenantMax: 3, pairsMax: 100, tenantsMax: 10 };
    const { refuse, refused, refusals } = await node(newGrid(), 'a', { limits });
    const taken: boolean[] = [];
    for (let pair = 0; pair < 5; pair += 1) taken.push(await refuse('greedy', `k${pair}`, '', 'asked'));
    expect(taken).toEqual([true, true, true, false, false]);
    expect(await refused('greedy', 'k0', '', 'asked')).toBe(true);
    expect(await refuse('modest', 'k', '', 'asked')).toBe(true);
    expect(refusals.size).toBe(4);
  });

  it('all tenants together are bounded too', async () => {
    const { refuse } = await node(newGrid(), 'a', { limits: { perTenantMax: 10, pairsMax: 2, tenantsMax: 10 } });
    expect(await refuse('t', 'k', '', 'x')).toBe(true);
    expect(await refuse('u', 'k', '', 'x')).toBe(true);
    expect(await refuse('v', 'k', '', 'x')).toBe(false);
  });

  it('so many tenants may refuse, and each goes on', async () => {
    const { refuse } = await node(newGrid(), 'a', { limits: { perTenantMax: 10, pairsMax: 10, tenantsMax: 1 } });
    expect(await refuse('t', 'k', '', 'x')).toBe(true);
    expect(await refuse('u', 'k', '', 'x')).toBe(false);
    expect(await refuse('t', 'k2', '', 'x')).toBe(true);
  });

  it('the same pair twice takes one place', async () => {
    const { refuse, refusals } = await node(newGrid());
    await refuse('t', 'k', '', 'asked');
    await refuse('t', 'k', '', 'asked');
    expect(refusals.size).toBe(1);
  });

  it('a further pair writes a part of what is there, not all of it', async () => {
    const grid = newGrid();
    const { refuse } = await node(grid);
    for (let pair = 0; pair < 400; pair += 1) await refuse('t', `k${pair}`, '', 'asked');
    grid.controlBytes = 0;
    await refuse('t', 'last', '', 'asked');
    expect(grid.controlBytes).toBeLessThan((400 * 35) / 4);
  });

  it('other nodes obey once they hear of it', async () => {
    const grid = newGrid();
    const one = await node(grid, 'a');
    const two = await node(grid, 'b');
    expect(await two.refused('t', 'k', '', 'asked')).toBe(false);
    await one.refuse('t', 'k', '', 'asked');
    await two.ledger.confirm(FOREVER);
    expect(await two.refused('t', 'k', '', 'asked')).toBe(true);
  });

  it('two nodes that refuse in turns, not hearing of each other, lose nothing', async () => {
    const grid = newGrid();
    const one = await node(grid, 'a');
    const two = await node(grid, 'b');
    const pairs = Array.from({ length: 20 }, (_, at) => `k${at}`);
    for (const [at, key] of pairs.entries()) await (at % 2 === 0 ? one : two).refuse('t', key, '', 'asked');
    for (const each of [one, two]) {
      await each.ledger.confirm(FOREVER);
      for (const key of pairs) expect(await each.refused('t', key, '', 'asked')).toBe(true);
    }
  });

  it('survives the loss of the grid on disk, and seeds the new one', async () => {
    const storage = new MemoryStorage();
    const before = await node(newGrid(), 'a', { storage });
    await before.refuse('t', 'k', 'stored', 'asked');
    const grid = newGrid();
    const after = await node(grid, 'b', { storage });
    expect(await after.refused('t', 'k', '', 'asked')).toBe(true);
    const other = await node(grid, 'c');
    expect(await other.refused('t', 'other', 'stored', 'asked')).toBe(true);
  });

  it('survives the loss of the grid in memory, and other nodes hear of what was given back', async () => {
    const grid = newGrid();
    const one = await node(grid, 'a');
    await one.refuse('t', 'k', 'stored', 'asked');
    for (const role of ['control', 'ledger'] as const) {
      const { items } = await grid.scan(role, { limit: 100 }, FOREVER);
      for (const { key } of items) await grid.remove(role, key, FOREVER);
    }
    const other = await node(grid, 'b');
    expect(await other.refused('t', 'k', '', 'asked')).toBe(false);
    await one.ledger.confirm(FOREVER);
    await one.refusals.seed(FOREVER);
    await other.ledger.confirm(FOREVER);
    expect(await other.refused('t', 'k', '', 'asked')).toBe(true);
  });

  it('what the grid did not take holds on this node at once and is published later', async () => {
    const grid = newGrid();
    const storage = new MemoryStorage();
    const one = await node(grid, 'a', { storage });
    await one.refuse('t', 'k0', '', 'asked');
    grid.isAway = true;
    await expect(one.refuse('t', 'k', '', 'asked')).rejects.toThrow('away');
    grid.isAway = false;
    expect(await one.refused('t', 'k', '', 'asked')).toBe(true);
    const two = await node(grid, 'b');
    expect(await two.refused('t', 'k', '', 'asked')).toBe(true);
  });
});
