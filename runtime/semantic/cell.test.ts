import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { MemoryGrid } from '../../grid/memory/memory-grid.ts';
import { RepriseError } from '../errors.ts';
import type { Grid } from '../ports/grid.ts';
import { Cell } from './cell.ts';
import type { CellOptions, CellReply } from './cell.ts';
import { extractFeatures } from './features.ts';
import { CountingTelemetry } from './testing/doubles.ts';
import { encodeVectorRecord } from './vector-record.ts';

const SCOPE = 'scope-1';
const ASKED = Float32Array.of(1, 0);

function setUp(options: Partial<CellOptions> = {}) {
  const clock = new ManualClock();
  const telemetry = new CountingTelemetry();
  const bytes = { bytesMax: 10_000_000 };
  const grid = new MemoryGrid({ clock }, { roles: { entries: bytes, vectors: bytes }, policy: 'lru' });
  const held = { vectors: 0 };
  const slow = new HeldQueries(grid);
  const cell = new Cell(
    { grid: slow.grid, clock, telemetry, onVectors: (change) => void (held.vectors += change) },
    {
      scope: SCOPE,
      range: { from: 0, to: 15 },
      embedderId: 'e1',
      dimensions: 2,
      vectorsMax: 100,
      pageItems: 2,
      journalMax: 3,
      rebuildTimeoutMs: 5_000,
      retryMs: 1_000,
      ...options,
    },
  );
  const turn = () => ({ deadlineAtMs: clock.monotonicMs() + 50, passivateAfter: () => undefined });
  const search = async (): Promise<Extract<CellReply, { kind: 'matches' }>> => {
    const reply = await cell.receive({ kind: 'search', vector: ASKED, k: 20, floor: -1 }, turn());
    if (reply.kind !== 'matches') throw new Error('a search is answered with matches');
    return reply;
  };
  const tell = (record: Uint8Array) => cell.receive({ kind: 'add', record }, turn());
  const forget = (key: string) => cell.receive({ kind: 'forget', key }, turn());
  const store = (key: string, changes: Partial<Parameters<typeof recordOf>[1]> = {}) => {
    const value = recordOf(key, changes);
    const item = { key, value, attributes: { scope: changes.scope ?? SCOPE, code: 3 } };
    return grid.set('vectors', item, { deadlineAtMs: clock.monotonicMs() + 50 });
  };
  return { clock, telemetry, grid, slow, held, cell, search, tell, forget, store };
}

function recordOf(
  key: string,
  changes: { scope?: string; embedderId?: string; expiresAtMs?: number } = {},
): Uint8Array {
  return encodeVectorRecord({
    scope: SCOPE,
    embedderId: 'e1',
    expiresAtMs: Infinity,
    ...changes,
    key,
    text: `text of ${key}`,
    features: extractFeatures(`text of ${key}`),
    vector: ASKED,
  });
}

/** A grid whose queries wait for the test when `hold` is set, and fail when `broken` is. */
class HeldQueries {
  hold = false;
  broken = false;
  queries = 0;
  readonly waiting: (() => void)[] = [];
  readonly grid: Grid;

