import { describe, expect, it } from 'vitest';
import { parseMember, resolveMembers, systemLookup } from './addresses.ts';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  grid: ['10.0.0.1', '10.0.0.2', 'fd00::1'],
  other: ['10.0.0.2'],
};

function lookup(host: string): Promise<readonly string[]> {
  const found = NAMES[host];
  return found === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(found);
}

async function resolve(...members: string[]): Promise<{ readonly addresses: string[]; readonly failed: string[] }> {
  const failed: string[] = [];
  const addresses = await resolveMembers(members, lookup, (host) => failed.push(host));
  return { addresses, failed };
}

describe('resolveMembers', () => {
  it('gives all addresses of a name, each once, with the port', async () => {
    expect(await resolve('grid:5701', 'other:5701', 'other:5702')).toEqual({
      addresses: ['10.0.0.1:5701', '10.0.0.2:5701', '[fd00::1]:5701', '10.0.0.2:5702'],
      failed: [],
    });
  });

  it('asks nobody about addresses', async () => {
    const { addresses } = await resolve('127.0.0.1:5701', '[::1]:5701');
    expect(addresses).toEqual(['127.0.0.1:5701', '[::1]:5701']);
  });

  it('leaves out a name that is not known now', async () => {
    expect(await resolve('gone:5701', 'other:5701')).toEqual({ addresses: ['10.0.0.2:5701'], failed: ['gone'] });
  });

  it('knows the names of this machine', async () => {
    const addresses = await systemLookup('localhost');
    expect(addresses.some((address) => address === '127.0.0.1' || address === '::1')).toBe(true);
  });
});

describe('parseMember', () => {
  it('parts host and port', () => {
    expect(parseMember('grid.example:5701')).toEqual({ host: 'grid.example', port: 5_701 });
    expect(parseMember('[fd00::1]:5701')).toEqual({ host: 'fd00::1', port: 5_701 });
  });

  it.each(['grid', 'grid:', ':5701', 'grid:0', 'grid:70000', 'fd00::1:5701', 'http://grid:5701'])(
    'refuses %s',
    (member) => {
      expect(() => parseMember(member)).toThrow(/host:port/);
    },
  );
});
