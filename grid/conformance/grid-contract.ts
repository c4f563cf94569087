import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../runtime/errors.ts';
import type { CallOptions } from '../../runtime/ports/call-options.ts';
import type { Grid, GridEvent, GridItem, GridPage, GridRole, PageRequest } from '../../runtime/ports/grid.ts';

/** A fresh, empty grid and the means to move its time; one is made for each test. */
export interface GridUnderTest {
  readonly grid: Grid;
  /** Now, on the clock that the grid's deadlines are read against. */
  monotonicMs(): number;
  /** Lets time pass, on the test's clock or really. */
  advance(ms: number): Promise<void>;
  /** Lets everything that is under way without time passing come in: events above all. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** What a grid promises beyond the port's least. */
export interface GridCapabilities {
  /** How much later than its TTL an item may still be there. */
  readonly ttlResolutionMs: number;
  /** The bound on the role `entries` and what is charged to it now; absent where a grid can't tell. */
  readonly bound?: { readonly bytesMax: number; bytes(grid: Grid): number };
}

const ROLES: readonly GridRole[] = ['entries', 'vectors', 'ledger', 'members', 'control'];
const SCOPE = 'a'.repeat(64);
const CALL_MS = 10_000;

type Maker = () => Promise<GridUnderTest>;
type Current = () => GridUnderTest;

/**
 * The contract of the Grid port, as tests that any grid must pass. What a grid over a network can't promise isn't relied on,
 * though the one in memory may happen to do it:
 *
 * - An item may outlive its TTL by `ttlResolutionMs`; one in `entries` or `vectors` may be evicted at any time.
 * - The events of one key come in their order, those of different keys in any; all come later than the call that caused them,
 *   expiry's much later. Listening takes effect some time after `listen`; `lost` may be told at any time, and says that
 *   something may have been missed.
 * - Only `vectors` keeps attributes and answers `query`; the scopes in it have one length.
 * - A call that failed, a write above all, may have taken place, or may yet.
 */
export function gridContract(name: string, makeGrid: Maker, capabilities: GridCapabilities): void {
  describe(`grid contract: ${name}`, () => {
    let made: GridUnderTest;
    const current: Current = () => made;
    beforeEach(async () => {
      made = await makeGrid();
    });
    afterEach(() => made.close());

    describe('values', () => valuesContract(current));
    describe('compare-and-set', () => compareAndSetContract(current));
    describe('races', () => racesContract(current));
    describe('time to live', () => ttlContract(current, capabilities));
    describe('listeners', () => listenersContract(current));
    describe('query', () => queryContract(current));
    describe('query under change', () => queryUnderChangeContract(current));
    describe('scan', () => scanContract(current));
    describe('deadlines and signals', () => limitsContract(current));
    describe('close', () => closeContract(current));
    if (capabilities.bound !== undefined) {
      const { bound } = capabilities;
      describe('byte bound', () => boundContract(current, bound));
    }
  });
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function textOf(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : new TextDecoder().decode(value);
}

function item(key: string, text: string, more: Partial<GridItem> = {}): GridItem {
  return { key, value: bytesOf(text), ...more };
}

function within(made: GridUnderTest, ms = CALL_MS): CallOptions {
  return { deadlineAtMs: made.monotonicMs() + ms };
}

async function read(made: GridUnderTest, role: GridRole, key: string): Promise<string | undefined> {
  return textOf((await made.grid.get(role, key, within(made)))?.value);
}

async function codeOf(call: Promise<unknown>): Promise<ErrorCode | 'none'> {
  try {
    await call;
    return 'none';
  } catch (error) {
    return (error as { code: ErrorCode }).code;
  }
}

async function walk(fetchPage: (page: PageRequest) => Promise<GridPage>, limit: number): Promise<string[]> {
  const keys: string[] = [];
  let after: string | undefined;
  do {
    const page: GridPage = await fetchPage(after === undefined ? { limit } : { limit, after });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    keys.push(...page.items.map((found) => found.key));
    after = page.next;
  } while (after !== undefined);
  return keys;
}

function valuesContract(current: Current): void {
  it.each(ROLES)('gives in role %s what was set there, and nothing of other roles', async (role) => {
    const made = current();
    await made.grid.set(role, item('k', role), within(made));
    expect(await read(made, role, 'k')).toBe(role);
    for (const other of ROLES) if (other !== role) expect(await read(made, other, 'k')).toBeUndefined();
  });

  it('keeps an empty value and any key', async () => {
    const made = current();
    await made.grid.set('control', item('T/tag/\u{1F600} ü', ''), within(made));
    expect(await read(made, 'control', 'T/tag/\u{1F600} ü')).toBe('');
  });

  it('gives found items only, in the order of the keys that were asked for', async () => {
    const made = current();
    await made.grid.setAll('entries', [item('a', '1'), item('b', '2'), item('c', '3')], within(made));
    const found = await made.grid.getAll('entries', ['c', 'x', 'a'], within(made));
    expect([...found].map(([key, { value }]) => [key, textOf(value)])).toEqual([
      ['c', '3'],
      ['a', '1'],
    ]);
  });

  it('takes empty batches', async () => {
    const made = current();
    await made.grid.setAll('entries', [], within(made));
    expect((await made.grid.getAll('entries', [], within(made))).size).toBe(0);
  });

  it('tells whether a removal removed something', async () => {
    const made = current();
    await made.grid.set('entries', item('a', '1'), within(made));
    expect(await made.grid.remove('entries', 'a', within(made))).toBe(true);
    expect(await made.grid.remove('entries', 'a', within(made))).toBe(false);
    expect(await read(made, 'entries', 'a')).toBeUndefined();
  });

  it('counts the items of a role', async () => {
    const made = current();
    await made.grid.setAll('ledger', [item('a', '1'), item('b', '2'), item('a', '3')], within(made));
    expect(await made.grid.size('ledger', within(made))).toBe(2);
    expect(await made.grid.size('control', within(made))).toBe(0);
  });

  it('names an owner for each key, always the same one', () => {
    const { grid } = current();
    expect(grid.ownerOf('entries', 'a')).not.toBe('');
    expect(grid.ownerOf('entries', 'a')).toBe(grid.ownerOf('entries', 'a'));
  });

  it('is up, with a member at least', () => {
    const health = current().grid.health();
    expect(health.state).toBe('up');
    expect(health.members).toBeGreaterThan(0);
  });
}

function compareAndSetContract(current: Current): void {
  it('stores an absent item, and gives it back with its version', async () => {
    const made = current();
    const first = await made.grid.putIfAbsent('ledger', item('a', '1'), within(made));
    expect([first.stored, textOf(first.current.value)]).toEqual([true, '1']);
    const replaced = await made.grid.replaceIfSame('ledger', first.current.version, item('a', '2'), within(made));
    expect(textOf(replaced?.value)).toBe('2');
  });

  it('leaves what is there, and gives it back with its version', async () => {
    const made = current();
    await made.grid.set('ledger', item('a', '1'), within(made));
    const second = await made.grid.putIfAbsent('ledger', item('a', '2'), within(made));
    expect([second.stored, textOf(second.current.value)]).toEqual([false, '1']);
    expect(await made.grid.removeIfSame('ledger', 'a', second.current.version, within(made))).toBe(true);
  });

  it('replaces and removes by the version that a read gave', async () => {
    const made = current();
    await made.grid.set('ledger', item('a', '1'), within(made));
    const before = await made.grid.get('ledger', 'a', within(made));
    const after = await made.grid.replaceIfSame('ledger', before?.version, item('a', '2'), within(made));
    expect(await read(made, 'ledger', 'a')).toBe('2');
    expect(await made.grid.removeIfSame('ledger', 'a', after?.version, within(made))).toBe(true);
    expect(await read(made, 'ledger', 'a')).toBeUndefined();
  });

  it('takes the versions of a batch read', async () => {
    const made = current();
    await made.grid.set('ledger', item('a', '1'), within(made));
    const found = await made.grid.getAll('ledger', ['a'], within(made));
    const replaced = await made.grid.replaceIfSame('ledger', found.get('a')?.version, item('a', '2'), within(made));
    expect(textOf(replaced?.value)).toBe('2');
  });

  it('refuses a version that was replaced', async () => {
    const made = current();
    await made.grid.set('ledger', item('a', '1'), within(made));
    const old = await made.grid.get('ledger', 'a', within(made));
    await made.grid.set('ledger', item('a', '2'), within(made));
    expect(await made.grid.replaceIfSame('ledger', old?.version, item('a', '3'), within(made))).toBeUndefined();
    expect(await made.grid.removeIfSame('ledger', 'a', old?.version, within(made))).toBe(false);
    expect(await read(made, 'ledger', 'a')).toBe('2');
  });

  it('refuses the version of an item that is gone', async () => {
    const made = current();
    await made.grid.set('ledger', item('a', '1'), within(made));
    const old = await made.grid.get('ledger', 'a', within(made));
    await made.grid.remove('ledger', 'a', within(made));
    expect(await made.grid.replaceIfSame('ledger', old?.version, item('a', '2'), within(made))).toBeUndefined();
    expect(await made.grid.removeIfSame('ledger', 'a', old?.version, within(made))).toBe(false);
    expect(await read(made, 'ledger', 'a')).toBeUndefined();
  });
}

function racesContract(current: Current): void {
  it('loses none of many racing increments', async () => {
    const made = current();
    await made.grid.set('ledger', item('count', '0'), within(made));
    const increment = async (): Promise<void> => {
      for (;;) {
        const before = await made.grid.get('ledger', 'count', within(made));
        const next = item('count', String(Number(textOf(before?.value)) + 1));
        const after = await made.grid.replaceIfSame('ledger', before?.version, next, within(made));
        if (after !== undefined) return;
      }
    };
    const workers = Array.from({ length: 8 }, async () => {
      for (let at = 0; at < 25; at += 1) await increment();
    });
    await Promise.all(workers);
    expect(await read(made, 'ledger', 'count')).toBe('200');
  });

  it('lets one of many racing putIfAbsent calls win, and tells the others of it', async () => {
    const made = current();
    const results = await Promise.all(
      Array.from({ length: 16 }, (_, at) => made.grid.putIfAbsent('members', item('a', String(at)), within(made))),
    );
    const winners = results.filter((result) => result.stored);
    expect(winners).toHaveLength(1);
    expect(new Set(results.map((result) => textOf(result.current.value))).size).toBe(1);
    expect(await read(made, 'members', 'a')).toBe(textOf(winners[0]?.current.value));
  });

  it('lets one of many racing removals by version win', async () => {
    const made = current();
    const { current: version } = await made.grid.putIfAbsent('members', item('a', '1'), within(made));
    const removed = await Promise.all(
      Array.from({ length: 16 }, () => made.grid.removeIfSame('members', 'a', version.version, within(made))),
    );
    expect(removed.filter(Boolean)).toHaveLength(1);
  });
}

function ttlContract(current: Current, capabilities: GridCapabilities): void {
  const ttlMs = 2_000;
  const laterMs = ttlMs + capabilities.ttlResolutionMs;

  it('keeps an item until its time and no longer', async () => {
    const made = current();
    await made.grid.set('entries', item('a', '1', { ttlMs }), within(made));
    await made.advance(ttlMs / 2);
    expect(await read(made, 'entries', 'a')).toBe('1');
    await made.advance(laterMs - ttlMs / 2);
    expect(await read(made, 'entries', 'a')).toBeUndefined();
  });

  it('keeps an item without TTL', async () => {
    const made = current();
    await made.grid.set('entries', item('a', '1'), within(made));
    await made.advance(laterMs);
    expect(await read(made, 'entries', 'a')).toBe('1');
  });

  it('takes the TTL of the last write', async () => {
    const made = current();
    await made.grid.set('entries', item('shortened', '1'), within(made));
    await made.grid.set('entries', item('shortened', '2', { ttlMs }), within(made));
    await made.grid.set('entries', item('freed', '1', { ttlMs }), within(made));
    await made.grid.set('entries', item('freed', '2'), within(made));
    await made.advance(laterMs);
    expect(await read(made, 'entries', 'shortened')).toBeUndefined();
    expect(await read(made, 'entries', 'freed')).toBe('2');
  });

  it('gives a TTL to batches and to items that are put when absent or replaced', async () => {
    const made = current();
    await made.grid.setAll('entries', [item('batch', '1', { ttlMs })], within(made));
    await made.grid.putIfAbsent('entries', item('absent', '1', { ttlMs }), within(made));
    const { current: before } = await made.grid.putIfAbsent('entries', item('replaced', '1'), within(made));
    await made.grid.replaceIfSame('entries', before.version, item('replaced', '2', { ttlMs }), within(made));
    await made.advance(laterMs);
    const found = await made.grid.getAll('entries', ['batch', 'absent', 'replaced'], within(made));
    expect([...found.keys()]).toEqual([]);
  });

  it('shows an expired item to no call', async () => {
    const made = current();
    const attributes = { scope: SCOPE, code: 1 };
    await made.grid.set('vectors', item('a', '1', { ttlMs, attributes }), within(made));
    const old = await made.grid.get('vectors', 'a', within(made));
    await made.advance(laterMs);
    const range = { scope: SCOPE, codeFrom: 0, codeTo: 9 };
    expect((await made.grid.query('vectors', range, { limit: 9 }, within(made))).items).toEqual([]);
    expect((await made.grid.scan('vectors', { limit: 9 }, within(made))).items).toEqual([]);
    expect(await made.grid.removeIfSame('vectors', 'a', old?.version, within(made))).toBe(false);
    expect(await made.grid.remove('vectors', 'a', within(made))).toBe(false);
    expect(await made.grid.size('vectors', within(made))).toBe(0);
    expect((await made.grid.putIfAbsent('vectors', item('a', '2'), within(made))).stored).toBe(true);
  });
}

interface Collected {
  readonly events: GridEvent[];
  readonly close: () => void;
}

function listenersContract(current: Current): void {
  /** Listens, and lets that take effect. Any grid may tell `lost` at any time; it says nothing about what happened. */
  const collect = async (role: GridRole, key?: string): Promise<Collected> => {
    const events: GridEvent[] = [];
    const subscription = current().grid.listen(
      role,
      (event) => void (event.kind !== 'lost' && events.push(event)),
      key,
    );
    await current().settle();
    return { events, close: () => subscription.close() };
  };

  it('tells the changes of each key in their order', async () => {
    const made = current();
    const { events } = await collect('control');
    for (let round = 0; round < 20; round += 1) {
      for (const key of ['a', 'b', 'c']) await made.grid.set('control', item(key, String(round)), within(made));
      for (const key of ['a', 'b']) await made.grid.remove('control', key, within(made));
    }
    await made.settle();
    const kindsOf = (key: string): string[] =>
      events.flatMap((event) => (event.kind !== 'lost' && event.key === key ? [event.kind] : []));
    const setAndRemoved = Array.from({ length: 20 }, () => ['set', 'removed']).flat();
    expect(kindsOf('a')).toEqual(setAndRemoved);
    expect(kindsOf('b')).toEqual(setAndRemoved);
    expect(kindsOf('c')).toEqual(Array.from({ length: 20 }, () => 'set'));
  });

  it('tells of one key only when one is named', async () => {
    const made = current();
    const { events } = await collect('ledger', 'head');
    await made.grid.setAll('ledger', [item('head', '1'), item('mark', '1')], within(made));
    await made.settle();
    expect(events).toEqual([{ kind: 'set', key: 'head' }]);
  });

  it('tells of compare-and-set that took place, and of nothing that did not', async () => {
    const made = current();
    const { events } = await collect('ledger');
    const { current: first } = await made.grid.putIfAbsent('ledger', item('a', '1'), within(made));
    await made.grid.putIfAbsent('ledger', item('a', '2'), within(made));
    const second = await made.grid.replaceIfSame('ledger', first.version, item('a', '3'), within(made));
    await made.grid.replaceIfSame('ledger', first.version, item('a', '4'), within(made));
    await made.grid.removeIfSame('ledger', 'a', first.version, within(made));
    await made.grid.removeIfSame('ledger', 'a', second?.version, within(made));
    await made.grid.remove('ledger', 'a', within(made));
    await made.settle();
    expect(events.map((event) => event.kind)).toEqual(['set', 'set', 'removed']);
  });

  it('tells nothing of other roles, nor after its close', async () => {
    const made = current();
    const { events, close } = await collect('entries');
    await made.grid.set('control', item('a', '1'), within(made));
    await made.grid.set('entries', item('b', '1'), within(made));
    await made.settle();
    close();
    await made.grid.set('entries', item('c', '1'), within(made));
    await made.settle();
    expect(events).toEqual([{ kind: 'set', key: 'b' }]);
  });
}

function vector(key: string, code: number, scope = SCOPE): GridItem {
  return item(key, key, { attributes: { scope, code } });
}

function fetchCodes(made: GridUnderTest, codeFrom: number, codeTo: number): (page: PageRequest) => Promise<GridPage> {
  return (page) => made.grid.query('vectors', { scope: SCOPE, codeFrom, codeTo }, page, within(made));
}

function queryContract(current: Current): void {
  it('gives the range of one scope, ends included, ordered by code and key', async () => {
    const made = current();
    const outside = [vector('p', 4), vector('q', 9), vector('other', 6, 'b'.repeat(64)), item('plain', '1')];
    const inside = [vector('z', 5), vector('b', 8), vector('a', 8), vector('c', 6)];
    await made.grid.setAll('vectors', [...outside, ...inside], within(made));
    const page = await fetchCodes(made, 5, 8)({ limit: 10 });
    expect(page.items.map((found) => [found.key, found.attributes?.code])).toEqual([
      ['z', 5],
      ['c', 6],
      ['a', 8],
      ['b', 8],
    ]);
    expect(page.next).toBeUndefined();
  });

  it('takes codes up to 2^32 - 1', async () => {
    const made = current();
    await made.grid.setAll('vectors', [vector('top', 0xffffffff), vector('low', 0)], within(made));
    expect(await walk(fetchCodes(made, 0, 0xffffffff), 5)).toEqual(['low', 'top']);
    expect(await walk(fetchCodes(made, 0x80000000, 0xffffffff), 5)).toEqual(['top']);
  });

  it('follows an item to its new code, and forgets one without attributes', async () => {
    const made = current();
    await made.grid.setAll('vectors', [vector('a', 1), vector('b', 1)], within(made));
    await made.grid.set('vectors', vector('a', 7), within(made));
    await made.grid.set('vectors', item('b', 'b'), within(made));
    expect(await walk(fetchCodes(made, 0, 6), 5)).toEqual([]);
    expect(await walk(fetchCodes(made, 7, 7), 5)).toEqual(['a']);
  });

  it('pages through any set of codes without loss or repetition', async () => {
    const made = current();
    const codes = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 30 });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(codes, fc.integer({ min: 1, max: 7 }), async (some, limit) => {
        run += 1;
        const scope = run.toString(16).padStart(64, '0');
        const items = some.map((code, at) => vector(`${run}-${String(at).padStart(2, '0')}`, code, scope));
        await made.grid.setAll('vectors', items, within(made));
        const expected = items
          .filter((each) => (each.attributes?.code ?? 0) <= 4)
          .toSorted((left, right) => (left.attributes?.code ?? 0) - (right.attributes?.code ?? 0))
          .map((each) => each.key);
        const range = { scope, codeFrom: 0, codeTo: 4 };
        expect(await walk((page) => made.grid.query('vectors', range, page, within(made)), limit)).toEqual(expected);
        for (const { key } of items) await made.grid.remove('vectors', key, within(made));
      }),
      { numRuns: 30 },
    );
  });
}