  constructor(inner: Grid) {
    this.grid = new Proxy(inner, {
      get: (target, name) => {
        if (name === 'query') return (...args: Parameters<Grid['query']>) => this.#query(target, args);
        const member = Reflect.get(target, name) as unknown;
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  }

  async #query(target: Grid, args: Parameters<Grid['query']>): ReturnType<Grid['query']> {
    this.queries += 1;
    if (this.broken) throw new RepriseError('grid_unavailable', 'broken');
    const page = await target.query(...args);
    if (this.hold) await new Promise<void>((resolve) => this.waiting.push(resolve));
    return page;
  }
}

const keysOf = (reply: { matches: readonly { key: string }[] }) => reply.matches.map(({ key }) => key);

describe('Cell', () => {
  it('is rebuilt from the grid at its first search, over all pages', async () => {
    const { clock, search, store, held } = setUp();
    for (const key of ['a', 'b', 'c', 'd', 'e']) await store(key);
    await search();
    await clock.settle();
    const reply = await search();
    expect(keysOf(reply)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(reply.complete).toBe(true);
    expect(held.vectors).toBe(5);
  });

  it('takes in nothing of another scope, embedder or feature version, and nothing expired', async () => {
    const { clock, search, store, grid } = setUp();
    await store('good');
    await store('other-embedder', { embedderId: 'e2' });
    await store('other-scope-inside', { scope: 'scope-2' });
    await store('expired', { expiresAtMs: clock.wallMs() - 1 });
    const stale = recordOf('old-features');
    stale[1] = (stale[1] ?? 0) + 1;
    const options = { deadlineAtMs: clock.monotonicMs() + 50 };
    await grid.set('vectors', { key: 'old-features', value: stale, attributes: { scope: SCOPE, code: 1 } }, options);
    await search();
    await clock.settle();
    expect(keysOf(await search())).toEqual(['good']);
  });

  it('answers at its deadline with what it has, and goes on in the background', async () => {
    const { clock, search, store, slow } = setUp();
    await store('a');
    slow.hold = true;
    const early = search();
    await clock.advanceAsync(50);
    expect(await early).toMatchObject({ matches: [], complete: false });
    slow.waiting.shift()?.();
    await clock.settle();
    expect(keysOf(await search())).toEqual(['a']);
  });

  it('keeps what is added during a rebuild, and does not let an older page bring back what was forgotten', async () => {
    const { clock, search, store, slow, tell, forget } = setUp();
    await store('a');
    await store('b');
    slow.hold = true;
    const early = search();
    await clock.settle();
    await tell(recordOf('new'));
    await forget('a');
    slow.hold = false;
    slow.waiting.shift()?.();
    await early;
    await clock.settle();
    expect(keysOf(await search())).toEqual(['b', 'new']);
  });

  it('begins anew when its journal overflows, which stays bounded', async () => {
    const { clock, search, store, slow, forget, cell } = setUp();
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await store(key);
    slow.hold = true;
    const early = search();
    await clock.settle();
    for (let n = 0; n < 50; n += 1) await forget(`k${n}`);
    expect(cell.journalled).toBe(4);
    slow.hold = false;
    slow.waiting.shift()?.();
    await early;
    await clock.settle();
    expect(slow.queries).toBeGreaterThan(3);
    expect(await search()).toMatchObject({ complete: true });
    expect(keysOf(await search())).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('tries a failed rebuild again, after a pause', async () => {
    const { clock, search, store, slow, telemetry } = setUp();
    await store('a');
    slow.broken = true;
    expect(await search()).toMatchObject({ matches: [], complete: false });
    slow.broken = false;
    expect(keysOf(await search())).toEqual([]);
    expect(slow.queries).toBe(1);
    clock.advance(1_000);
    expect(keysOf(await search())).toEqual(['a']);
    expect(telemetry.count('reprise_background_failures_total cell-rebuild')).toBe(1);
  });

  it('never holds more vectors than its bound, dropping the longest held', async () => {
    const { clock, search, tell, cell } = setUp({ vectorsMax: 3 });
    await search();
    await clock.settle();
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      await tell(recordOf(key));
      expect(cell.size).toBeLessThanOrEqual(3);
    }
    expect(keysOf(await search())).toEqual(['c', 'd', 'e']);
  });

  it('forgets what has expired, so that it takes no place among the matches', async () => {
    const { clock, search, tell, held } = setUp();
    await search();
    await clock.settle();
    for (let n = 0; n < 30; n += 1) await tell(recordOf(`a${n}`, { expiresAtMs: clock.wallMs() + 1_000 }));
    await tell(recordOf('b'));
    clock.advance(1_000);
    expect(keysOf(await search())).toEqual(['b']);
    expect(held.vectors).toBe(1);
  });

  it('counts down its vectors when it is passivated, and stops its rebuild', async () => {
    const { clock, search, store, slow, held, cell } = setUp();
    for (const key of ['a', 'b', 'c', 'd']) await store(key);
    slow.hold = true;
    const early = search();
    await clock.settle();
    slow.waiting.shift()?.();
    await early;
    expect(held.vectors).toBe(2);
    cell.passivated();
    slow.waiting.shift()?.();
    await clock.settle();
    expect(held.vectors).toBe(0);
  });
});
