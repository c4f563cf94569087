import { describe, expect, it } from 'vitest';
import { describeConfig } from './describe.ts';
import { loadConfig } from './load.ts';
import type { Config } from './config.ts';
import type { SettingsInput } from './schema.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');
const OTHER = Buffer.alloc(32, 9).toString('base64');

function load(env: Record<string, string>, overrides: SettingsInput = {}): Config {
  return loadConfig({ file: false, env, overrides });
}

describe('the grid', () => {
  it('is in this process unless told otherwise', () => {
    const { grid, node } = load({});
    expect([grid.kind, grid.topology, node.cache.l1]).toEqual(['memory', 'sidecar', 'auto']);
  });

  it('is Hazelcast where members are named, with a near cache above it', () => {
    const { grid, node } = load({ REPRISE_GRID_MEMBERS: '127.0.0.1, localhost:5702,[::1]' });
    expect([grid.kind, grid.topology, node.cache.l1]).toEqual(['hazelcast', 'hybrid', 'auto']);
    expect(grid.hazelcast.members).toEqual(['127.0.0.1:5701', 'localhost:5702', '[::1]:5701']);
  });

  it('stays in memory where members are named and REPRISE_GRID says so', () => {
    expect(load({ REPRISE_GRID_MEMBERS: '127.0.0.1', REPRISE_GRID: 'memory' }).grid.kind).toBe('memory');
  });

  it('has no near cache where it is centralised', () => {
    const env = { REPRISE_GRID_MEMBERS: '127.0.0.1', REPRISE_GRID_TOPOLOGY: 'centralised' };
    expect(load(env).node.cache.l1).toBe('off');
  });

  it.each<[string, Record<string, string>, SettingsInput, RegExp]>([
    ['hybrid in memory', { REPRISE_GRID_TOPOLOGY: 'hybrid' }, {}, /needs a grid beyond this process/u],
    [
      'sidecar on Hazelcast',
      { REPRISE_GRID: 'hazelcast', REPRISE_GRID_TOPOLOGY: 'sidecar' },
      {},
      /sidecar keeps everything in this process/u,
    ],
    [
      'centralised with a near cache',
      { REPRISE_GRID: 'hazelcast', REPRISE_GRID_TOPOLOGY: 'centralised', REPRISE_L1: 'on' },
      {},
      /has no near cache/u,
    ],
    ['hybrid without one', { REPRISE_GRID: 'hazelcast', REPRISE_L1: 'off' }, {}, /set grid.topology: centralised/u],
    ['members beyond loopback without a key', { REPRISE_GRID_MEMBERS: 'grid.internal:5701' }, {}, /REPRISE_GRID_KEYS/u],
    ['a port that is none', { REPRISE_GRID_MEMBERS: '127.0.0.1:70000' }, {}, /no possible port/u],
    ['a member that is none', { REPRISE_GRID_MEMBERS: 'http://127.0.0.1' }, {}, /must be a host or address/u],
    [
      'two keys of one id',
      { REPRISE_GRID: 'hazelcast', REPRISE_GRID_KEYS: `a:${KEY},a:${OTHER}` },
      {},
      /two keys have the id a/u,
    ],
    ['a key without an id', { REPRISE_GRID: 'hazelcast', REPRISE_GRID_KEYS: KEY }, {}, /item 1 is not id:key/u],
    ['a short key', { REPRISE_GRID: 'hazelcast', REPRISE_GRID_KEYS: 'a:AAAA' }, {}, /not 32 bytes in base64/u],
    [
      'a key whose variable is not there',
      { REPRISE_GRID: 'hazelcast' },
      { grid: { hazelcast: { keys: [{ id: 'a', env: 'GRID_KEY' }] } } },
      /GRID_KEY, which isn't set/u,
    ],
  ])('refuses %s', (_name, env, overrides, message) => {
    expect(() => load(env, overrides)).toThrow(message);
  });

  it('sends values in clear beyond loopback only where that is asked for by name', () => {
    const env = { REPRISE_GRID_MEMBERS: 'grid.internal', REPRISE_GRID_ALLOW_UNSEALED: 'true' };
    expect(load(env).grid.hazelcast.keys).toEqual([]);
  });

  it('reads keys from the environment before those that the file names, and shows none', () => {
    const config = load(
      { REPRISE_GRID_MEMBERS: 'grid.internal', REPRISE_GRID_KEYS: `new:${KEY}`, GRID_KEY: OTHER },
      { grid: { hazelcast: { keys: [{ id: 'old', env: 'GRID_KEY' }] } } },
    );
    expect(config.grid.hazelcast.keys.map(({ id, key }) => [id, key.reveal()])).toEqual([
      ['new', KEY],
      ['old', OTHER],
    ]);
    const shown = JSON.stringify([describeConfig(config), config]);
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain(OTHER);
  });
});