function queryUnderChangeContract(current: Current): void {
  it('gives what stays during the whole walk exactly once, while others come and go', async () => {
    const made = current();
    const staying = Array.from({ length: 40 }, (_, at) => vector(`stay-${at}`, at % 8));
    const leaving = Array.from({ length: 40 }, (_, at) => vector(`leave-${at}`, at % 8));
    await made.grid.setAll('vectors', [...staying, ...leaving], within(made));
    let pages = 0;
    const keys = await walk(async (page) => {
      const found = await fetchCodes(made, 0, 7)(page);
      await made.grid.remove('vectors', found.items.at(-1)?.key.replace('stay', 'leave') ?? '', within(made));
      await made.grid.set('vectors', vector(`new-${pages}`, pages % 8), within(made));
      pages += 1;
      return found;
    }, 3);
    expect(keys.filter((key) => key.startsWith('stay')).toSorted()).toEqual(staying.map(({ key }) => key).toSorted());
    expect(new Set(keys).size).toBe(keys.length);
  });
}

function scanContract(current: Current): void {
  const fetch =
    (made: GridUnderTest) =>
    (page: PageRequest): Promise<GridPage> =>
      made.grid.scan('entries', page, within(made));

  it('gives every item with its value', async () => {
    const made = current();
    await made.grid.setAll('entries', [item('a', '1'), item('b', '2')], within(made));
    const page = await fetch(made)({ limit: 10 });
    expect(page.items.map(({ key, value }) => `${key}=${textOf(value)}`).toSorted()).toEqual(['a=1', 'b=2']);
    expect(page.next).toBeUndefined();
  });

  it.each([1, 7, 50, 51])('gives each of 50 items once in pages of %i', async (limit) => {
    const made = current();
    const items = Array.from({ length: 50 }, (_, at) => item(`k${at}`, '1'));
    await made.grid.setAll('entries', items, within(made));
    expect((await walk(fetch(made), limit)).toSorted()).toEqual(items.map(({ key }) => key).toSorted());
  });

  it('gives what stays during the whole walk exactly once, while others come, go and are replaced', async () => {
    const made = current();
    const staying = Array.from({ length: 60 }, (_, at) => item(`stay-${at}`, '1'));
    const leaving = Array.from({ length: 60 }, (_, at) => item(`leave-${at}`, '1'));
    await made.grid.setAll(
      'entries',
      staying.flatMap((each, at) => [each, leaving[at] as GridItem]),
      within(made),
    );
    let pages = 0;
    const keys = await walk(async (page) => {
      const found = await fetch(made)(page);
      const last = found.items.at(-1)?.key ?? '';
      if (last.startsWith('leave')) await made.grid.remove('entries', last, within(made));
      await made.grid.remove('entries', `leave-${59 - pages}`, within(made));
      await made.grid.set('entries', item(`stay-${pages % 60}`, 'replaced'), within(made));
      if (pages < 20) await made.grid.set('entries', item(`new-${pages}`, '1'), within(made));
      pages += 1;
      return found;
    }, 4);
    const stayed = keys.filter((key) => key.startsWith('stay'));
    expect(stayed.toSorted()).toEqual(staying.map(({ key }) => key).toSorted());
  });

  it('takes the same token twice, as a caller does that lost the first answer', async () => {
    const made = current();
    await made.grid.setAll('entries', [item('a', '1'), item('b', '1'), item('c', '1')], within(made));
    const { next } = await fetch(made)({ limit: 1 });
    expect(next).toBeDefined();
    const first = await fetch(made)({ limit: 1, after: next as string });
    const again = await fetch(made)({ limit: 1, after: next as string });
    expect(again).toEqual(first);
  });
}

