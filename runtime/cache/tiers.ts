import { RepriseError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Entry } from '../ports/entry.ts';
import type { Grid } from '../ports/grid.ts';
import { decodeEntry, encodeEntry } from './entry-codec.ts';
import type { Ledger } from './ledger.ts';

/** A load under way into the near cache; opaque to its holder. */
type Reservation = object;

/** The near cache (L1) as the tiers use it; `grid/near-cache` has the real one. */
export interface NearCachePort {
  get(key: string): Entry | undefined;
  reserve(key: string): Reservation | undefined;
  publish(reservation: Reservation, value: Entry, bytes: number): boolean;
  release(reservation: Reservation): void;
  invalidate(key: string): boolean;
  clear(): void;
}

/** What a reader accepts. */
export interface ReadTerms {
  /** Serve nothing that the ledger can't confirm. */
  readonly strict: boolean;
  /** Oldest age, milliseconds; Infinity: any. */
  readonly maxAgeMs: number;
  /** Whether a stale entry inside its grace will do. */
  readonly graceAllowed: boolean;
}

export interface Found {
  readonly entry: Entry;
  readonly tier: 'exact-l1' | 'exact-l2';
  readonly stale: boolean;
  readonly unconfirmed: boolean;
}

export interface TiersOptions {
  /** `exact-l1`: the grid is in this process and its hits count as L1's, which then takes in what is asked for and not what is stored. */
  readonly gridTier: 'exact-l1' | 'exact-l2';
}

/** What a decoded entry costs in L1 beside its bytes: its fields and texts. */
const ENTRY_OVERHEAD_BYTES = 512;

/**
 * The tiers of exact look-up: L1 (synchronous) over the grid map L2, each read judged by expiry on our clock and by the ledger.
 * A value that was read but may not be served is left to its TTL.
 */
export class Tiers {
  readonly #grid: Grid;
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #nearCache: NearCachePort | undefined;
  readonly #gridTier: 'exact-l1' | 'exact-l2';
  #stores = 0;

  constructor(
    deps: { grid: Grid; ledger: Ledger; clock: Clock; nearCache: NearCachePort | undefined },
    options: TiersOptions,
  ) {
    this.#grid = deps.grid;
    this.#ledger = deps.ledger;
    this.#clock = deps.clock;
    this.#nearCache = deps.nearCache;
    this.#gridTier = options.gridTier;
    this.#ledger.onReset(() => this.#nearCache?.clear());
  }

  /**
   * A mark of what the tiers hold: as long as it is the same, what was absent still is. Undefined above a grid that
   * others write to.
   */
  get contents(): number | undefined {
    return this.#gridTier === 'exact-l1' ? this.#stores : undefined;
  }

  /** L1 alone, without waiting. */
  getNear(key: string, terms: ReadTerms): Found | undefined {
    const entry = this.#nearCache?.get(key);
    return entry === undefined ? undefined : this.#judge(entry, terms, 'exact-l1');
  }

  /** L1, then L2. Fails as the grid does. */
  async get(key: string, terms: ReadTerms, options: CallOptions): Promise<Found | undefined> {
    return this.getNear(key, terms) ?? this.load(key, terms, options);
  }

  /** L2 with promotion. Fails as the grid does; a value that can't be read is a miss. */
  async load(key: string, terms: ReadTerms, options: CallOptions): Promise<Found | undefined> {
    return (await this.#read(key, terms, options))?.found;
  }

  /**
   * L1, then L2, for a candidate: `unusable` is one that this reader refuses but that may still serve another, neither
   * expired nor invalidated for good. Fails as the grid does.
   */
  async getCandidate(key: string, terms: ReadTerms, options: CallOptions): Promise<Found | 'unusable' | undefined> {
    const near = this.getNear(key, terms);
    if (near !== undefined) return near;
    const read = await this.#read(key, terms, options);
    if (read === undefined || read.found !== undefined) return read?.found;
    return this.#mayServe(read.entry) ? 'unusable' : undefined;
  }

  async #read(
    key: string,
    terms: ReadTerms,
    options: CallOptions,
  ): Promise<{ readonly entry: Entry; readonly found: Found | undefined } | undefined> {
    const reservation = this.#nearCache?.reserve(key);
    let published = false;
    try {
      const stored = await this.#grid.get('entries', key, options);
      if (stored === undefined) return undefined;
      const entry = decodeEntry(key, stored.value);
      if (entry === undefined) return undefined;
      const found = this.#judge(entry, terms, this.#gridTier);
      if (found !== undefined && reservation !== undefined) {
        published = this.#nearCache!.publish(reservation, entry, stored.value.byteLength + ENTRY_OVERHEAD_BYTES);
      }
      return { entry, found };
    } finally {
      if (reservation !== undefined && !published) this.#nearCache!.release(reservation);
    }
  }

