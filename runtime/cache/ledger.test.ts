import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { MemoryGrid } from '../../grid/memory/memory-grid.ts';
import { SeededRandom } from '../../simulation/kernel/seeded-random.ts';
import { RepriseError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Grid, Versioned } from '../ports/grid.ts';
import type { LedgerHead, LedgerPosition } from '../ports/ledger.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { decodeHead, encodeHead, encodeMark } from './ledger-codec.ts';
import { entryName, modelName, namespaceName, tagName, tenantName } from './ledger-names.ts';
import { Ledger } from './ledger.ts';
import type { LedgerOptions, Positioned } from './ledger.ts';

const OPTIONS: LedgerOptions = {
  stalenessBoundMs: 2_000,
  unconfirmedMs: 60_000,
  confirmIntervalMs: 500,
  callTimeoutMs: 200,
};
const FAR: CallOptions = { deadlineAtMs: 1e12 };
const NO_CHILD = { add: () => undefined, set: () => undefined, observe: () => undefined };
const SILENT: Telemetry = {
  counter: () => NO_CHILD,
  gauge: () => NO_CHILD,
  histogram: () => NO_CHILD,
  log: () => undefined,
};

let clock: ManualClock;
let grid: MemoryGrid;
let faulty: FaultyGrid;

/** Fails the calls that `fault` names, before or after they took effect. */
interface FaultyGrid extends Grid {
  fault: (call: string, key: string) => 'none' | 'before' | 'after';
  heads: LedgerHead[];
  calls: string[];
}

function faultyOver(inner: Grid): FaultyGrid {
  const state: Pick<FaultyGrid, 'fault' | 'heads' | 'calls'> = { fault: () => 'none', heads: [], calls: [] };
  return new Proxy(inner, {
    get(target, property) {
      if (property in state) return state[property as keyof typeof state];
      const call = Reflect.get(target, property) as (...values: unknown[]) => unknown;
      if (property === 'listen' || typeof call !== 'function') return call.bind(target);
      return async (...values: unknown[]): Promise<unknown> => {
        const item = values.find((value) => typeof value === 'object' && value !== null && 'key' in value);
        const key = item === undefined ? String(values[1]) : (item as { key: string }).key;
        state.calls.push(`${String(property)} ${key}`);
        const fault = state.fault(String(property), key);
        if (fault === 'before') throw new RepriseError('grid_unavailable', 'fault');
        const result = await (call.apply(target, values) as Promise<unknown>);
        if (fault === 'after') throw new RepriseError('grid_timeout', 'fault');
        return result;
      };
    },
    set(_target, property, value) {
      Object.assign(state, { [property]: value });
      return true;
    },
  }) as FaultyGrid;
}

function makeLedger(name: string, over: Grid = faulty, options: Partial<LedgerOptions> = {}): Ledger {
  const random = new SeededRandom('ledger test').fork(name);
  return new Ledger({ grid: over, clock, random, telemetry: SILENT }, { ...OPTIONS, ...options });
}

/** A promise that the test settles. */
function gate<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let open: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (open = resolve));
  return { promise, resolve: (value) => open(value) };
}

/** The grid, its replies to `get` held back until `open` is settled. */
function withHeldReads(open: Promise<unknown>): Grid {
  const held = async (...values: Parameters<Grid['get']>): Promise<Versioned | undefined> => {
    const reply = await grid.get(...values);
    await open;
    return reply;
  };
  return new Proxy(grid, {
    get: (target, property) =>
      property === 'get' ? held : (Reflect.get(target, property) as () => unknown).bind(target),
  });
}

async function confirmed(name: string, options: Partial<LedgerOptions> = {}): Promise<Ledger> {
  const ledger = makeLedger(name, faulty, options);
  await ledger.confirm(FAR);
  return ledger;
}

function positionOf(ledger: Ledger): LedgerPosition {
  const position = ledger.position;
  if (position === undefined) throw new Error('the ledger has no position');
  return position;
}

function entryAt(position: LedgerPosition, names: Partial<Positioned> = {}): Positioned {
  return { tenant: 't', namespace: 'n', tags: ['g'], model: 'm', key: 'k', ...names, position };
}

