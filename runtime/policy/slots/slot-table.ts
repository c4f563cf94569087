import { assert } from '../../errors.ts';
import { keyHash, type PolicyKey } from '../key-hash.ts';
import { FIRST_SLOT, grown, SLOTS_FIRST } from './slot-rings.ts';

/** Places that the table begins with; a power of two, as always. */
const PLACES_FIRST = 128;
/** Places a key, at least: below it searches get long. */
const SLACK = 2;

/**
 * Keys with a small whole number each, its slot, by which arrays tell of it; the slots of dropped keys are given out
 * again. Open addressing by hash: a key that comes and goes costs its hash once, and half of what a `Map` would take.
 */
export class SlotTable<K extends PolicyKey> {
  /** By slot; undefined at a free one. */
  readonly keys: (K | undefined)[] = new Array<undefined>(FIRST_SLOT).fill(undefined);
  /** By slot. */
  #hashes: Int32Array = new Int32Array(SLOTS_FIRST);
  /** Slots, each at the place of its key's hash or behind it; 0: nothing lies there. */
  #places = new Int32Array(PLACES_FIRST);
  #size = 0;
  readonly #free: number[] = [];
  /** The last key that wasn't found, and its hash: it is what is added next, mostly. */
  #missing: K | undefined = undefined;
  #missingHash = 0;

  get size(): number {
    return this.#size;
  }

  /** The key's slot; -1: it has none. */
  find(key: K): number {
    const hash = keyHash(key) | 0;
    const places = this.#places;
    const hashes = this.#hashes;
    const mask = places.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const slot = places[at]!;
      if (slot === 0) break;
      if (hashes[slot] === hash && this.keys[slot] === key) return slot;
    }
    this.#missing = key;
    this.#missingHash = hash;
    return -1;
  }

  /** A slot for a key that has none. */
  add(key: K): number {
    const slot = this.#free.pop() ?? this.keys.length;
    const hash = key === this.#missing ? this.#missingHash : keyHash(key) | 0;
    this.#missing = undefined;
    if (slot === this.#hashes.length) this.#hashes = grown(this.#hashes, 2 * slot);
    this.keys[slot] = key;
    this.#hashes[slot] = hash;
    this.#size += 1;
    if (this.#size * SLACK > this.#places.length) this.#grow();
    this.#put(slot);
    return slot;
  }

  drop(slot: number): void {
    assert(this.keys[slot] !== undefined, 'a slot that is dropped has a key');
    this.#take(slot);
    this.keys[slot] = undefined;
    this.#free.push(slot);
    this.#size -= 1;
  }

  /** Another table with the same keys at the same slots. */
  clone(): SlotTable<K> {
    const table = new SlotTable<K>();
    for (let slot = FIRST_SLOT; slot < this.keys.length; slot += 1) table.keys[slot] = this.keys[slot];
    for (const slot of this.#free) table.#free.push(slot);
    table.#hashes = this.#hashes.slice();
    table.#places = this.#places.slice();
    table.#size = this.#size;
    return table;
  }

  clear(): void {
    this.#hashes = new Int32Array(SLOTS_FIRST);
    this.#places = new Int32Array(PLACES_FIRST);
    this.#size = 0;
    this.#missing = undefined;
    this.keys.length = FIRST_SLOT;
    this.#free.length = 0;
  }

  #put(slot: number): void {
    const places = this.#places;
    const mask = places.length - 1;
    let at = this.#hashes[slot]! & mask;
    while (places[at] !== 0) at = (at + 1) & mask;
    places[at] = slot;
  }

  /** What lies behind moves up, so that no search ends before it. */
  #take(slot: number): void {
    const places = this.#places;
    const hashes = this.#hashes;
    const mask = places.length - 1;
    let hole = hashes[slot]! & mask;
    while (places[hole] !== slot) hole = (hole + 1) & mask;
    for (let at = (hole + 1) & mask; ; at = (at + 1) & mask) {
      const other = places[at]!;
      if (other === 0) break;
      const home = hashes[other]! & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      places[hole] = other;
      hole = at;
    }
    places[hole] = 0;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Int32Array(2 * before.length);
    for (const slot of before) if (slot !== 0) this.#put(slot);
  }
}