function limitsContract(current: Current): void {
  type Call = (grid: Grid, options: CallOptions) => Promise<unknown>;
  const calls: readonly (readonly [string, Call])[] = [
    ['get', (grid, options) => grid.get('entries', 'a', options)],
    ['getAll', (grid, options) => grid.getAll('entries', ['a'], options)],
    ['set', (grid, options) => grid.set('entries', item('a', '2'), options)],
    ['setAll', (grid, options) => grid.setAll('entries', [item('a', '2')], options)],
    ['remove', (grid, options) => grid.remove('entries', 'a', options)],
    ['putIfAbsent', (grid, options) => grid.putIfAbsent('entries', item('b', '2'), options)],
    ['replaceIfSame', (grid, options) => grid.replaceIfSame('entries', 0, item('a', '2'), options)],
    ['removeIfSame', (grid, options) => grid.removeIfSame('entries', 'a', 0, options)],
    [
      'query',
      (grid, options) => grid.query('vectors', { scope: SCOPE, codeFrom: 0, codeTo: 1 }, { limit: 1 }, options),
    ],
    ['scan', (grid, options) => grid.scan('entries', { limit: 1 }, options)],
    ['size', (grid, options) => grid.size('entries', options)],
  ];

  it.each(calls)('%s fails with grid_timeout when its deadline is past, and does nothing', async (_name, call) => {
    const made = current();
    await made.grid.set('entries', item('a', '1'), within(made));
    expect(await codeOf(call(made.grid, within(made, -1)))).toBe('grid_timeout');
    expect(await codeOf(call(made.grid, within(made, 0)))).toBe('grid_timeout');
    expect(await read(made, 'entries', 'a')).toBe('1');
    expect(await read(made, 'entries', 'b')).toBeUndefined();
  });

  it.each(calls)('%s fails with cancelled when its signal is aborted, and does nothing', async (_name, call) => {
    const made = current();
    await made.grid.set('entries', item('a', '1'), within(made));
    const options = { ...within(made), signal: AbortSignal.abort() };
    expect(await codeOf(call(made.grid, options))).toBe('cancelled');
    expect(await read(made, 'entries', 'a')).toBe('1');
    expect(await read(made, 'entries', 'b')).toBeUndefined();
  });

  it('takes a signal that is aborted after the answer', async () => {
    const made = current();
    const controller = new AbortController();
    await made.grid.set('entries', item('a', '1'), { ...within(made), signal: controller.signal });
    controller.abort();
    expect(await read(made, 'entries', 'a')).toBe('1');
  });
}