async function storedHead(): Promise<Versioned> {
  const found = await grid.get('ledger', 'head', FAR);
  if (found === undefined) throw new Error('the grid has no head');
  return found;
}

async function headOf(): Promise<LedgerHead> {
  const head = decodeHead((await storedHead()).value);
  if (typeof head === 'string') throw new Error('the head is unreadable');
  return head;
}

beforeEach(() => {
  clock = new ManualClock();
  grid = new MemoryGrid(
    { clock },
    { roles: { entries: { bytesMax: 1_000_000 }, vectors: { bytesMax: 1_000_000 } }, policy: 'lru' },
  );
  faulty = faultyOver(grid);
});

describe('the first head', () => {
  it('is made where there is none', async () => {
    const ledger = await confirmed('a');
    expect(ledger.position).toMatchObject({ incarnation: { counter: 1 }, sequence: 0, nonce: 0 });
    expect(await headOf()).toMatchObject({ incarnation: positionOf(ledger).incarnation, records: [] });
  });

  it('is shared by nodes that start at once', async () => {
    const ledgers = [makeLedger('a'), makeLedger('b'), makeLedger('c')];
    await Promise.all(ledgers.map((ledger) => ledger.confirm(FAR)));
    expect(new Set(ledgers.map((ledger) => positionOf(ledger).incarnation.random)).size).toBe(1);
  });

  it('is needed before anything may be read', () => {
    const ledger = makeLedger('a');
    expect(ledger.position).toBeUndefined();
    expect(ledger.freshness(false)).toBe('unusable');
    expect(ledger.flightPosition(entryAt({ incarnation: { counter: 1, random: '' }, sequence: 0, nonce: 0 }))).toBe('');
    expect(ledger.validity(entryAt({ incarnation: { counter: 1, random: '' }, sequence: 0, nonce: 0 }))).toBe(
      'invalid',
    );
  });

  it('of a newer layout is never overwritten', async () => {
    await grid.set('ledger', { key: 'head', value: Uint8Array.of(9, 9) }, FAR);
    const ledger = makeLedger('a');
    await expect(ledger.confirm(FAR)).rejects.toMatchObject({ code: 'grid_unavailable' });
    expect((await storedHead()).value).toEqual(Uint8Array.of(9, 9));
  });

  it('that nothing wrote is replaced', async () => {
    await grid.set('ledger', { key: 'head', value: Uint8Array.of(1, 9) }, FAR);
    const ledger = await confirmed('a');
    expect(positionOf(ledger).sequence).toBe(0);
  });
});

