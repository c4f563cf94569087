import { assert } from '../../runtime/errors.ts';
import type { EvictionPolicy, PolicyFactory, Resident } from '../../runtime/policy/eviction-policy.ts';
import { makePolicy } from '../../runtime/policy/policies.ts';
import type { PolicyName } from '../../runtime/ports/options.ts';

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

/** What is known of a key: its value, loads of it under way, or both. */
class Place {
  value: unknown = undefined;
  /** Absent: there is no value. */
  resident: Resident | undefined = undefined;
  /** The first of the loads that began since the key last changed. */
  first: PendingReservation | undefined = undefined;
}

/** A reservation; the first one of a key since it last changed counts them all, and is in the order of lapsing. */
class PendingReservation implements Reservation {
  readonly key: string;
  readonly place: Place;
  /** The first one of its key; undefined: it ended. */
  first: PendingReservation | undefined;
  /** Of a first one: loads of the key under way. */
  count = 0;
  /** Of a first one: false from the key's next change on. */
  isCurrent = true;
  older: PendingReservation | undefined = undefined;
  newer: PendingReservation | undefined = undefined;

  constructor(key: string, place: Place) {
    this.key = key;
    this.place = place;
    this.first = place.first ?? this;
  }
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
  /** Keys with a value or loads under way. A resident has its place as value. */
  readonly #places = new Map<string, Place>();
  readonly #policy: EvictionPolicy;
  readonly #reservationsMax: number;
  readonly #onEvict: ((key: string) => void) | undefined;
  #reservations = 0;
  #oldest: PendingReservation | undefined = undefined;
  #newest: PendingReservation | undefined = undefined;
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
    return this.#policy.size;
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
    const place = this.#places.get(key);
    if (place?.resident === undefined) {
      this.#policy.miss(key);
      return undefined;
    }
    this.#policy.touch(place.resident);
    return place.value as V;
  }

  /** To be called before the load's first read; ends with `publish` or `release`. */
  reserve(key: string): Reservation {
    if (this.#reservations >= this.#reservationsMax) this.#lapseOldest();
    let place = this.#places.get(key);
    if (place === undefined) {
      place = new Place();
      this.#places.set(key, place);
    }
    const reservation = new PendingReservation(key, place);
    if (place.first === undefined) this.#begin(reservation);
    (place.first as PendingReservation).count += 1;
    this.#reservations += 1;
    return reservation;
  }

  /**
   * Puts a loaded value in. False when the key changed since the reservation, the reservation ended or lapsed, or
   * value and key don't fit the bound at all.
   */
  publish(reservation: Reservation, value: V, bytes: number): boolean {
    const pending = reservation as PendingReservation;
    const { key, first } = pending;
    if (first?.isCurrent !== true) {
      pending.first = undefined;
      return false;
    }
    // The key changes: this ends all loads of it that are under way.
    this.#end(first);
    pending.first = undefined;
    return this.#put(pending, value, bytes + 2 * key.length + NEAR_CACHE_ITEM_OVERHEAD_BYTES);
  }

  /** Ends a reservation whose load gave nothing; idempotent. */
  release(reservation: Reservation): void {
    const pending = reservation as PendingReservation;
    const { first } = pending;
    if (first === undefined) return;
    pending.first = undefined;
    if (!first.isCurrent) return;
    first.count -= 1;
    this.#reservations -= 1;
    if (first.count === 0) {
      this.#end(first);
      this.#dropEmpty(first);
    }
  }

  /** Drops the key and makes loads of it that are under way worthless. True when it was there. */
  invalidate(key: string): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    if (place.first !== undefined) this.#end(place.first);
    this.#places.delete(key);
    const { resident } = place;
    if (resident === undefined) return false;
    this.#policy.remove(resident);
    vacate(resident);
    return true;
  }

  /** Drops everything and makes every load under way worthless. */
  clear(): void {
    while (this.#oldest !== undefined) this.#end(this.#oldest);
    this.#places.clear();
    this.#policy.clear();
  }

  #put({ key, place }: PendingReservation, value: V, charge: number): boolean {
    const before = place.resident;
    const { resident, victims } =
      before === undefined ? this.#policy.insert(key, charge) : this.#policy.update(before, charge);
    for (const victim of victims) {
      if (vacate(victim).first === undefined) this.#places.delete(victim.key);
    }
    if (before !== undefined && before !== resident) vacate(before);
    if (resident === undefined) {
      this.#places.delete(key);
    } else {
      place.value = value;
      place.resident = resident;
      resident.value = place;
    }
    this.#evictions += victims.length;
    if (this.#onEvict !== undefined) for (const victim of victims) this.#onEvict(victim.key);
    return resident !== undefined;
  }

  #begin(first: PendingReservation): void {
    first.place.first = first;
    first.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = first;
    else this.#newest.newer = first;
    this.#newest = first;
  }

  /** No load that `first` counts may publish any more. */
  #end(first: PendingReservation): void {
    const { older, newer } = first;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    first.older = undefined;
    first.newer = undefined;
    first.isCurrent = false;
    first.place.first = undefined;
    this.#reservations -= first.count;
  }

  #dropEmpty({ key, place }: PendingReservation): void {
    if (place.resident === undefined) this.#places.delete(key);
  }

  #lapseOldest(): void {
    const oldest = this.#oldest;
    assert(oldest !== undefined, 'counted reservations are pending');
    this.#end(oldest);
    this.#dropEmpty(oldest);
  }
}

/** Takes the value from the place of what is no longer resident. */
function vacate(resident: Resident): Place {
  const place = resident.value as Place;
  resident.value = undefined;
  place.resident = undefined;
  place.value = undefined;
  return place;
}