  /** The same for many keys with one call to the grid; those that are found. Keys may repeat. */
  async getAll(keys: readonly string[], terms: ReadTerms, options: CallOptions): Promise<ReadonlyMap<string, Found>> {
    const found = new Map<string, Found>();
    const loads = new Map<string, Reservation | undefined>();
    for (const key of keys) {
      if (found.has(key) || loads.has(key)) continue;
      const near = this.getNear(key, terms);
      if (near !== undefined) found.set(key, near);
      else loads.set(key, this.#nearCache?.reserve(key));
    }
    if (loads.size === 0) return found;
    try {
      const stored = await this.#grid.getAll('entries', [...loads.keys()], options);
      for (const [key, { value }] of stored) {
        const entry = decodeEntry(key, value);
        const judged = entry === undefined ? undefined : this.#judge(entry, terms, this.#gridTier);
        if (judged === undefined) continue;
        found.set(key, judged);
        const load = loads.get(key);
        if (load === undefined) continue;
        if (this.#nearCache!.publish(load, judged.entry, value.byteLength + ENTRY_OVERHEAD_BYTES)) loads.delete(key);
      }
      return found;
    } finally {
      for (const load of loads.values()) if (load !== undefined) this.#nearCache!.release(load);
    }
  }

  /** The entry whatever its state, for Explain and invalidation; undefined when absent or unreadable. */
  async peek(key: string, options: CallOptions): Promise<Entry | undefined> {
    const near = this.#nearCache?.get(key);
    if (near !== undefined) return near;
    const stored = await this.#grid.get('entries', key, options);
    return stored === undefined ? undefined : decodeEntry(key, stored.value);
  }

  /**
   * Stores an answer. It replaces what it finds, unless that is valid and unexpired and of a higher ledger sequence, or of an
   * equal one with a later start of call. False when the one that is there was kept.
   */
  async store(entry: Entry, options: CallOptions): Promise<boolean> {
    const value = encodeEntry(entry);
    const ttlMs = entry.expiresAtMs + entry.graceMs - this.#clock.wallMs();
    if (ttlMs <= 0) return false;
    const item = Number.isFinite(ttlMs)
      ? { key: entry.key, value, ttlMs: Math.ceil(ttlMs) }
      : { key: entry.key, value };
    // Above an in-process grid L1 is for what is asked for again: most answers never are.
    const keepsNew = this.#gridTier !== 'exact-l1';
    const reservation = keepsNew ? this.#nearCache?.reserve(entry.key) : undefined;
    let published = false;
    try {
      if (!(await this.#replaceOlder(entry, item, options))) return false;
      if (!keepsNew) this.#nearCache?.invalidate(entry.key);
      if (reservation !== undefined) {
        published = this.#nearCache!.publish(reservation, entry, value.byteLength + ENTRY_OVERHEAD_BYTES);
      }
      return true;
    } finally {
      // Whatever became of it: a write that failed may have been made.
      this.#stores += 1;
      if (reservation !== undefined && !published) this.#nearCache!.release(reservation);
    }
  }

  /** Removes the bytes from both tiers; true when L2 had some. */
  async remove(key: string, options: CallOptions): Promise<boolean> {
    this.#nearCache?.invalidate(key);
    return this.#grid.remove('entries', key, options);
  }

  #mayServe(entry: Entry): boolean {
    return this.#clock.wallMs() < entry.expiresAtMs + entry.graceMs && this.#ledger.validity(entry) !== 'invalid';
  }

  async #replaceOlder(
    entry: Entry,
    item: { key: string; value: Uint8Array; ttlMs?: number },
    options: CallOptions,
  ): Promise<boolean> {
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const put = await this.#grid.putIfAbsent('entries', item, options);
      if (put.stored) return true;
      const present = decodeEntry(entry.key, put.current.value);
      if (present !== undefined && this.#isNewer(present, entry)) return false;
      const replaced = await this.#grid.replaceIfSame('entries', put.current.version, item, options);
      if (replaced !== undefined) return true;
    }
    throw new RepriseError('grid_unavailable', 'The entry kept changing while it was stored; it was left as it is.');
  }

  #isNewer(present: Entry, entry: Entry): boolean {
    if (present.expiresAtMs <= this.#clock.wallMs()) return false;
    if (this.#ledger.validity(present) !== 'valid') return false;
    const presentSequence = present.position.sequence;
    const sequence = entry.position.sequence;
    if (presentSequence !== sequence) return presentSequence > sequence;
    return present.calledAtMs > entry.calledAtMs;
  }

  #judge(entry: Entry, terms: ReadTerms, tier: 'exact-l1' | 'exact-l2'): Found | undefined {
    const freshness = this.#ledger.freshness(terms.strict);
    if (freshness === 'unusable') return undefined;
    const validity = this.#ledger.validity(entry);
    if (validity === 'invalid') return undefined;
    const nowMs = this.#clock.wallMs();
    if (nowMs - entry.calledAtMs > terms.maxAgeMs) return undefined;
    const expired = nowMs >= entry.expiresAtMs;
    const stale = expired || validity === 'stale';
    if (stale && !(terms.graceAllowed && entry.graceMs > 0 && nowMs < entry.expiresAtMs + entry.graceMs))
      return undefined;
    return { entry, tier, stale, unconfirmed: freshness === 'unconfirmed' };
  }
}
