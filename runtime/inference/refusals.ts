import { ControlRecord, type ControlDeps, type ControlShape } from '../cache/control-record.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Hash } from '../ports/hash.ts';

/** How many refused pairs each shard of each tenant holds: `<tenant>-<shard>` → count. Counts only grow. */
export type RefusalIndex = Readonly<Record<string, number>>;

/** Hashes of refused pairs, so that no text is kept. */
type RefusedPairs = readonly string[];

/** Each feedback writes one shard anew, a sixteenth of a tenant's pairs. */
const SHARDS = 16;
/** 128 bits. */
const HASH_CHARACTERS = 32;
const TENANT_CHARACTERS = 16;
const HEX = /^[0-9a-f]{32}$/;

export const REFUSAL_INDEX_SHAPE: ControlShape<RefusalIndex> = {
  empty: {},
  parse(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.values(value).every((count) => Number.isSafeInteger(count)) ? (value as RefusalIndex) : undefined;
  },
  merge(a, b) {
    const merged: Record<string, number> = { ...a };
    for (const [name, count] of Object.entries(b)) merged[name] = Math.max(merged[name] ?? 0, count);
    return merged;
  },
};

const PAIRS_SHAPE: ControlShape<RefusedPairs> = {
  empty: [],
  parse: (value) =>
    Array.isArray(value) && value.every((item) => typeof item === 'string' && HEX.test(item)) ? value : undefined,
  merge: (a, b) => [...new Set([...a, ...b])].sort(),
};

/** Bounds of what feedback may refuse. */
export interface RefusalLimits {
  /** Pairs of one tenant: a caller who may write can fill its own share only. */
  readonly perTenantMax: number;
  /** Pairs of all tenants. */
  readonly pairsMax: number;
  /** Tenants that have refused any; bounds the index, which each feedback writes anew. */
  readonly tenantsMax: number;
}

export const DEFAULT_REFUSAL_LIMITS: RefusalLimits = { perTenantMax: 10_000, pairsMax: 500_000, tenantsMax: 1_000 };

/** A refused pair: named by the stored entry, by the stored text, or by both. */
export interface RefusedPair {
  readonly storedKey: string;
  readonly storedText: string;
  /** Normalised. */
  readonly askedText: string;
}

/** What one tenant has refused, as known now. */
export interface TenantRefusals {
  has(storedKey: string, storedText: string, askedText: string): boolean;
}

const NONE: TenantRefusals = { has: () => false };

/**
 * Pairs that feedback refused for good: this stored answer, or the answer to this stored text, is never served for this asked text again.
 * An index says which shards there are and how full; a shard is read when its count says that it has something new.
 */
export class Refusals {
  readonly #index: ControlRecord<RefusalIndex>;
  readonly #deps: ControlDeps & { readonly hash: Hash };
  readonly #limits: RefusalLimits;
  readonly #shards = new Map<string, Shard>();
  readonly #unpublished = new Set<Shard>();
  readonly #tenants = new Map<string, { readonly index: RefusalIndex; readonly refusals: TenantRefusals }>();

  constructor(
    index: ControlRecord<RefusalIndex>,
    deps: ControlDeps & { readonly hash: Hash },
    limits: RefusalLimits = DEFAULT_REFUSAL_LIMITS,
  ) {
    this.#index = index;
    this.#deps = deps;
    this.#limits = limits;
  }