describe('an append', () => {
  it('is obeyed at once by the node that made it', async () => {
    const ledger = await confirmed('a');
    const entry = entryAt(positionOf(ledger));
    expect(ledger.validity(entry)).toBe('valid');
    expect(await ledger.append(modelName('m'), 'hard', FAR)).toBe(1);
    expect(ledger.validity(entry)).toBe('invalid');
    expect(ledger.validity(entryAt(positionOf(ledger)))).toBe('valid');
  });

  it('is obeyed by another node when it has confirmed', async () => {
    const [a, b] = [await confirmed('a'), await confirmed('b')];
    const entry = entryAt(positionOf(b));
    await a.append(tenantName('t'), 'hard', FAR);
    expect(b.validity(entry)).toBe('valid');
    await b.confirm(FAR);
    expect(b.validity(entry)).toBe('invalid');
  });

  it('reaches an entry by each of its names, and no other entry', async () => {
    for (const name of [tenantName('t'), namespaceName('t', 'n'), tagName('t', 'g'), modelName('m'), entryName('k')]) {
      const ledger = await confirmed(name);
      const entry = entryAt(positionOf(ledger));
      const other = entryAt(positionOf(ledger), { tenant: 'x', model: 'x', key: 'x' });
      await ledger.append(name, 'hard', FAR);
      expect(ledger.validity(entry)).toBe('invalid');
      expect(ledger.validity(other)).toBe('valid');
    }
  });

  it('that is soft makes stale, and a hard one before or after it wins', async () => {
    const ledger = await confirmed('a');
    const entry = entryAt(positionOf(ledger));
    await ledger.append(tagName('t', 'g'), 'soft', FAR);
    expect(ledger.validity(entry)).toBe('stale');
    expect(ledger.markedSince(entry)).toBe(true);
    await ledger.append(modelName('m'), 'hard', FAR);
    expect(ledger.validity(entry)).toBe('invalid');
  });

  it('keeps its kind on the way to another node', async () => {
    const [a, b] = [await confirmed('a'), await confirmed('b')];
    const entry = entryAt(positionOf(b));
    await a.append(modelName('m'), 'soft', FAR);
    await b.confirm(FAR);
    expect(b.validity(entry)).toBe('stale');
  });

  it('whose outcome is unknown is appended again under another sequence and nonce', async () => {
    const ledger = await confirmed('a');
    let isLost = false;
    faulty.fault = (call, key) => {
      if (isLost || call !== 'replaceIfSame' || key !== 'head') return 'none';
      isLost = true;
      return 'after';
    };
    expect(await ledger.append(modelName('m'), 'hard', FAR)).toBe(2);
    const { records } = await headOf();
    expect(records.map(({ name }) => name)).toEqual([modelName('m'), modelName('m')]);
    expect(records[0]?.nonce).not.toBe(records[1]?.nonce);
  });

  it('raises its mark before the head', async () => {
    const ledger = await confirmed('a');
    faulty.calls = [];
    await ledger.append(modelName('m'), 'hard', FAR);
    const calls = faulty.calls.filter((call) => /^(putIfAbsent|replaceIfSame)/u.test(call));
    expect(calls).toEqual(['putIfAbsent mark/model/m', 'replaceIfSame head']);
  });

  it('fails with grid_unavailable when the grid stays away, within its deadline', async () => {
    const ledger = await confirmed('a');
    faulty.fault = () => 'before';
    const appended = ledger.append(modelName('m'), 'hard', { deadlineAtMs: clock.monotonicMs() + 300 });
    const failed = expect(appended).rejects.toMatchObject({ code: 'grid_unavailable' });
    await clock.advanceAsync(300);
    await failed;
  });

  it('fails as cancelled when its signal is aborted between attempts', async () => {
    const ledger = await confirmed('a');
    const abort = new AbortController();
    faulty.fault = () => 'before';
    const appended = ledger.append(modelName('m'), 'hard', { ...FAR, signal: abort.signal });
    const failed = expect(appended).rejects.toMatchObject({ code: 'cancelled' });
    await clock.settle();
    abort.abort();
    await clock.advanceAsync(1_000);
    await failed;
  });

  it('refuses a name that could not be told from another', async () => {
    const ledger = await confirmed('a');
    await expect(ledger.append('tenant/\ud800', 'hard', FAR)).rejects.toMatchObject({ code: 'invalid_control' });
    await expect(ledger.append('x'.repeat(2_000), 'hard', FAR)).rejects.toMatchObject({ code: 'invalid_control' });
  });

  it('gives each of many at once, on two nodes, a sequence of its own', async () => {
    const ledgers = [await confirmed('a'), await confirmed('b')];
    const appends: Promise<number>[] = [];
    for (let index = 0; index < 40; index += 2) {
      for (const ledger of ledgers) appends.push(ledger.append(entryName(`${index} ${appends.length}`), 'hard', FAR));
    }
    let isDone = false;
    const all = Promise.all(appends).finally(() => (isDone = true));
    while (!isDone) await clock.advanceAsync(10);
    expect((await all).sort((left, right) => left - right)).toEqual(
      Array.from({ length: 40 }, (_, index) => index + 1),
    );
  });

  it('waits no longer for the others of its node than its deadline', async () => {
    const open = gate<undefined>();
    const slow = makeLedger('slow', withHeldReads(open.promise));
    const first = slow.append(modelName('m'), 'hard', FAR);
    const second = slow.append(modelName('m'), 'hard', { deadlineAtMs: clock.monotonicMs() + 50 });
    const failed = expect(second).rejects.toMatchObject({ code: 'grid_unavailable' });
    await clock.advanceAsync(50);
    await failed;
    open.resolve(undefined);
    expect(await first).toBe(1);
  });
});

