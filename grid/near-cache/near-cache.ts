import { assert } from '../../runtime/errors.ts';
import type { EvictionPolicy, PolicyFactory, Resident } from '../../runtime/policy/eviction-policy.ts';
import { makePolicy, type PolicyName } from '../../runtime/policy/policies.ts';

/** What an item costs beside its value and key: map slot, handle, item, headers of key and value; bytes. */
export const NEAR_CACHE_ITEM_OVERHEAD_BYTES = 448;

const RESERVATIONS_MAX = 16_384;

export interface NearCacheOptions {
  /** Bound of everything charged, bytes. */
  readonly bytesMax: number;
  readonly policy: PolicyName | PolicyFactory;
  /** Loads that may be under way at once; past it the oldest reservation lapses. */
  readonly reservationsMax?: number;
  /** Told of each key that the policy evicted, after the fact; it may call the cache. */
  readonly onEvict?: (key: string) => void;
}

/** The right to publish one load of one key, unless the key changes first. Opaque. */
export interface Reservation {
  readonly key: string;
}

/** The loads of one key that began since the key last changed. */
interface PendingLoads {
  count: number;
  /** False from the key's next change on. */
  current: boolean;
}

class PendingReservation implements Reservation {
  readonly key: string;
  loads: PendingLoads | undefined;

  constructor(key: string, loads: PendingLoads) {
    this.key = key;
    this.loads = loads;
  }
}

interface Item<V> {
  value: V;
  readonly resident: Resident;
}

/**
 * The near cache (L1): values in process, bounded in bytes, read synchronously.
 *
 * 1. `bytes` never exceeds `bytesMax`: victims go before a value comes in.
 * 2. A load publishes only if its key hasn't changed since `reserve`: an invalidation, a clear or another publication
 *    of the key makes every earlier reservation of it worthless. An eviction is no change.
 * 3. Reservations are bounded. One that is never released lapses in its turn, so forgotten ones don't add up.
 */
export class NearCache<V> {
  readonly #items = new Map<string, Item<V>>();
  readonly #pending = new Map<string, PendingLoads>();
  readonly #policy: EvictionPolicy;
  readonly #reservationsMax: number;
  readonly #onEvict: ((key: string) => void) | undefined;
  #reservations = 0;
  #evictions = 0;

  constructor(options: NearCacheOptions) {
    this.#policy = makePolicy(options.policy, options.bytesMax);
    this.#reservationsMax = options.reservationsMax ?? RESERVATIONS_MAX;
    this.#onEvict = options.onEvict;
    assert(this.#reservationsMax > 0, 'a near cache takes one reservation at least');
  }

  /** What the items are charged with: values, keys and overhead. */
  get bytes(): number {
    return this.#policy.bytes;
  }

  get size(): number {
    return this.#items.size;
  }

  /** Items that the policy turned out since the start. */
  get evictions(): number {
    return this.#evictions;
  }

  /** Loads under way. */
  get reservations(): number {
    return this.#reservations;
  }

  get(key: string): V | undefined {
    const item = this.#items.get(key);
    if (item === undefined) {
      this.#policy.miss(key);
      return undefined;
    }
    this.#policy.touch(item.resident);
    return item.value;
  }

  /** To be called before the load's first read; ends with `publish` or `release`. */
  reserve(key: string): Reservation {
    if (this.#reservations >= this.#reservationsMax) this.#lapseOldest();
    let loads = this.#pending.get(key);
    if (loads === undefined) {
      loads = { count: 0, current: true };
      this.#pending.set(key, loads);
    }
    loads.count += 1;
    this.#reservations += 1;
    return new PendingReservation(key, loads);
  }

  /**
   * Puts a loaded value in. False when the key changed since the reservation, the reservation ended or lapsed, or
   * value and key don't fit the bound at all.
   */
  publish(reservation: Reservation, value: V, bytes: number): boolean {
    const pending = reservation as PendingReservation;
    const current = pending.loads?.current === true;
    this.release(reservation);
    if (!current) return false;
    const { key } = pending;
    this.#retire(key);
    return this.#put(key, value, bytes + 2 * key.length + NEAR_CACHE_ITEM_OVERHEAD_BYTES);
  }

  /** Ends a reservation whose load gave nothing; idempotent. */
  release(reservation: Reservation): void {
    const pending = reservation as PendingReservation;
    const { loads } = pending;
    if (loads === undefined) return;
    pending.loads = undefined;
    if (!loads.current) return;
    loads.count -= 1;
    this.#reservations -= 1;
    if (loads.count === 0) this.#pending.delete(pending.key);
  }

  /** Drops the key and makes loads of it that are under way worthless. True when it was there. */
  invalidate(key: string): boolean {
    this.#retire(key);
    const item = this.#items.get(key);
    if (item === undefined) return false;
    this.#items.delete(key);
    this.#policy.remove(item.resident);
    return true;
  }

  /** Drops everything and makes every load under way worthless. */
  clear(): void {
    for (const loads of this.#pending.values()) loads.current = false;
    this.#pending.clear();
    this.#reservations = 0;
    this.#items.clear();
    this.#policy.clear();
  }

  #put(key: string, value: V, charge: number): boolean {
    const item = this.#items.get(key);
    const { resident, victims } =
      item === undefined ? this.#policy.insert(key, charge) : this.#policy.update(item.resident, charge);
    for (const victim of victims) this.#items.delete(victim.key);
    if (resident === undefined) this.#items.delete(key);
    else if (item !== undefined && item.resident === resident) item.value = value;
    else this.#items.set(key, { value, resident });
    this.#evictions += victims.length;
    if (this.#onEvict !== undefined) for (const victim of victims) this.#onEvict(victim.key);
    return resident !== undefined;
  }

  /** The key changes: no load of it that began before may publish. */
  #retire(key: string): void {
    const loads = this.#pending.get(key);
    if (loads === undefined) return;
    loads.current = false;
    this.#pending.delete(key);
    this.#reservations -= loads.count;
  }

  #lapseOldest(): void {
    const oldest = this.#pending.keys().next();
    assert(oldest.done !== true, 'counted reservations are pending');
    this.#retire(oldest.value);
  }
}
