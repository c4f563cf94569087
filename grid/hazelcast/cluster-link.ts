import type { EventEmitter } from 'node:events';
import type * as hazelcast from 'hazelcast-client';
import type { Client, ClientConfig, IMap, PartitionService } from 'hazelcast-client';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { GridRole } from '../../runtime/ports/grid.ts';
import type { Random } from '../../runtime/ports/random.ts';
import type { Counter, Gauge, Telemetry } from '../../runtime/ports/telemetry.ts';
import { type Lookup, parseMember, resolveMembers, systemLookup } from './addresses.ts';
import { clientConfig, clientLogger } from './client-config.ts';
import { repairClient } from './client-repair.ts';
import { GRID_ROLES, MAP_NAMES } from './map-names.ts';
import type { HazelcastOptions } from './options.ts';

/** The client's package: loaded when the first connection is made, so that a process without a cluster doesn't pay for it. */
export type ClientPackage = typeof hazelcast;

/** A connected client and what calls need of it. It ends when its last member is lost, and another takes its place. */
export interface Session {
  readonly api: ClientPackage;
  readonly client: Client;
  readonly maps: Readonly<Record<GridRole, IMap<string, unknown>>>;
  readonly partitions: PartitionService;
}

export interface LinkDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly telemetry: Telemetry;
  /** Absent: the system's resolver. */
  readonly lookup?: Lookup;
}

export interface LinkEvents {
  onConnected(session: Session): void;
  /** Connections or members of a live session changed: what its listeners were told may have gaps. */
  onChanged(session: Session): void;
}

const BACKOFF_MS_MIN = 100;
const BACKOFF_MS_MAX = 3_000;
/** An attempt under way when the link closes ends by itself; the close waits for it no longer than this. */
const CLOSE_MS_MAX = 3_000;

/** Keeps a client connected to the cluster for ever, by attempts further and further apart, until it is closed. */
export class ClusterLink {
  readonly #deps: LinkDeps;
  readonly #options: HazelcastOptions;
  readonly #events: LinkEvents;
  readonly #random: Random;
  readonly #connects: Counter;
  readonly #failures: Counter;
  readonly #losses: Counter;
  readonly #up: Gauge;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #session: Session | undefined = undefined;
  #lastFailure = 'not connected yet';
  /** The outage that lasts was logged. */
  #told = false;

  constructor(deps: LinkDeps, options: HazelcastOptions, events: LinkEvents) {
    for (const member of options.members) parseMember(member);
    this.#deps = deps;
    this.#options = options;
    this.#events = events;
    this.#random = deps.random.fork('grid link');
    const { telemetry } = deps;
    this.#connects = telemetry.counter('reprise_grid_connections_total', 'connected');
    this.#failures = telemetry.counter('reprise_grid_connections_total', 'failed');
    this.#losses = telemetry.counter('reprise_grid_connections_total', 'lost');
    this.#up = telemetry.gauge('reprise_grid_connected');
    this.#up.set(0);
    this.#running = this.#run();
  }

  get session(): Session | undefined {
    return this.#session;
  }

