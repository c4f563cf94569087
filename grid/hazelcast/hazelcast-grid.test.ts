import { getEventListeners } from 'node:events';
import { Client, Fields, type GenericRecord, GenericRecords, type IMap } from 'hazelcast-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../runtime/host/system-clock.ts';
import { SystemRandom } from '../../runtime/host/system-random.ts';
import type { GridItem, GridRole, PageRequest } from '../../runtime/ports/grid.ts';
import { gridContract } from '../conformance/grid-contract.ts';
import { ttlOf } from './hazelcast-grid.ts';
import { GRID_ROLES, MAP_NAMES } from './map-names.ts';
import type { HazelcastOptions, SealKey } from './options.ts';
import { testCluster, type TestCluster, unavailable } from './testing/cluster.ts';
import { openTestGrid, TEST_KEY, type TestGrid } from './testing/test-grid.ts';

const missing = unavailable();
const left = missing === undefined ? '' : ` (left out: ${missing})`;
const deps = { clock: new SystemClock(), random: new SystemRandom() };
/** Longer than a member takes to tell its listeners. */
const SETTLE_MS = 200;
const OTHER_KEY: SealKey = { id: 'other', key: new Uint8Array(32).fill(7) };

let cluster: TestCluster;
/** A client that knows nothing of ours, as any service has one. */
let raw: Client;
const opened: TestGrid[] = [];

async function connected(options: Partial<HazelcastOptions> = {}): Promise<TestGrid> {
  const made = openTestGrid(deps, { members: cluster.addresses, clusterName: cluster.clusterName, ...options });
  opened.push(made);
  await expect.poll(() => made.grid.health().state, { interval: 5, timeout: 10_000 }).toBe('up');
  return made;
}

function rawMap(role: GridRole): Promise<IMap<string, unknown>> {
  return raw.getMap(MAP_NAMES[role]);
}

function item(key: string, text: string, more: Partial<GridItem> = {}): GridItem {
  return { key, value: Buffer.from(text), ...more };
}

async function text({ grid, within }: TestGrid, role: GridRole, key: string): Promise<string | undefined> {
  const found = await grid.get(role, key, within());
  return found === undefined ? undefined : Buffer.from(found.value).toString();
}

describe.skipIf(missing !== undefined)(`HazelcastGrid on a member${left}`, () => {
  beforeAll(async () => {
    cluster = await testCluster({ members: 1 });
    raw = await Client.newHazelcastClient({
      clusterName: cluster.clusterName,
      network: { clusterMembers: [...cluster.addresses] },
      properties: { 'hazelcast.logging.level': 'OFF' },
      serialization: { customSerializers: [{ id: 42, read: () => ({ hzCustomId: 42 }), write: () => undefined }] },
    });
  }, 60_000);

  beforeEach(async () => {
    for (const role of GRID_ROLES) await (await rawMap(role)).clear();
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map(({ grid }) => grid.close()));
  });

  afterAll(async () => {
    await raw?.shutdown();
    await cluster?.close();
  });

  gridContract(
    'HazelcastGrid',
    async () => {
      const { grid } = await connected();
      return {
        grid,
        monotonicMs: () => deps.clock.monotonicMs(),
        advance: (ms: number) => deps.clock.sleep(ms),
        settle: () => deps.clock.sleep(SETTLE_MS),
        close: () => grid.close(),
      };
    },
    { ttlResolutionMs: 1_000 },
  );

  describe('what members hold', () => storedContract());
  describe('values that can not be read', () => unreadableContract());
  describe('large batches and ranges', () => sizesContract());
  describe('life', () => lifeContract());
});

