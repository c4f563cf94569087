import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { majorityOf, memberArguments } from './member-arguments.ts';
import { memberFiles } from './member-files.ts';

interface MapConfig {
  readonly 'in-memory-format': string;
  readonly 'backup-count': number;
  readonly eviction: Readonly<Record<string, unknown>>;
  readonly 'time-to-live-seconds'?: number;
  readonly 'max-idle-seconds'?: number;
  readonly 'split-brain-protection-ref'?: string;
  readonly 'merge-policy': { readonly 'class-name': string };
  readonly indexes?: readonly { readonly type: string; readonly attributes: readonly string[] }[];
}

const text = readFileSync(memberFiles().config, 'utf8');
const { hazelcast } = parse(text) as {
  readonly hazelcast: {
    readonly map: Readonly<Record<string, MapConfig>>;
    readonly properties: Readonly<Record<string, unknown>>;
    readonly 'split-brain-protection': unknown;
    readonly network: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
};
const map = (role: string): MapConfig => hazelcast.map[`reprise.${role}`] as MapConfig;

const SETTINGS = {
  jar: '/lib/hazelcast.jar',
  clusterName: 'reprise',
  host: '127.0.0.1',
  port: 5_701,
  members: ['127.0.0.1:5701', '127.0.0.1:5702'],
  membersExpected: 3,
  heapMb: 512,
  token: 'token',
};

describe('hazelcast.yaml', () => {
  it('configures every role of the grid', () => {
    expect(Object.keys(hazelcast.map).toSorted()).toEqual(
      ['control', 'entries', 'ledger', 'members', 'vectors'].map((role) => `reprise.${role}`),
    );
    for (const { 'in-memory-format': format } of Object.values(hazelcast.map)) expect(format).toBe('BINARY');
  });

  it('bounds entries and vectors by a share of the heap that leaves room to work in', () => {
    const shares = ['entries', 'vectors'].map((role) => {
      const { eviction, 'backup-count': backups } = map(role);
      expect(eviction).toMatchObject({ 'eviction-policy': 'LRU', 'max-size-policy': 'USED_HEAP_PERCENTAGE' });
      expect(backups).toBe(1);
      return Number(eviction['size']);
    });
    expect(shares[0]! + shares[1]!).toBeLessThanOrEqual(50);
  });

  it.each(['ledger', 'control', 'members'])('never lets go of what %s holds', (role) => {
    expect(map(role)).toMatchObject({
      'backup-count': 2,
      eviction: { 'eviction-policy': 'NONE' },
      'time-to-live-seconds': 0,
      'max-idle-seconds': 0,
    });
  });

  it('protects the ledger, and nothing else, by a majority', () => {
    expect(hazelcast['split-brain-protection']).toEqual({
      majority: {
        enabled: '${reprise.protected}',
        'minimum-cluster-size': '${reprise.majority}',
        'protect-on': 'READ_WRITE',
      },
    });
    const refs = Object.entries(hazelcast.map).filter(
      ([, config]) => config['split-brain-protection-ref'] === 'majority',
    );
    expect(refs.map(([name]) => name)).toEqual(['reprise.ledger']);
  });

  it('merges as each role can bear it', () => {
    const policies = Object.entries(hazelcast.map).map(([name, config]) => [
      name,
      config['merge-policy']['class-name'],
    ]);
    expect(Object.fromEntries(policies)).toEqual({
      'reprise.entries': 'DiscardMergePolicy',
      'reprise.vectors': 'DiscardMergePolicy',
      'reprise.ledger': 'DiscardMergePolicy',
      'reprise.control': 'PutIfAbsentMergePolicy',
      'reprise.members': 'PutIfAbsentMergePolicy',
    });
  });

  it('takes silent members out and looks for other halves after 10 s, and tells nobody outside', () => {
    expect(hazelcast.properties).toMatchObject({
      'hazelcast.max.no.heartbeat.seconds': 10,
      'hazelcast.merge.first.run.delay.seconds': 10,
      'hazelcast.merge.next.run.delay.seconds': 10,
      'hazelcast.phone.home.enabled': false,
      'hazelcast.shutdownhook.policy': 'GRACEFUL',
    });
    expect(hazelcast.network['join']).toMatchObject({ multicast: { enabled: false } });
    expect(hazelcast.network['rest-api']).toEqual({ enabled: false });
  });

  it('has one index over scope and code', () => {
    expect(map('vectors').indexes).toMatchObject([{ type: 'SORTED', attributes: ['position'] }]);
  });

  it('asks for no property that its head does not name and the launcher does not give', () => {
    const asked = new Set([...text.matchAll(/\$\{([^}]+)\}/g)].map(([, name]) => name));
    const head = text.slice(0, text.indexOf('\nhazelcast:'));
    const given = memberArguments(SETTINGS).join(' ');
    expect(asked.size).toBeGreaterThan(0);
    for (const name of asked) {
      expect(head).toContain(`#   ${name} `);
      expect(given).toContain(`-D${name}=`);
    }
  });
});

describe('the arguments of a member', () => {
  it.each([
    [1, false, 2],
    [2, true, 2],
    [3, true, 2],
    [4, true, 3],
    [5, true, 3],
  ])('of %i expected: protected %s, majority %i', (membersExpected, isProtected, majority) => {
    const given = memberArguments({ ...SETTINGS, membersExpected });
    expect(given).toContain(`-Dreprise.protected=${isProtected}`);
    expect(given).toContain(`-Dreprise.majority=${majority}`);
    if (isProtected) expect(majorityOf(membersExpected)).toBe(majority);
  });

  it('bind one address only and advertise another where one is given', () => {
    const given = memberArguments({ ...SETTINGS, publicAddress: '127.0.0.1:6001' });
    expect(given).toContain('-Dhazelcast.local.localAddress=127.0.0.1');
    expect(given).toContain('-Dhazelcast.socket.bind.any=false');
    expect(given).toContain('-Dhazelcast.local.publicAddress=127.0.0.1:6001');
    expect(memberArguments(SETTINGS).join(' ')).not.toContain('publicAddress');
  });

  it('name the version of the client', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    expect(memberFiles().version).toBe(dependencies['hazelcast-client']);
  });
});