  /** Why there is no session. */
  get lastFailure(): string {
    return this.#lastFailure;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const session = this.#session;
    this.#end();
    const waiting = new AbortController();
    await Promise.race([
      Promise.all([session?.client.shutdown(), this.#running]),
      this.#deps.clock.sleep(CLOSE_MS_MAX, waiting.signal).catch(() => undefined),
    ]);
    waiting.abort();
  }

  async #run(): Promise<void> {
    let backoffMs = BACKOFF_MS_MIN;
    while (!this.#closing.signal.aborted) {
      const connected = await this.#connectOnce();
      backoffMs = connected ? BACKOFF_MS_MIN : Math.min(BACKOFF_MS_MAX, backoffMs * 2);
      const pauseMs = backoffMs * (0.5 + this.#random.float() / 2);
      await this.#deps.clock.sleep(pauseMs, this.#closing.signal).catch(() => undefined);
    }
  }

  /** One attempt, and the life of the session that it makes. True when there was one. */
  async #connectOnce(): Promise<boolean> {
    const { telemetry } = this.#deps;
    const cluster = this.#options.clusterName;
    const attempt = new Attempt();
    try {
      const session = await this.#open(attempt);
      if (session === undefined) return false;
      this.#begin(session);
    } catch (error) {
      this.#failures.add();
      this.#lastFailure = attempt.trouble ?? (error instanceof Error ? error.message : String(error));
      telemetry.log(this.#told ? 'debug' : 'warn', 'grid not reached', { cluster, cause: this.#lastFailure });
      this.#told = true;
      return false;
    }
    await attempt.ended;
    this.#end();
    if (!this.#closing.signal.aborted) {
      this.#losses.add();
      this.#lastFailure = 'the last member was lost';
      telemetry.log('warn', 'grid lost', { cluster });
    }
    return true;
  }

  /** A session, or undefined when the link was closed meanwhile. Whatever client was made for nothing is ended. */
  async #open(attempt: Attempt): Promise<Session | undefined> {
    const { telemetry, lookup } = this.#deps;
    const members = await resolveMembers(this.#options.members, lookup ?? systemLookup, (host, error) =>
      telemetry.log('debug', 'grid member not resolved', { host, cause: String(error) }),
    );
    if (members.length === 0) throw new Error('no member has an address');
    const api = await import('hazelcast-client');
    repairClient();
    if (this.#closing.signal.aborted) return undefined;
    const making = api.Client.newHazelcastClient(this.#clientConfig(api, members, attempt));
    const opening = making.then((client) => openSession(api, client));
    const session = await Promise.race([opening, attempt.ended]).catch((error: unknown) => {
      discard(making);
      throw error;
    });
    if (session !== undefined && !this.#closing.signal.aborted) {
      const stranger = this.#stranger(session);
      if (stranger === undefined) return session;
      discard(making);
      throw new Error(strangerText(stranger));
    }
    discard(making);
    opening.catch(() => undefined);
    if (session === undefined) throw new Error('the connection ended while it was made');
    return undefined;
  }

  #clientConfig(api: ClientPackage, members: readonly string[], attempt: Attempt): ClientConfig {
    const changed = (): void => this.#changed();
    return clientConfig(this.#options, members, {
      logger: clientLogger(this.#deps.telemetry, (trouble) => void (attempt.trouble = trouble)),
      membership: { memberAdded: changed, memberRemoved: changed },
      reconnectMode: api.ReconnectMode.OFF,
      onLifecycle: (state) => {
        if (state === api.LifecycleState.SHUTTING_DOWN) attempt.end();
      },
    });
  }

  #begin(session: Session): void {
    this.#session = session;
    this.#told = false;
    this.#connects.add();
    this.#up.set(1);
    const members = session.client.getCluster().getMembers().length;
    this.#deps.telemetry.log('info', 'grid connected', { cluster: this.#options.clusterName, members });
    onConnectionAdded(session.client, () => this.#changed());
    this.#events.onConnected(session);
  }

  #changed(): void {
    const session = this.#session;
    if (session === undefined) return;
    const stranger = this.#stranger(session);
    if (stranger === undefined) {
      this.#events.onChanged(session);
      return;
    }
    this.#deps.telemetry.log('error', strangerText(stranger), { cluster: this.#options.clusterName });
    this.#end();
    void session.client.shutdown().catch(() => undefined);
  }

  /** A member beyond this machine, where there must be none. A configured address says little: a cluster names its own. */
  #stranger({ client }: Session): string | undefined {
    if (!this.#options.loopbackOnly) return undefined;
    const hosts = client
      .getCluster()
      .getMembers()
      .map(({ address }) => address.host);
    return hosts.find((host) => !isLoopback(host));
  }

  #end(): void {
    this.#session = undefined;
    this.#up.set(0);
  }
}

function strangerText(host: string): string {
  return `the cluster has a member beyond this machine (${host}), and members speak plaintext: configure a key, or allow unsealed values`;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/u.test(host);
}

/** What an attempt to connect and the client that it made share: the news that the client has ended, or is about to. */
class Attempt {
  readonly ended: Promise<undefined>;
  /** Why the address that was tried last could not be used. */
  trouble: string | undefined = undefined;
  end!: () => void;

  constructor() {
    this.ended = new Promise((resolve) => {
      this.end = () => resolve(undefined);
    });
  }
}

async function openSession(api: ClientPackage, client: Client): Promise<Session> {
  const maps = await Promise.all(
    GRID_ROLES.map(async (role) => [role, await client.getMap<string, unknown>(MAP_NAMES[role])] as const),
  );
  return {
    api,
    client,
    maps: Object.fromEntries(maps) as Record<GridRole, IMap<string, unknown>>,
    partitions: client.getPartitionService(),
  };
}

/** Ends a client that nobody waits for any more, once it is there. */
function discard(making: Promise<Client>): void {
  making.then((client) => client.shutdown()).catch(() => undefined);
}

/** The client tells of members only; connections come and go under them, and take registered listeners along. */
function onConnectionAdded(client: Client, listener: () => void): void {
  const { getConnectionManager } = client as { getConnectionManager?: () => EventEmitter };
  getConnectionManager?.call(client).on('connectionAdded', listener);
}
