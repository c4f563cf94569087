import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'hazelcast-client';
import { parseMember } from './addresses.ts';

export interface ProbeOptions {
  /** `host:port` that the member listens on. */
  readonly address: string;
  readonly clusterName: string;
  readonly limitMs: number;
}

export interface JoinOptions extends ProbeOptions {
  /** Members that it must see, itself counted. */
  readonly count: number;
  readonly signal: AbortSignal;
  /** Told of each change of how many it sees. */
  readonly onSeen: (count: number) => void;
}

const CONNECT_MS = 2_000;
const PORT_MS = 1_000;
const POLL_MS = 50;

const quiet = (): void => undefined;
const SILENT = { log: quiet, error: quiet, warn: quiet, info: quiet, debug: quiet, trace: quiet };

/** Addresses of the members that one member sees, its own among them; undefined when it doesn't answer as one of the cluster. */
export async function membersSeenBy(options: ProbeOptions): Promise<readonly string[] | undefined> {
  if (!(await isPortOpen(options.address, Math.min(options.limitMs, PORT_MS)))) return undefined;
  const client = await clientOf(options);
  if (client === undefined) return undefined;
  try {
    return seen(client);
  } finally {
    await client.shutdown();
  }
}

/** Resolves when the member sees as many as it must; false when the time is over. Errors: the signal's reason. */
export async function hasJoined({ count, signal, onSeen, ...probe }: JoinOptions): Promise<boolean> {
  const untilMs = performance.now() + probe.limitMs;
  let client: Client | undefined;
  let told = 0;
  try {
    while (performance.now() < untilMs) {
      signal.throwIfAborted();
      client ??= (await isPortOpen(probe.address, PORT_MS))
        ? await clientOf({ ...probe, limitMs: CONNECT_MS })
        : undefined;
      const now = client === undefined ? 0 : seen(client).length;
      if (now !== told) onSeen(now);
      told = now;
      if (now >= count) return true;
      await sleep(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
    return false;
  } finally {
    await client?.shutdown();
  }
}

function seen(client: Client): string[] {
  return client
    .getCluster()
    .getMembers()
    .map(({ address }) => address.toString());
}

/** A client of this one member; undefined when it refuses, says nothing, is still starting, or is of another cluster. */
async function clientOf({ address, clusterName, limitMs }: ProbeOptions): Promise<Client | undefined> {
  const api = await import('hazelcast-client');
  const making = api.Client.newHazelcastClient({
    clusterName,
    network: { clusterMembers: [address], smartRouting: false, connectionTimeout: limitMs },
    connectionStrategy: {
      reconnectMode: api.ReconnectMode.OFF,
      connectionRetry: { initialBackoffMillis: 0, maxBackoffMillis: 0, clusterConnectTimeoutMillis: 0 },
    },
    customLogger: SILENT,
    properties: { 'hazelcast.client.statistics.enabled': false },
  }).catch(() => undefined);
  // A stopped process still accepts connections, and then says nothing for as long as the client would wait.
  const limit = new AbortController();
  const late = sleep(limitMs, undefined, { signal: limit.signal }).catch(() => undefined);
  const client = await Promise.race([making, late]);
  limit.abort();
  if (client === undefined) void making.then((unwanted) => unwanted?.shutdown());
  return client;
}

/** True when something accepts connections there. */
function isPortOpen(address: string, limitMs: number): Promise<boolean> {
  const { host, port } = parseMember(address);
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: limitMs });
    const done = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => done(true));
    socket.once('timeout', () => done(false));
    socket.once('error', () => done(false));
  });
}
