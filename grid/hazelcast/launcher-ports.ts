import { createServer } from 'node:net';
import { LauncherError } from './launcher-error.ts';

const PORT_MAX = 65_535;
/** Ports looked at from the first one on. */
const SEARCH_MAX = 200;

/** The first free ports of a host from `from` on, in order. Errors: `ports_taken`. */
export async function freePorts(host: string, count: number, from: number): Promise<number[]> {
  const found: number[] = [];
  for (let port = from; port <= PORT_MAX && port < from + SEARCH_MAX; port += 1) {
    if (await isFree(host, port)) found.push(port);
    if (found.length === count) return found;
  }
  throw new LauncherError(
    'ports_taken',
    `${host} has fewer than ${count} free ports from ${from} on: name another with --port.`,
  );
}

/** Fails with `ports_taken` unless all of them are free. */
export async function requireFree(
  addresses: readonly { readonly host: string; readonly port: number }[],
): Promise<void> {
  for (const { host, port } of addresses) {
    if (!(await isFree(host, port))) {
      throw new LauncherError(
        'ports_taken',
        `Port ${port} of ${host} is taken: stop what listens there, or name another with --port.`,
      );
    }
  }
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
