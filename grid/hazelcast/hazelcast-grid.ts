import type { UUID } from 'hazelcast-client';
import { assert, RepriseError } from '../../runtime/errors.ts';
import type { CallOptions } from '../../runtime/ports/call-options.ts';
import type {
  AttributeRange,
  Grid,
  GridEvent,
  GridHealth,
  GridItem,
  GridPage,
  GridRole,
  PageRequest,
  PutIfAbsentResult,
  Subscription,
  Versioned,
} from '../../runtime/ports/grid.ts';
import { ClusterLink, type LinkDeps, type Session } from './cluster-link.ts';
import { Deadlines, type LiveCall } from './deadlines.ts';
import { isForeign } from './envelope.ts';
import { closedError, disconnectedError, FOREIGN_TYPE, foreignTypeOnly } from './errors.ts';
import { Listeners } from './listeners.ts';
import type { HazelcastOptions } from './options.ts';
import { partitionOf } from './partition.ts';
import { type Read, StoredValues, unreadInWalk } from './stored-values.ts';
import { getMany, queryRows, type RowPage, scanRows } from './walks.ts';

/** Sets of a batch that are on their way at once. */
const SETS_AT_ONCE = 64;
const REPLACE_ATTEMPTS_MAX = 4;
const TTL_STEP_MS = 1_000;
const FOREVER = 0;
const NO_OWNER = 'none';

/**
 * The grid on a Hazelcast cluster.
 *
 * 1. Making it connects in the background, for ever; while no member is connected, calls fail at once.
 * 2. A call ends by its deadline or signal whatever client and members do; a write that is under way may still happen.
 * 3. A value that can't be read is absent, and counted. What this node could write again (entries, vectors, what was
 *    damaged) doesn't stand in its way; ledger and control records of another key or version do.
 */
export class HazelcastGrid implements Grid {
  readonly #options: HazelcastOptions;
  readonly #deadlines: Deadlines;
  readonly #values: StoredValues;
  readonly #listeners: Listeners;
  readonly #link: ClusterLink;
  readonly #ownerNames = new WeakMap<UUID, string>();
  #closed = false;