  /** Pairs of all tenants. */
  get size(): number {
    return Object.values(this.#index.value).reduce((sum, count) => sum + count, 0);
  }

  /** A tenant's refusals, with what other nodes refused. Fails as the grid does: what can't be read can't be ruled out. */
  async follow(tenant: string, options: CallOptions): Promise<TenantRefusals> {
    await this.#index.follow(options);
    if (this.#unpublished.size > 0) await this.#publish(options);
    const index = this.#index.value;
    const known = this.#tenants.get(tenant);
    if (known?.index === index) return known.refusals;
    const shards: Shard[] = [];
    let isWhole = true;
    for (const [shard, name] of this.#shardNames(tenant).entries()) {
      const count = index[name];
      if (count === undefined) continue;
      const found = this.#shard(name);
      await found.follow(count, options);
      isWhole &&= found.size >= count;
      shards[shard] = found;
    }
    const refusals = shards.length === 0 ? NONE : this.#refusalsOf(shards);
    if (!isWhole) return refusals;
    if (this.#tenants.size >= TENANTS_KEPT_MAX) this.#tenants.clear();
    this.#tenants.set(tenant, { index, refusals });
    return refusals;
  }

  /** Gives a grid that lost them what this node knows: the pairs first, since the index tells others to read them. Fails as the grid does. */
  async seed(options: CallOptions): Promise<void> {
    for (const name of Object.keys(this.#index.value)) await this.#shard(name).load(options);
    await this.#index.load(options);
  }

  /** False when there is no room left for the pair: then something else must see to it that it isn't served. */
  async refuse(tenant: string, pair: RefusedPair, options: CallOptions): Promise<boolean> {
    await this.#index.follow(options).catch(laterInstead);
    const names = this.#shardNames(tenant);
    const wanted = hashesOf(this.#deps.hash, pair);
    if (!this.#hasRoom(names, wanted.length)) return false;
    for (const hash of wanted) await this.#add(names[shardOf(hash)] as string, hash, options);
    return true;
  }

  #hasRoom(names: readonly string[], wanted: number): boolean {
    const { perTenantMax, pairsMax, tenantsMax } = this.#limits;
    const index = this.#index.value;
    const own = names.reduce((sum, name) => sum + (index[name] ?? 0), 0);
    if (own + wanted > perTenantMax || this.size + wanted > pairsMax) return false;
    return own > 0 || new Set(Object.keys(index).map((name) => name.slice(0, TENANT_CHARACTERS))).size < tenantsMax;
  }

  /** What the grid doesn't take is kept here and on disk, holds at once, and is published later; the call fails all the same. */
  async #add(name: string, hash: string, options: CallOptions): Promise<void> {
    const shard = this.#shard(name);
    await shard.follow(this.#index.value[name] ?? 0, options).catch(laterInstead);
    if (shard.has(hash)) return;
    const added = await Promise.allSettled([shard.add(hash, options)]);
    if (added[0].status === 'rejected') this.#unpublished.add(shard);
    await this.#index.update((index) => REFUSAL_INDEX_SHAPE.merge(index, { [name]: shard.size }), options);
    if (added[0].status === 'rejected') throw added[0].reason;
  }

  async #publish(options: CallOptions): Promise<void> {
    for (const shard of this.#unpublished) {
      const [published] = await Promise.allSettled([shard.sync(options)]);
      if (published.status === 'fulfilled') this.#unpublished.delete(shard);
    }
  }

  #refusalsOf(shards: readonly (Shard | undefined)[]): TenantRefusals {
    const { hash } = this.#deps;
    return {
      has: (storedKey, storedText, askedText) =>
        hashesOf(hash, { storedKey, storedText, askedText }).some((pair) => shards[shardOf(pair)]?.has(pair) === true),
    };
  }

  #shardNames(tenant: string): readonly string[] {
    const id = this.#deps.hash.sha256Hex(`reprise/refusing-tenant/1\n${tenant}`).slice(0, TENANT_CHARACTERS);
    return Array.from({ length: SHARDS }, (_, shard) => `${id}-${shard.toString(SHARDS)}`);
  }

  #shard(name: string): Shard {
    let shard = this.#shards.get(name);
    if (shard === undefined) {
      shard = new Shard(new ControlRecord(`refused-${name}`, this.#deps, PAIRS_SHAPE, { announced: false }));
      this.#shards.set(name, shard);
    }
    return shard;
  }
}

/** Reading first only saves conflicts: the write that follows reads again, and says when the grid is away. */
function laterInstead(): void {}

const TENANTS_KEPT_MAX = 10_000;

/** One sixteenth of a tenant's pairs. */
class Shard {
  readonly #record: ControlRecord<RefusedPairs>;
  #known: ReadonlySet<string> = new Set();
  #knownOf: RefusedPairs | undefined;

  constructor(record: ControlRecord<RefusedPairs>) {
    this.#record = record;
  }

  get size(): number {
    return this.#record.value.length;
  }

  has(pair: string): boolean {
    const pairs = this.#record.value;
    if (pairs !== this.#knownOf) {
      this.#known = new Set(pairs);
      this.#knownOf = pairs;
    }
    return this.#known.has(pair);
  }

  /** Reads disk and grid when there are more pairs than this node has. */
  async follow(count: number, options: CallOptions): Promise<void> {
    if (this.size < count) await this.#record.load(options);
  }

  load(options: CallOptions): Promise<void> {
    return this.#record.load(options);
  }

  sync(options: CallOptions): Promise<void> {
    return this.#record.sync(options);
  }

  add(pair: string, options: CallOptions): Promise<void> {
    return this.#record.update((pairs) => PAIRS_SHAPE.merge(pairs, [pair]), options);
  }
}

function shardOf(pair: string): number {
  return Number.parseInt(pair[0] ?? '0', SHARDS);
}

/** A pair's hash by entry and its hash by texts, as far as it has both. */
function hashesOf(hash: Hash, { storedKey, storedText, askedText }: RefusedPair): readonly string[] {
  const hashes: string[] = [];
  if (storedKey !== '') hashes.push(hash.sha256Hex(`reprise/refused-pair/2\nkey\n${storedKey}\n${askedText}`));
  if (storedText !== '') {
    hashes.push(hash.sha256Hex(`reprise/refused-pair/2\ntext\n${storedText.length}\n${storedText}\n${askedText}`));
  }
  return hashes.map((full) => full.slice(0, HASH_CHARACTERS));
}
