import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SystemClock } from '../../runtime/host/system-clock.ts';
import { SystemRandom } from '../../runtime/host/system-random.ts';
import type { GridEvent } from '../../runtime/ports/grid.ts';
import type { Lookup } from './addresses.ts';
import type { HazelcastOptions } from './options.ts';
import { testCluster, type TestCluster, unavailable } from './testing/cluster.ts';
import { openTestGrid, type TestGrid } from './testing/test-grid.ts';

const missing = unavailable();
const left = missing === undefined ? '' : ` (left out: ${missing})`;
const clock = new SystemClock();
const VALUE = Buffer.from('1');
const RANGE = { scope: 'ab'.repeat(32), codeFrom: 0, codeTo: 9 };
/** How much later than its deadline a call may be seen to end on a busy machine. */
const LATE_MS = 500;
const RETURN_MS = 20_000;

let cluster: TestCluster;
const opened: TestGrid[] = [];

function open(options: Partial<HazelcastOptions> = {}, lookup?: Lookup): TestGrid {
  const deps = { clock, random: new SystemRandom(), ...(lookup !== undefined && { lookup }) };
  const made = openTestGrid(deps, { members: cluster.addresses, clusterName: cluster.clusterName, ...options });
  opened.push(made);
  return made;
}

async function up({ grid }: TestGrid): Promise<void> {
  await expect.poll(() => grid.health().state, { timeout: RETURN_MS }).toBe('up');
}

/** Waits until a write is heard, repeating it: what is listened to is heard from some moment on. */
async function heard({ grid, within }: TestGrid, events: readonly GridEvent[]): Promise<void> {
  const before = events.length;
  const isHeard = async (): Promise<boolean> => {
    await grid.set('control', { key: 'told', value: VALUE }, within());
    return events.slice(before).some((event) => event.kind === 'set' && event.key === 'told');
  };
  await expect.poll(isHeard, { timeout: 10_000 }).toBe(true);
}

async function timed(call: Promise<unknown>): Promise<{ readonly code: string; readonly ms: number }> {
  const startedMs = clock.monotonicMs();
  const code = await call.then(
    () => 'none',
    (error: unknown) => (error as { code: string }).code,
  );
  return { code, ms: clock.monotonicMs() - startedMs };
}

function listenTo({ grid }: TestGrid): GridEvent[] {
  const events: GridEvent[] = [];
  grid.listen('control', (event) => events.push(event));
  return events;
}

describe.skipIf(missing !== undefined)(`HazelcastGrid and outages${left}`, () => {
  beforeAll(async () => {
    cluster = await testCluster({ members: 1, proxied: true });
  }, 60_000);
  afterEach(async () => {
    cluster.heal();
    await Promise.all(opened.splice(0).map(({ grid }) => grid.close()));
  });
  afterAll(() => cluster?.close());

  it('ends calls by their deadlines while a member is stopped, and goes on when it is back', async () => {
    const made = open();
    await up(made);
    cluster.pause(0);
    try {
      const calls = [
        made.grid.get('entries', 'k', made.within(200)),
        made.grid.setAll('entries', [{ key: 'k', value: VALUE }], made.within(300)),
        made.grid.query('vectors', RANGE, { limit: 1 }, made.within(400)),
      ];
      for (const { code, ms } of await Promise.all(calls.map(timed))) {
        expect(code).toBe('grid_timeout');
        expect(ms).toBeLessThan(400 + LATE_MS);
      }
      expect(made.grid.pendingCalls).toBe(0);
    } finally {
      cluster.resume(0);
    }
    await expect
      .poll(async () => (await timed(made.grid.size('entries', made.within(1_000)))).code, { timeout: RETURN_MS })
      .toBe('none');
  });

  it('closes a connection that is silent, fails what waits on it, and connects again when it is not', async () => {
    const made = open();
    await up(made);
    cluster.setFault(0, { kind: 'stall', direction: 'both' });
    const { code, ms } = await timed(made.grid.get('entries', 'k', made.within(20_000)));
    expect(code).toBe('grid_unavailable');
    expect(ms).toBeLessThan(10_000);
    expect(made.grid.health().state).toBe('down');
    cluster.heal();
    await up(made);
    expect((await timed(made.grid.get('entries', 'k', made.within()))).code).toBe('none');
  });

  it('tells listeners that they may have missed something when connections were cut, and is heard again', async () => {
    const made = open();
    const events = listenTo(made);
    await up(made);
    await heard(made, events);
    const before = events.length;
    cluster.cut(0);
    await expect
      .poll(() => events.slice(before).some(({ kind }) => kind === 'lost'), { timeout: RETURN_MS })
      .toBe(true);
    await up(made);
    await heard(made, events);
  });

  it('outlives the loss of all members, and serves their successors', async () => {
    const made = open();
    const events = listenTo(made);
    await up(made);
    await made.grid.set('entries', { key: 'k', value: VALUE }, made.within());
    await made.grid.set(
      'vectors',
      { key: 'v', value: VALUE, attributes: { scope: RANGE.scope, code: 1 } },
      made.within(),
    );
    await heard(made, events);
    await cluster.kill(0);
    await expect.poll(() => made.grid.health().state).toBe('down');
    const failed = await timed(made.grid.get('entries', 'k', made.within()));
    expect(failed.code).toBe('grid_unavailable');
    expect(failed.ms).toBeLessThan(LATE_MS);
    expect(made.grid.ownerOf('entries', 'k')).toBe('none');
    await cluster.restart(0);
    await up(made);
    expect(await made.grid.get('entries', 'k', made.within())).toBeUndefined();
    await made.grid.set(
      'vectors',
      { key: 'v', value: VALUE, attributes: { scope: RANGE.scope, code: 1 } },
      made.within(),
    );
    expect((await made.grid.query('vectors', RANGE, { limit: 2 }, made.within())).items).toHaveLength(1);
    await heard(made, events);
    expect(made.telemetry.count('reprise_grid_connections_total', 'connected')).toBe(2);
    expect(made.telemetry.count('reprise_grid_connections_total', 'lost')).toBe(1);
  });

  it('waits for members that start later, whose names are not even known yet', async () => {
    const port = cluster.addresses[0]?.split(':')[1] ?? '';
    const host = cluster.addresses[0]?.split(':')[0] ?? '';
    const answers = [undefined, ['127.0.0.9'], ['127.0.0.9', host]];
    let asked = 0;
    const made = open({ members: [`grid.test:${port}`] }, (name) => {
      expect(name).toBe('grid.test');
      const answer = answers[Math.min(asked, answers.length - 1)];
      asked += 1;
      return answer === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(answer);
    });
    const events = listenTo(made);
    expect(made.grid.health().state).toBe('down');
    expect((await timed(made.grid.get('entries', 'k', made.within()))).code).toBe('grid_unavailable');
    await up(made);
    expect(asked).toBeGreaterThanOrEqual(3);
    await heard(made, events);
  });

  it('closes while it connects, soon and without a trace', async () => {
    cluster.setFault(0, { kind: 'stall', direction: 'both' });
    const made = open();
    await expect.poll(() => process.getActiveResourcesInfo().includes('TCPSocketWrap')).toBe(true);
    const { code, ms } = await timed(made.grid.close());
    expect(code).toBe('none');
    expect(ms).toBeLessThan(5_000);
    expect(made.telemetry.count('reprise_grid_connected')).toBe(0);
  });
});
