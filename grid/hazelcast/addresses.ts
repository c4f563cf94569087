import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { RepriseError } from '../../runtime/errors.ts';

/** Addresses of a host name, as literals. */
export type Lookup = (host: string) => Promise<readonly string[]>;

const MEMBER = /^(?:\[(?<ipv6>[^\]]+)\]|(?<host>[^:[\]]+)):(?<port>\d{1,5})$/;

/** All addresses that the system's resolver knows. */
export async function systemLookup(host: string): Promise<readonly string[]> {
  return (await dnsLookup(host, { all: true })).map(({ address }) => address);
}

/**
 * Every address of every member, each once, as `address:port`. A name that can't be resolved now is left out and told to
 * `onFailure`: the others may do.
 */
export async function resolveMembers(
  members: readonly string[],
  lookup: Lookup,
  onFailure: (host: string, error: unknown) => void,
): Promise<string[]> {
  const resolved = await Promise.all(
    members.map(async (member) => {
      const { host, port } = parseMember(member);
      if (isIP(host) !== 0) return [withPort(host, port)];
      try {
        return (await lookup(host)).map((address) => withPort(address, port));
      } catch (error) {
        onFailure(host, error);
        return [];
      }
    }),
  );
  return [...new Set(resolved.flat())];
}

/** Fails with `config_invalid` on what isn't `host:port`. */
export function parseMember(member: string): { readonly host: string; readonly port: number } {
  const groups = MEMBER.exec(member)?.groups;
  const host = groups?.['ipv6'] ?? groups?.['host'];
  const port = Number(groups?.['port']);
  if (host === undefined || port < 1 || port > 65_535)
    throw new RepriseError(
      'config_invalid',
      `The grid member '${member}' isn't host:port; an IPv6 address goes in brackets, as in [::1]:5701.`,
    );
  return { host, port };
}

function withPort(address: string, port: number): string {
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}