function closeContract(current: Current): void {
  it('fails every later call with grid_unavailable', async () => {
    const made = current();
    await made.grid.set('entries', item('a', '1'), within(made));
    await made.grid.close();
    expect(await codeOf(made.grid.get('entries', 'a', within(made)))).toBe('grid_unavailable');
    expect(await codeOf(made.grid.set('entries', item('a', '1'), within(made)))).toBe('grid_unavailable');
    expect(made.grid.health().state).toBe('down');
  });

  it('may be called twice', async () => {
    const made = current();
    await made.grid.close();
    expect(await codeOf(made.grid.close())).toBe('none');
  });

  it('ends subscriptions', async () => {
    const made = current();
    const events: GridEvent[] = [];
    made.grid.listen('entries', (event) => events.push(event));
    await made.grid.close();
    expect(await codeOf(made.grid.set('entries', item('a', '1'), within(made)))).toBe('grid_unavailable');
    await made.settle();
    expect(events).toEqual([]);
  });
}

function boundContract(current: Current, bound: NonNullable<GridCapabilities['bound']>): void {
  it('holds at every moment, and evicts rather than refuses', async () => {
    const made = current();
    const bytesTyped = Math.floor(bound.bytesMax / 50);
    for (let at = 0; at < 200; at += 1) {
      await made.grid.set('entries', { key: `k${at}`, value: new Uint8Array(bytesTyped) }, within(made));
      expect(bound.bytes(made.grid)).toBeLessThanOrEqual(bound.bytesMax);
      expect((await made.grid.get('entries', `k${at}`, within(made)))?.value.byteLength).toBe(bytesTyped);
    }
    expect(bound.bytes(made.grid)).toBeGreaterThan(bound.bytesMax / 2);
  });

  it('takes an item larger than the bound without failing, and keeps neither it nor what it replaced', async () => {
    const made = current();
    await made.grid.set('entries', item('a', '1'), within(made));
    await made.grid.set('entries', { key: 'a', value: new Uint8Array(bound.bytesMax) }, within(made));
    expect(await made.grid.get('entries', 'a', within(made))).toBeUndefined();
    expect(bound.bytes(made.grid)).toBeLessThanOrEqual(bound.bytesMax);
  });

  it('tells listeners of evictions', async () => {
    const made = current();
    const events: GridEvent[] = [];
    made.grid.listen('entries', (event) => events.push(event));
    for (let at = 0; at < 4; at += 1)
      await made.grid.set('entries', { key: `k${at}`, value: new Uint8Array(bound.bytesMax / 3) }, within(made));
    await made.settle();
    expect(events.filter((event) => event.kind === 'evicted').length).toBeGreaterThan(0);
  });

  it('never evicts from ledger, members and control', async () => {
    const made = current();
    for (const role of ['ledger', 'members', 'control'] as const) {
      for (let at = 0; at < 8; at += 1)
        await made.grid.set(role, { key: `k${at}`, value: new Uint8Array(bound.bytesMax / 4) }, within(made));
      expect(await made.grid.size(role, within(made))).toBe(8);
    }
  });
}