function storedContract(): void {
  it.each(GRID_ROLES)('shows no text of role %s, under plain keys', async (role) => {
    const made = await connected();
    const secret = 'the patient takes warfarin '.repeat(100);
    await made.grid.set(role, item('k', secret), made.within());
    const stored = await (await rawMap(role)).get('k');
    const bytes =
      role === 'vectors' ? (stored as { getArrayOfInt8(name: string): Buffer }).getArrayOfInt8('value') : stored;
    expect(Buffer.isBuffer(bytes)).toBe(true);
    expect((bytes as Buffer).includes('warfarin')).toBe(false);
    expect(await text(made, role, 'k')).toBe(secret);
  });

  it('is the text itself where nothing is sealed or compressed', async () => {
    const made = await connected({ seal: undefined, compressBytesMin: Infinity });
    await made.grid.set('entries', item('k', 'in clear'), made.within());
    expect(((await (await rawMap('entries')).get('k')) as Buffer).toString('latin1')).toContain('in clear');
  });

  it('finds vectors by a position in clear', async () => {
    const made = await connected();
    const attributes = { scope: 'ab'.repeat(32), code: 0xbeef };
    await made.grid.set('vectors', item('v', '1', { attributes }), made.within());
    const record = (await (await rawMap('vectors')).get('v')) as { getString(name: string): string };
    expect(record.getString('position')).toBe(`${attributes.scope}0000beef`);
    expect(await made.grid.get('vectors', 'v', made.within())).toMatchObject({ attributes });
  });

  it.each([
    [undefined, 0],
    [Infinity, 0],
    [0, 1_000],
    [1, 1_000],
    [1_000, 1_000],
    [1_001, 2_000],
  ])('lives %s ms as %i whole ones', (ttlMs, expected) => {
    expect(ttlOf(ttlMs === undefined ? {} : { ttlMs })).toBe(expected);
  });

  it('is owned by the member that holds it, by name', async () => {
    const { grid } = await connected();
    expect(grid.ownerOf('entries', 'a')).toBe(raw.getCluster().getMembers()[0]?.uuid.toString());
    expect(grid.ownerOf('entries', 'k'.repeat(5_000))).toBe(grid.ownerOf('entries', 'a'));
  });
}

function noiseRecord(): GenericRecord {
  return GenericRecords.compact(
    'reprise.vector.v1',
    { position: Fields.STRING, value: Fields.ARRAY_OF_INT8 },
    { position: '', value: Buffer.from('noise') },
  );
}

function unreadableContract(): void {
  it('are absent and counted: tampered bytes, bytes of others, other types', async () => {
    const made = await connected();
    const map = await rawMap('entries');
    await made.grid.set('entries', item('tampered', '1'), made.within());
    const bytes = Buffer.from((await map.get('tampered')) as Buffer);
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    await map.set('tampered', bytes);
    await map.set('noise', Buffer.from('noise'));
    await map.set('text', 'a string');
    await map.set('object', { hzCustomId: 42 });
    await made.grid.set('entries', item('fine', '1'), made.within());
    const keys = ['tampered', 'noise', 'text', 'object', 'fine'];
    expect(await Promise.all(keys.map((key) => text(made, 'entries', key)))).toEqual([...Array<undefined>(4), '1']);
    expect([...(await made.grid.getAll('entries', keys, made.within())).keys()]).toEqual(['fine']);
    expect((await made.grid.scan('entries', { limit: 9 }, made.within())).items.map(({ key }) => key)).toEqual([
      'fine',
    ]);
    const counted = ['seal', 'layout', 'type'].map((reason) =>
      made.telemetry.count('reprise_grid_unreadable_total', 'entries', reason),
    );
    expect(counted).toEqual([3, 3, 6]);
    expect(await made.grid.remove('entries', 'object', made.within())).toBe(true);
  });

  it('are what another key sealed, until this node is given it', async () => {
    const before = await connected();
    await before.grid.set('entries', item('k', '1'), before.within());
    const rotated = await connected({ seal: { active: OTHER_KEY, others: [TEST_KEY] } });
    expect(await text(rotated, 'entries', 'k')).toBe('1');
    await rotated.grid.set('entries', item('k', '2'), rotated.within());
    expect(await text(before, 'entries', 'k')).toBeUndefined();
    expect(before.telemetry.count('reprise_grid_unreadable_total', 'entries', 'key')).toBe(1);
  });

  it('can not be moved to another key', async () => {
    const made = await connected();
    await made.grid.set('control', item('a', '1'), made.within());
    const map = await rawMap('control');
    await map.set('b', await map.get('a'));
    expect(await text(made, 'control', 'b')).toBeUndefined();
  });

  it.each(GRID_ROLES)('give way in role %s when they are damaged', async (role) => {
    const made = await connected();
    const map = await rawMap(role);
    await map.set('noise', role === 'vectors' ? noiseRecord() : Buffer.from('noise'));
    // Members take nothing into the map of vectors that they can't index.
    if (role !== 'vectors') await map.set('object', { hzCustomId: 42 });
    for (const key of role === 'vectors' ? ['noise'] : ['noise', 'object']) {
      expect((await made.grid.putIfAbsent(role, item(key, '1', { ttlMs: 60_000 }), made.within())).stored).toBe(true);
      expect(await text(made, role, key)).toBe('1');
      expect((await map.getEntryView(key)).ttl.toNumber()).toBe(60_000);
    }
  });

  it.each([
    ['entries', true],
    ['vectors', true],
    ['members', true],
    ['ledger', false],
    ['control', false],
  ] as const)('of another key give way in role %s: %s', async (role, givesWay) => {
    const other = await connected({ seal: { active: OTHER_KEY, others: [] } });
    const made = await connected();
    await other.grid.set(role, item('k', 'theirs'), other.within());
    const put = made.grid.putIfAbsent(role, item('k', 'ours'), made.within());
    if (givesWay) await expect(put).resolves.toMatchObject({ stored: true });
    else await expect(put).rejects.toMatchObject({ code: 'grid_unavailable' });
    expect(await text(other, role, 'k')).toBe(givesWay ? undefined : 'theirs');
  });

  it('stay visible in walks of the ledger and of control records, as empty values', async () => {
    const made = await connected();
    for (const role of GRID_ROLES.filter((each) => each !== 'vectors')) {
      await (await rawMap(role)).set('noise', Buffer.from('noise'));
      const { items } = await made.grid.scan(role, { limit: 9 }, made.within());
      const expected = role === 'ledger' || role === 'control' ? [{ key: 'noise', value: new Uint8Array(0) }] : [];
      expect(items).toEqual(expected);
    }
  });
}

