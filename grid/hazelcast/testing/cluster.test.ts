import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { Client, type ClientConfig } from 'hazelcast-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive } from '../launcher-state.ts';
import { membersSeenBy } from '../member-probe.ts';
import { testCluster, unavailable, type TestCluster } from './cluster.ts';

const quiet = (): void => undefined;
const PAUSE_MS = 300;

describe.skipIf(unavailable() !== undefined)('testCluster', { timeout: 60_000 }, () => {
  let cluster: TestCluster;
  let client: Client;

  /** How many members each member sees. */
  const views = (): Promise<number[]> =>
    Promise.all(
      cluster.members.map(async ({ address }) => {
        const seen = await membersSeenBy({ address, clusterName: cluster.clusterName, limitMs: 2_000 });
        return seen?.length ?? 0;
      }),
    );

  beforeAll(async () => {
    cluster = await testCluster({ proxied: true });
    const config: ClientConfig = {
      clusterName: cluster.clusterName,
      network: { clusterMembers: [...cluster.addresses], connectionTimeout: 2_000 },
      customLogger: { log: quiet, error: quiet, warn: quiet, info: quiet, debug: quiet, trace: quiet },
      properties: { 'hazelcast.client.invocation.timeout.millis': 3_000 },
    };
    client = await Client.newHazelcastClient(config);
  }, 120_000);
  afterAll(async () => {
    await client?.shutdown();
    await cluster?.close();
  });

  it('starts members that have joined and advertise their proxies', async () => {
    expect(await views()).toEqual([3, 3, 3]);
    const told = client
      .getCluster()
      .getMembers()
      .map(({ address }) => address.toString());
    expect(told.toSorted()).toEqual([...cluster.addresses].toSorted());
  });

  it("lets faults hit nodes' connections", async () => {
    const map = await client.getMap<string, string>('reprise.entries');
    const keys = Array.from({ length: 50 }, (_, index) => `key-${index}`);
    await Promise.all(keys.map((key) => map.set(key, key)));
    const slowestMs = async (): Promise<number> => {
      const startedAtMs = performance.now();
      await Promise.all(keys.map((key) => map.get(key)));
      return performance.now() - startedAtMs;
    };
    cluster.setFault(1, { kind: 'delay', ms: PAUSE_MS });
    expect(await slowestMs()).toBeGreaterThan(2 * PAUSE_MS - 20);
    cluster.heal();
    expect(await slowestMs()).toBeLessThan(2 * PAUSE_MS);
  });

  it('keeps the ledger when two of three are killed at once, once a majority is back', async () => {
    const ledger = await client.getMap<string, string>('reprise.ledger');
    const keys = Array.from({ length: 100 }, (_, index) => `mark-${index}`);
    await Promise.all(keys.map((key) => ledger.set(key, 'raised')));
    await Promise.all([cluster.kill(0), cluster.kill(2)]);
    await expect.poll(views, { timeout: 20_000, interval: 100 }).toEqual([0, 1, 0]);
    await expect(ledger.get('mark-0')).rejects.toThrow();
    await cluster.restart(0, 2);
    await expect.poll(() => ledger.get('mark-0').catch(() => null), { timeout: 10_000 }).toBe('raised');
    expect(await Promise.all(keys.map((key) => ledger.get(key)))).toEqual(keys.map(() => 'raised'));
    await cluster.restart(2, 3);
  });

  it('splits members from each other, and only a majority has the ledger', async () => {
    const ledger = await client.getMap<string, string>('reprise.ledger');
    await ledger.set('head', 'one');
    cluster.split([[0, 1], [2]]);
    await expect.poll(views, { timeout: 30_000, interval: 200 }).toEqual([2, 2, 1]);
    const apart = await Client.newHazelcastClient({
      clusterName: cluster.clusterName,
      network: { clusterMembers: [cluster.members[2]!.address], smartRouting: false },
      customLogger: { log: quiet, error: quiet, warn: quiet, info: quiet, debug: quiet, trace: quiet },
      properties: { 'hazelcast.client.invocation.timeout.millis': 1_000 },
    });
    try {
      const there = await apart.getMap<string, string>('reprise.ledger');
      await expect(there.get('head')).rejects.toThrow(/[Ss]plit brain protection/);
      await expect(there.set('head', 'two')).rejects.toThrow(/[Ss]plit brain protection/);
      const entries = await apart.getMap<string, string>('reprise.entries');
      await entries.set('of the minority', 'discarded');
      const control = await apart.getMap<string, string>('reprise.control');
      await control.set('of the minority', 'kept');
    } finally {
      await apart.shutdown();
    }
    cluster.heal();
    await expect.poll(views, { timeout: 45_000, interval: 200 }).toEqual([3, 3, 3]);
    await expect.poll(() => ledger.get('head'), { timeout: 10_000 }).toBe('one');
    const control = await client.getMap<string, string>('reprise.control');
    await expect.poll(() => control.get('of the minority'), { timeout: 10_000 }).toBe('kept');
    const entries = await client.getMap<string, string>('reprise.entries');
    expect(await entries.get('of the minority')).toBeNull();
  });

  it('pauses a member, resumes it, and leaves nothing behind when it closes', async () => {
    const processes = cluster.members.map(({ process }) => process);
    const folder = dirname(cluster.members[0]!.logFile);
    cluster.pause(1);
    expect(await membersSeenBy({ ...cluster, address: cluster.members[1]!.address, limitMs: 500 })).toBeUndefined();
    cluster.resume(1);
    await expect.poll(async () => (await views())[1], { timeout: 10_000 }).toBeGreaterThan(0);
    cluster.pause(1);
    await cluster.close();
    expect(await Promise.all(processes.map((member) => isAlive(member)))).toEqual([false, false, false]);
    expect(existsSync(folder)).toBe(false);
  });
});