  /** Fails with `config_invalid` on a member that isn't `host:port`. */
  constructor(deps: LinkDeps, options: HazelcastOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(deps.clock);
    this.#values = new StoredValues(deps.telemetry, options);
    this.#listeners = new Listeners(deps, () => this.#link.session);
    this.#link = new ClusterLink(deps, options, {
      onConnected: (session) => this.#listeners.onConnected(session),
      onChanged: () => this.#listeners.onChanged(),
    });
  }

  /** Calls that were not answered yet. */
  get pendingCalls(): number {
    return this.#deadlines.size;
  }

  get(role: GridRole, key: string, options: CallOptions): Promise<Versioned | undefined> {
    return this.#deadlines.run(options, () => {
      const read = (stored: unknown): Versioned | undefined | Promise<Versioned | undefined> =>
        stored === null ? undefined : this.#readable(role, key, stored);
      const reading = this.#session().maps[role].get(key);
      return reading.then(read, (error: unknown) => read(foreignTypeOnly(error)));
    });
  }

  getAll(role: GridRole, keys: readonly string[], options: CallOptions): Promise<Map<string, Versioned>> {
    return this.#deadlines.run(options, async () => {
      const found = new Map<string, Versioned>();
      for (const [key, stored] of await getMany(this.#session().maps[role], keys)) {
        const read = await this.#readable(role, key, stored);
        if (read !== undefined) found.set(key, read);
      }
      return found;
    });
  }

  set(role: GridRole, item: GridItem, options: CallOptions): Promise<void> {
    return this.#deadlines.run(options, (call) => this.#set(role, item, call));
  }

  setAll(role: GridRole, items: readonly GridItem[], options: CallOptions): Promise<void> {
    return this.#deadlines.run(options, async (call) => {
      const waiting = items.values();
      const work = async (): Promise<void> => {
        for (const item of waiting) await this.#set(role, item, call);
      };
      await Promise.all(Array.from({ length: Math.min(SETS_AT_ONCE, items.length) }, work));
    });
  }

  remove(role: GridRole, key: string, options: CallOptions): Promise<boolean> {
    return this.#deadlines.run(
      options,
      async () => (await this.#session().maps[role].remove(key).catch(foreignTypeOnly)) !== null,
    );
  }

  putIfAbsent(role: GridRole, item: GridItem, options: CallOptions): Promise<PutIfAbsentResult> {
    return this.#deadlines.run(options, async (call) => {
      const map = this.#session().maps[role];
      const stored = await this.#wrap(role, item);
      const ours = { stored: true, current: { value: item.value, version: stored } };
      for (let attempt = 0; attempt < REPLACE_ATTEMPTS_MAX && call.live; attempt += 1) {
        const present = await map.putIfAbsent(item.key, stored, ttlOf(item)).catch(foreignTypeOnly);
        if (present === null) return ours;
        const read = await this.#values.read(role, item.key, present);
        if (typeof read !== 'string') return { stored: false, current: read };
        if (isForeign(read) && mustNotOverwrite(role)) throw foreignError(role, item.key);
        if (!call.live) break;
        if (present === FOREIGN_TYPE) await map.delete(item.key);
        else if (await map.replaceIfSame(item.key, present, stored)) {
          await this.#applyTtl(role, item);
          return ours;
        }
      }
      throw new RepriseError('grid_unavailable', 'The item kept changing while it was put; try again.');
    });
  }

  replaceIfSame(
    role: GridRole,
    version: unknown,
    item: GridItem,
    options: CallOptions,
  ): Promise<Versioned | undefined> {
    return this.#deadlines.run(options, async (call) => {
      if (!isVersion(version)) return undefined;
      const map = this.#session().maps[role];
      const stored = await this.#wrap(role, item);
      if (!call.live || !(await map.replaceIfSame(item.key, version, stored))) return undefined;
      await this.#applyTtl(role, item);
      return { value: item.value, version: stored };
    });
  }

  removeIfSame(role: GridRole, key: string, version: unknown, options: CallOptions): Promise<boolean> {
    return this.#deadlines.run(options, async () => {
      // Without a version the client would remove whatever is there.
      if (!isVersion(version)) return false;
      return (await this.#session().maps[role].remove(key, version)) === true;
    });
  }

  ownerOf(_role: GridRole, key: string): string {
    const session = this.#link.session;
    if (session === undefined) return NO_OWNER;
    const { partitions } = session;
    const partition = partitionOf(key, partitions.getPartitionCount()) ?? partitions.getPartitionId(key);
    const owner = partitions.getPartitionOwner(partition) as UUID | undefined;
    if (owner === undefined) return NO_OWNER;
    let name = this.#ownerNames.get(owner);
    if (name === undefined) {
      name = owner.toString();
      this.#ownerNames.set(owner, name);
    }
    return name;
  }

  listen(role: GridRole, listener: (event: GridEvent) => void, key?: string): Subscription {
    if (this.#closed) throw closedError();
    return this.#listeners.listen(role, listener, key);
  }

  query(role: GridRole, range: AttributeRange, page: PageRequest, options: CallOptions): Promise<GridPage> {
    return this.#deadlines.run(options, async (call) => {
      assert(role === 'vectors', 'only vectors are found by attributes');
      const { api, maps } = this.#session();
      return this.#readPage(role, await queryRows({ api, map: maps[role], call }, range, page));
    });
  }

  scan(role: GridRole, page: PageRequest, options: CallOptions): Promise<GridPage> {
    return this.#deadlines.run(options, async (call) => {
      const { api, maps, partitions } = this.#session();
      return this.#readPage(role, await scanRows({ api, map: maps[role], call }, partitions.getPartitionCount(), page));
    });
  }

  size(role: GridRole, options: CallOptions): Promise<number> {
    return this.#deadlines.run(options, () => this.#session().maps[role].size());
  }

  health(): GridHealth {
    const session = this.#link.session;
    if (this.#closed) return { state: 'down', detail: 'closed', members: 0 };
    if (session === undefined) return { state: 'down', detail: this.#link.lastFailure, members: 0 };
    const members = session.client.getCluster().getMembers().length;
    const { membersExpected } = this.#options;
    if (members >= membersExpected)
      return { state: 'up', detail: `connected to ${this.#options.clusterName}`, members };
    return { state: 'degraded', detail: `${members} of ${membersExpected} members`, members };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#deadlines.close();
    this.#listeners.close();
    await this.#link.close();
  }

  #session(): Session {
    const session = this.#link.session;
    if (session === undefined) throw disconnectedError();
    return session;
  }

  /** What is stored for an item; a promise only where something is compressed. */
  #wrap(role: GridRole, item: GridItem): unknown {
    return this.#values.wrap(this.#session().api, role, item);
  }

  async #set(role: GridRole, item: GridItem, call: LiveCall): Promise<void> {
    const stored = await this.#wrap(role, item);
    if (call.live) await this.#session().maps[role].set(item.key, stored, ttlOf(item));
  }

  /** A replacement takes no TTL along, and has none until it is given one. */
  async #applyTtl(role: GridRole, item: GridItem): Promise<void> {
    const ttlMs = ttlOf(item);
    if (ttlMs !== FOREVER) await this.#session().maps[role].setTtl(item.key, ttlMs);
  }

  #readable(role: GridRole, key: string, stored: unknown): Versioned | undefined | Promise<Versioned | undefined> {
    const read = this.#values.read(role, key, stored);
    return read instanceof Promise ? read.then(readableOnly) : readableOnly(read);
  }

  async #readPage(role: GridRole, { rows, next }: RowPage): Promise<GridPage> {
    const items: GridPage['items'][number][] = [];
    for (const [key, stored] of rows) {
      const read = await this.#values.read(role, key, stored);
      if (typeof read === 'string') {
        const value = unreadInWalk(role);
        if (value !== undefined) items.push({ key, value });
      } else {
        const { value, attributes } = read;
        items.push(attributes === undefined ? { key, value } : { key, value, attributes });
      }
    }
    return next === undefined ? { items } : { items, next };
  }
}

function readableOnly(read: Read): Versioned | undefined {
  return typeof read === 'string' ? undefined : read;
}

/** The grid's TTL, milliseconds: whole seconds, rounded up, as it knows no finer ones. */
export function ttlOf({ ttlMs }: Pick<GridItem, 'ttlMs'>): number {
  if (ttlMs === undefined || !Number.isFinite(ttlMs)) return FOREVER;
  return Math.max(1, Math.ceil(ttlMs / TTL_STEP_MS)) * TTL_STEP_MS;
}

/** Versions are what a map holds: bytes, or a record of the vectors. */
function isVersion(version: unknown): boolean {
  return typeof version === 'object' && version !== null;
}

/** Roles whose records other nodes rely on: what a node can't read because of its key or version isn't its own to replace. */
function mustNotOverwrite(role: GridRole): boolean {
  return role === 'ledger' || role === 'control';
}

function foreignError(role: GridRole, key: string): RepriseError {
  return new RepriseError(
    'grid_unavailable',
    `The ${role} record '${key}' was written under a key or by a version that this node doesn't know; give it the key, or remove the record.`,
  );
}