function sizesContract(): void {
  const SCOPE = 'c'.repeat(64);

  async function walkCodes({ grid, within }: TestGrid, limit: number): Promise<string[]> {
    const keys: string[] = [];
    let page: PageRequest | undefined = { limit };
    while (page !== undefined) {
      const { items, next } = await grid.query(
        'vectors',
        { scope: SCOPE, codeFrom: 0, codeTo: 0xffffffff },
        page,
        within(),
      );
      keys.push(...items.map(({ key }) => key));
      page = next === undefined ? undefined : { limit, after: next };
    }
    return keys;
  }

  it('walks codes that are unevenly filled, one with more rows than are fetched at once', async () => {
    const made = await connected();
    const codes = [
      ...Array<number>(700).fill(5),
      ...Array.from({ length: 900 }, (_, at) => at),
      0x7fffffff,
      0xffffffff,
    ];
    const items = codes.map((code, at) =>
      item(String(at).padStart(4, '0'), '1', { attributes: { scope: SCOPE, code } }),
    );
    await made.grid.setAll('vectors', items, made.within(10_000));
    const expected = items
      .toSorted((a, b) => (a.attributes?.code ?? 0) - (b.attributes?.code ?? 0))
      .map(({ key }) => key);
    expect(await walkCodes(made, 50)).toEqual(expected);
  });

  it('reads and writes thousands of items at once', async () => {
    const made = await connected();
    const items = Array.from({ length: 2_500 }, (_, at) => item(`k${at}`, String(at)));
    await made.grid.setAll('entries', items, made.within(10_000));
    const found = await made.grid.getAll(
      'entries',
      items.map(({ key }) => key),
      made.within(10_000),
    );
    expect([...found.keys()]).toEqual(items.map(({ key }) => key));
    expect(await made.grid.size('entries', made.within())).toBe(2_500);
  });

  it('keeps a value of a megabyte', async () => {
    const made = await connected();
    const large = 'large '.repeat(180_000);
    await made.grid.set('entries', item('k', large), made.within());
    expect(await text(made, 'entries', 'k')).toBe(large);
  });
}

function lifeContract(): void {
  it('leaves no socket, call or listener behind', async () => {
    const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
    const before = sockets();
    const made = await connected();
    const { signal } = new AbortController();
    made.grid.listen('entries', () => undefined);
    await made.grid.set('entries', item('k', '1'), { ...made.within(), signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    const under = made.grid.get('entries', 'k', made.within());
    await made.grid.close();
    await expect(under).rejects.toMatchObject({ code: 'grid_unavailable' });
    expect(made.grid.pendingCalls).toBe(0);
    await expect.poll(sockets).toBe(before);
    expect(made.telemetry.count('reprise_grid_connected')).toBe(0);
  });

  it('lets go of a signal when a call fails', async () => {
    const made = await connected();
    const controller = new AbortController();
    const call = made.grid.get('entries', 'k', { ...made.within(), signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('tells who is missing', async () => {
    const made = openTestGrid(deps, {
      members: cluster.addresses,
      clusterName: cluster.clusterName,
      membersExpected: 3,
    });
    opened.push(made);
    await expect.poll(() => made.grid.health()).toEqual({ state: 'degraded', detail: '1 of 3 members', members: 1 });
  });

  it('says why it is not let in', async () => {
    const made = openTestGrid(deps, { members: cluster.addresses, clusterName: 'another' });
    opened.push(made);
    await expect.poll(() => made.grid.health().detail).toContain('cluster name');
    await expect(made.grid.get('entries', 'k', made.within())).rejects.toMatchObject({ code: 'grid_unavailable' });
    expect(made.telemetry.logged.filter((line) => line === 'warn grid not reached')).toHaveLength(1);
  });
}