describe('confirming', () => {
  it('is aged from the start of the read', async () => {
    await confirmed('a');
    const open = gate<undefined>();
    const late = makeLedger('late', withHeldReads(open.promise));
    const done = late.confirm(FAR);
    await clock.advanceAsync(1_500);
    open.resolve(undefined);
    await done;
    expect(late.confirmedAgeMs()).toBe(1_500);
  });

  it('keeps strict readers for the bound, others for the unconfirmed time beyond it', async () => {
    const ledger = await confirmed('a');
    clock.advance(2_000);
    expect([ledger.freshness(true), ledger.freshness(false)]).toEqual(['confirmed', 'confirmed']);
    expect(ledger.sharedAgeMsMax(true)).toBe(Infinity);
    clock.advance(1);
    expect([ledger.freshness(true), ledger.freshness(false)]).toEqual(['unusable', 'unconfirmed']);
    expect([ledger.sharedAgeMsMax(true), ledger.sharedAgeMsMax(false)]).toEqual([2_000, Infinity]);
    clock.advance(60_000);
    expect(ledger.freshness(false)).toBe('unusable');
  });

  it('counts the time past the bound when it is there again', async () => {
    let seconds = 0;
    const telemetry: Telemetry = {
      ...SILENT,
      counter: (name) => ({
        add: (amount = 1) => void (seconds += name === 'reprise_ledger_unconfirmed_seconds_total' ? amount : 0),
      }),
    };
    const ledger = new Ledger({ grid, clock, random: new SeededRandom('counting'), telemetry }, OPTIONS);
    await ledger.confirm(FAR);
    clock.advance(1_500);
    await ledger.confirm(FAR);
    expect(seconds).toBe(0);
    clock.advance(5_000);
    await ledger.confirm(FAR);
    expect(seconds).toBe(3);
  });

  it('runs at every interval and soon after the head changed', async () => {
    const [a, b] = [await confirmed('a'), makeLedger('b')];
    b.start();
    await clock.settle();
    const entry = entryAt(positionOf(b));
    await a.append(modelName('m'), 'hard', FAR);
    await clock.advanceAsync(10);
    expect(b.validity(entry)).toBe('invalid');
    await clock.advanceAsync(5_250);
    expect(b.confirmedAgeMs()).toBeLessThanOrEqual(500);
    await b.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('goes on after failures', async () => {
    const ledger = makeLedger('a');
    faulty.fault = () => 'before';
    ledger.start();
    await clock.advanceAsync(3_000);
    expect(ledger.position).toBeUndefined();
    faulty.fault = () => 'none';
    await clock.advanceAsync(500);
    expect(ledger.freshness(true)).toBe('confirmed');
    await ledger.stop();
  });

  it('of an append storm reads once a gap, not once an append', async () => {
    const [a, b] = [await confirmed('a'), makeLedger('b')];
    b.start();
    await clock.settle();
    faulty.calls = [];
    for (let index = 0; index < 50; index++) await a.append(modelName('m'), 'hard', FAR);
    const ownReads = 50;
    await clock.advanceAsync(100);
    expect(faulty.calls.filter((call) => call === 'get head').length).toBeLessThanOrEqual(ownReads + 11);
    await b.stop();
  });
});

describe('a lost or forked ledger', () => {
  it('begins a new incarnation above the known one when the head is gone', async () => {
    const ledger = await confirmed('a');
    const entry = entryAt(positionOf(ledger));
    let resets = 0;
    ledger.onReset(() => resets++);
    await grid.remove('ledger', 'head', FAR);
    await ledger.confirm(FAR);
    expect(positionOf(ledger).incarnation.counter).toBe(2);
    expect(ledger.validity(entry)).toBe('invalid');
    expect([resets, ledger.epoch]).toEqual([1, 1]);
  });

  it('is adopted from another node that noticed first', async () => {
    const [a, b] = [await confirmed('a'), await confirmed('b')];
    const entry = entryAt(positionOf(b));
    await grid.remove('ledger', 'head', FAR);
    await a.confirm(FAR);
    await b.confirm(FAR);
    expect(positionOf(b).incarnation).toEqual(positionOf(a).incarnation);
    expect(b.validity(entry)).toBe('invalid');
    expect(b.epoch).toBe(1);
  });

  it('goes above an old head that came back', async () => {
    const [a, b] = [await confirmed('a'), await confirmed('b')];
    const old = await storedHead();
    const entry = entryAt(positionOf(a));
    await a.append(modelName('m'), 'hard', FAR);
    await grid.set('ledger', { key: 'head', value: old.value }, FAR);
    await a.confirm(FAR);
    await b.confirm(FAR);
    expect(positionOf(a).incarnation.counter).toBe(2);
    expect([a.validity(entry), b.validity(entry)]).toEqual(['invalid', 'invalid']);
  });

  it('tells a fork of equal length by its nonces', async () => {
    const [a, b] = [await confirmed('a'), await confirmed('b')];
    const old = await storedHead();
    await a.append(modelName('m'), 'hard', FAR);
    const lost = entryAt(positionOf(a), { model: 'x' });
    await grid.set('ledger', { key: 'head', value: old.value }, FAR);
    await b.append(modelName('other'), 'hard', FAR);
    expect(b.validity(lost)).toBe('invalid');
    await a.confirm(FAR);
    expect(positionOf(a).incarnation.counter).toBe(2);
  });

  it('tells a fork by the random of an equal counter', async () => {
    const a = await confirmed('a');
    const entry = entryAt(positionOf(a));
    await grid.remove('ledger', 'head', FAR);
    await confirmed('fresh');
    await a.confirm(FAR);
    expect(positionOf(a).incarnation.counter).toBe(2);
    expect(a.validity(entry)).toBe('invalid');
  });

  it('goes above marks of a later incarnation than the head', async () => {
    const mark = { incarnation: { counter: 7, random: 'f'.repeat(16) }, hard: 3, soft: 0 };
    await grid.set('ledger', { key: `mark/${modelName('m')}`, value: encodeMark(mark) }, FAR);
    const ledger = await confirmed('a');
    await ledger.append(modelName('m'), 'hard', FAR);
    expect(positionOf(ledger).incarnation.counter).toBe(8);
    expect(positionOf(ledger).sequence).toBe(1);
  });

  it('does not take its own newer append for a fork of the read under way', async () => {
    const reply = gate<Versioned>();
    let isHeld = false;
    const racing = new Proxy(grid, {
      get: (target, property) => {
        if (property !== 'get' || !isHeld) return (Reflect.get(target, property) as () => unknown).bind(target);
        isHeld = false;
        return () => reply.promise;
      },
    });
    const node = makeLedger('racing', racing);
    await node.confirm(FAR);
    const { incarnation } = positionOf(node);
    const old = await storedHead();
    isHeld = true;
    const confirming = node.confirm(FAR);
    await node.append(modelName('m'), 'hard', FAR);
    reply.resolve(old);
    await confirming;
    expect(positionOf(node)).toMatchObject({ incarnation, sequence: 1 });
    await grid.remove('ledger', 'head', FAR);
    await node.confirm(FAR);
    expect(positionOf(node).incarnation.counter).toBe(incarnation.counter + 1);
  });
});

describe('a node that is far behind', () => {
  it('reads all marks after more appends than the list holds', async () => {
    const [a, b] = [await confirmed('a'), await confirmed('b')];
    const hit = entryAt(positionOf(b));
    const missed = entryAt(positionOf(b), { model: 'untouched' });
    const soft = entryAt(positionOf(b), { model: 'soft' });
    await a.append(modelName('m'), 'hard', FAR);
    await a.append(modelName('soft'), 'soft', FAR);
    for (let index = 0; index < 300; index++) await a.append(entryName(String(index)), 'hard', FAR);
    let resets = 0;
    b.onReset(() => resets++);
    await b.confirm(FAR);
    expect(b.position).toEqual(a.position);
    expect(resets).toBe(1);
    expect([b.validity(hit), b.validity(soft), b.validity(missed)]).toEqual(['invalid', 'stale', 'valid']);
    expect((await headOf()).records).toHaveLength(256);
  });

  it('never goes back to a head whose marks it was reading when it learned of a newer one', async () => {
    const open = gate<undefined>();
    let isHeld = true;
    const slow = new Proxy(grid, {
      get: (target, property) => {
        if (property !== 'scan' || !isHeld) return (Reflect.get(target, property) as () => unknown).bind(target);
        isHeld = false;
        return (...values: Parameters<Grid['scan']>) => open.promise.then(() => grid.scan(...values));
      },
    });
    const [a, b] = [await confirmed('a', { recordsMax: 2 }), makeLedger('b', slow, { recordsMax: 2 })];
    await b.confirm(FAR);
    for (let index = 0; index < 5; index++) await a.append(entryName(String(index)), 'hard', FAR);
    const reading = b.confirm(FAR);
    await clock.settle();
    await grid.remove('ledger', 'head', FAR);
    await a.confirm(FAR);
    await b.confirm(FAR);
    const newer = positionOf(b);
    open.resolve(undefined);
    const seen: LedgerPosition[] = [];
    b.onReset(() => seen.push(positionOf(b)));
    await reading;
    expect(newer.incarnation.counter).toBe(2);
    expect(b.position).toEqual(newer);
    expect(seen).toEqual([]);
  });

  it('knows old marks when it starts', async () => {
    const a = await confirmed('a', { recordsMax: 3 });
    const entry = entryAt(positionOf(a));
    await a.append(modelName('m'), 'hard', FAR);
    for (let index = 0; index < 5; index++) await a.append(entryName(String(index)), 'hard', FAR);
    const fresh = await confirmed('fresh', { recordsMax: 3 });
    expect(fresh.validity(entry)).toBe('invalid');
    expect(fresh.epoch).toBe(0);
  });

  it('begins anew when the list vouches for a mark that is gone', async () => {
    const a = await confirmed('a', { recordsMax: 3 });
    const entry = entryAt(positionOf(a));
    for (const model of ['m', 'b', 'c', 'd', 'e']) await a.append(modelName(model), 'hard', FAR);
    for (const model of ['m', 'b', 'c', 'd', 'e']) await grid.remove('ledger', `mark/${modelName(model)}`, FAR);
    const fresh = await confirmed('fresh', { recordsMax: 3 });
    expect(positionOf(fresh).incarnation.counter).toBe(2);
    expect(fresh.validity(entry)).toBe('invalid');
  });

  it('keeps what it knew when the marks are gone', async () => {
    const [a, b] = [await confirmed('a', { recordsMax: 2 }), await confirmed('b', { recordsMax: 2 })];
    const entry = entryAt(positionOf(b));
    await a.append(modelName('m'), 'hard', FAR);
    await b.confirm(FAR);
    await grid.remove('ledger', `mark/${modelName('m')}`, FAR);
    for (const model of ['b', 'c', 'd', 'e']) await a.append(modelName(model), 'hard', FAR);
    await b.confirm(FAR);
    expect(b.validity(entry)).toBe('invalid');
  });

  it('does not let a mark whose append died outlast the next answers', async () => {
    const a = await confirmed('a', { recordsMax: 2 });
    await a.append(modelName('b'), 'hard', FAR);
    await a.append(modelName('c'), 'hard', FAR);
    await a.append(modelName('d'), 'hard', FAR);
    const position = positionOf(a);
    const mark = { incarnation: position.incarnation, hard: position.sequence + 1, soft: 0 };
    await grid.set('ledger', { key: `mark/${modelName('m')}`, value: encodeMark(mark) }, FAR);
    const fresh = await confirmed('fresh', { recordsMax: 2 });
    expect(fresh.validity(entryAt(position))).toBe('valid');
  });
});

describe('the floor', () => {
  it('rises past the bound of marks, and takes the marks below it out of the grid', async () => {
    const ledger = await confirmed('a', { marksMax: 8 });
    const old = entryAt(positionOf(ledger), { model: 'untouched' });
    for (let index = 0; index < 40; index++) await ledger.append(entryName(String(index)), 'hard', FAR);
    await clock.settle();
    const { floor, sequence } = await headOf();
    expect(floor).toBeGreaterThan(0);
    expect(floor).toBeLessThanOrEqual(sequence);
    expect(ledger.validity(old)).toBe('invalid');
    expect(ledger.validity(entryAt(positionOf(ledger)))).toBe('valid');
    expect(await grid.size('ledger', FAR)).toBeLessThanOrEqual(1 + 8);
  });

  it('is obeyed by a node that starts later', async () => {
    const a = await confirmed('a', { marksMax: 8 });
    const old = entryAt(positionOf(a), { model: 'untouched' });
    for (let index = 0; index < 40; index++) await a.append(entryName(String(index)), 'hard', FAR);
    await clock.settle();
    const fresh = await confirmed('fresh');
    expect(fresh.validity(old)).toBe('invalid');
  });

  it('leaves the marks above it to those who start later', async () => {
    const a = await confirmed('a', { marksMax: 8, recordsMax: 2 });
    for (let index = 0; index < 9; index++) await a.append(entryName(String(index)), 'hard', FAR);
    await clock.settle();
    const { floor } = await headOf();
    const position = positionOf(a);
    for (const model of ['m', 'x', 'y']) await a.append(modelName(model), 'hard', FAR);
    const fresh = await confirmed('fresh', { recordsMax: 2 });
    expect(floor).toBeGreaterThan(0);
    expect(fresh.validity(entryAt(position))).toBe('invalid');
    expect(fresh.validity(entryAt(position, { model: 'untouched' }))).toBe('valid');
    expect(await grid.size('ledger', FAR)).toBe(1 + 9 + 3 - floor);
  });

  it('that fell back shows a head from another time', async () => {
    const a = await confirmed('a');
    await a.append(modelName('m'), 'hard', FAR);
    const found = await storedHead();
    const head = await headOf();
    await grid.set('ledger', { key: 'head', value: encodeHead({ ...head, floor: 1 }) }, FAR);
    await a.confirm(FAR);
    await grid.set('ledger', { key: 'head', value: found.value }, FAR);
    await a.confirm(FAR);
    expect(positionOf(a).incarnation.counter).toBe(2);
  });

  it('leaves no mark of an earlier incarnation in the grid', async () => {
    const a = await confirmed('a');
    const old = await storedHead();
    for (let index = 0; index < 20; index++) await a.append(entryName(String(index)), 'hard', FAR);
    await grid.set('ledger', { key: 'head', value: old.value }, FAR);
    await a.confirm(FAR);
    await clock.settle();
    expect(await grid.size('ledger', FAR)).toBe(1);
  });
});

describe('flights and cached entries', () => {
  it('an invalidation of its names, and of no others, changes a flight position', async () => {
    const ledger = await confirmed('a');
    const names = entryAt(positionOf(ledger));
    const before = ledger.flightPosition(names);
    await ledger.append(modelName('other'), 'hard', FAR);
    expect(ledger.flightPosition(names)).toBe(before);
    await ledger.append(tagName('t', 'g'), 'soft', FAR);
    expect(ledger.flightPosition(names)).not.toBe(before);
    expect(ledger.lastMark(names)).toBe(2);
  });

  it('a revision stands for as long as nothing changed', async () => {
    const ledger = await confirmed('a');
    const { revision } = ledger;
    await ledger.confirm(FAR);
    expect(ledger.validSince(revision)).toBe(true);
    await ledger.append(modelName('m'), 'hard', FAR);
    expect(ledger.validSince(revision)).toBe(false);
  });

  it('an answer is marked since only by what came after its position', async () => {
    const ledger = await confirmed('a');
    await ledger.append(modelName('m'), 'hard', FAR);
    const answer = entryAt(positionOf(ledger));
    await ledger.append(modelName('other'), 'hard', FAR);
    expect(ledger.markedSince(answer)).toBe(false);
    await ledger.append(modelName('m'), 'hard', FAR);
    expect(ledger.markedSince(answer)).toBe(true);
  });

  it('an entry ahead of this node is judged by what this node knows', async () => {
    const [a, b] = [await confirmed('a'), await confirmed('b')];
    await a.append(modelName('m'), 'hard', FAR);
    expect(b.validity(entryAt(positionOf(a)))).toBe('valid');
  });
});
