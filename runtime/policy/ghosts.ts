import { keyHash, type PolicyKey } from './key-hash.ts';
import { SlotLirs, type LirsOptions } from './slots/slot-lirs.ts';
import { SlotLru } from './slots/slot-lru.ts';
import { UNKNOWN, type SlotOwner, type SlotPolicy } from './slots/slot-policy.ts';
import { SlotS3Fifo } from './slots/slot-s3-fifo.ts';
import { SlotTable } from './slots/slot-table.ts';

/** Bits of `Ghosts.hits`. */
export const LRU_HIT = 1;
export const LIRS_HIT = 2;
export const S3_FIFO_HIT = 4;
const ALL_HIT = LRU_HIT | LIRS_HIT | S3_FIFO_HIT;

/** Where a key's place among the ghosts isn't known. */
export const NO_PLACE = -1;
/** The ghosts don't see the key, and never will. */
export const UNSEEN = -2;

const HASHES = 2 ** 32;

export interface GhostsOptions {
  /** Residents of a ghost above which it sees a share of the keys only. */
  readonly entriesMax: number;
  readonly lirs: LirsOptions;
}

/**
 * Ghosts: what LRU, LIRS and S3-FIFO would hold had each been in force all the time, keys without values, over slots of
 * one table. Up to `entriesMax` residents a ghost they see every key; above it they see a share of the keys, chosen by
 * hash, at the same share of the bound (Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST 2015,
 * sections 3.1 and 3.2): whenever one grows past `entriesMax` the share is halved, so that memory doesn't depend on the
 * bound.
 */
export class Ghosts<K extends PolicyKey> implements SlotOwner {
  /** Which ghosts held the key of the last `ask` that saw it. */
  hits = 0;
  readonly #bytesMax: number;
  readonly #entriesMax: number;
  readonly #lru: SlotLru;
  readonly #lirs: SlotLirs;
  readonly #s3Fifo: SlotS3Fifo;
  readonly #owner: SlotOwner;
  /** The owner's, as long as the ghosts see every key. */
  #table: SlotTable<K>;
  #share = 1;
  #hashesBelow = HASHES;
  /** The slot that is asked for: it isn't dropped before all ghosts were told. */
  #asked = NO_PLACE;

  /** `owner` is told of slots of its table that no ghost knows any more. */
  constructor(bytesMax: number, owner: SlotOwner, table: SlotTable<K>, options: GhostsOptions) {
    this.#bytesMax = bytesMax;
    this.#entriesMax = options.entriesMax;
    this.#owner = owner;
    this.#table = table;
    this.#lru = new SlotLru(bytesMax, this);
    this.#lirs = new SlotLirs(bytesMax, this, options.lirs);
    this.#s3Fifo = new SlotS3Fifo(bytesMax, this);
  }

  /** The share of the keys that the ghosts see. */
  get share(): number {
    return this.#share;
  }

  /** Residents of the ghost of LRU. */
  get entries(): number {
    return this.#lru.size;
  }

  /** True while the ghosts see every key, at the slots of the owner's table. */
  get isShared(): boolean {
    return this.#share === 1;
  }

  /** A slot of a shared table is known to a ghost. */
  knows(slot: number): boolean {
    if (this.#lru.stateOf(slot) !== UNKNOWN) return true;
    return this.#lirs.stateOf(slot) !== UNKNOWN || this.#s3Fifo.stateOf(slot) !== UNKNOWN;
  }

  /** Room for more slots of a shared table. */
  grow(slots: number): void {
    for (const ghost of this.#ghosts()) ghost.grow(slots);
  }

  /**
   * A key was asked for: `hits` tells which ghosts held it. `place` is its slot in a shared table; else what the last
   * `ask` for it gave, which spares the look-up. Returns its place now.
   */
  ask(key: K, bytes: number, place: number): number {
    const slot = this.#share === 1 ? place : this.#slotOf(key, place);
    if (slot === UNSEEN) return UNSEEN;
    this.#asked = slot;
    const lru = this.#lru.ask(slot, bytes);
    const lirs = this.#lirs.ask(slot, bytes);
    const s3Fifo = this.#s3Fifo.ask(slot, bytes);
    this.hits = lru | (lirs << 1) | (s3Fifo << 2);
    this.#asked = NO_PLACE;
    if (this.hits === ALL_HIT) return slot;
    this.forgotten(slot);
    this.#halveAbove();
    return slot;
  }

  /** The key is known to be worthless, and is forgotten. */
  forget(key: K): void {
    const slot = this.#table.find(key);
    if (slot !== NO_PLACE) this.#forgetSlot(slot);
  }

  /** A ghost forgot a slot; with the last one the key goes. */
  forgotten(slot: number): void {
    if (slot === this.#asked || this.knows(slot)) return;
    if (this.#share === 1) this.#owner.forgotten(slot);
    else this.#table.drop(slot);
  }

  clear(): void {
    for (const ghost of this.#ghosts()) ghost.clear();
    if (this.#share < 1) this.#table.clear();
  }

  #ghosts(): readonly SlotPolicy[] {
    return [this.#lru, this.#lirs, this.#s3Fifo];
  }

  /** Where the share of the keys that are seen is below 1. */
  #slotOf(key: K, place: number): number {
    const table = this.#table;
    if (place === UNSEEN || (place !== NO_PLACE && table.keys[place] === key)) return place;
    if (keyHash(key) >= this.#hashesBelow) return UNSEEN;
    const known = table.find(key);
    if (known !== NO_PLACE) return known;
    const slot = table.add(key);
    const { slots } = this.#lru;
    if (slot === slots) this.grow(2 * slots);
    return slot;
  }

  #forgetSlot(slot: number): void {
    for (const ghost of this.#ghosts()) if (ghost.stateOf(slot) !== UNKNOWN) ghost.forget(slot);
  }

  #halveAbove(): void {
    const most = Math.max(this.#lru.size, this.#lirs.size, this.#s3Fifo.size);
    if (most <= this.#entriesMax) return;
    if (this.#share === 1) this.#table = this.#table.clone();
    this.#share /= 2;
    this.#hashesBelow = HASHES * this.#share;
    const { keys } = this.#table;
    for (let slot = 0; slot < keys.length; slot += 1) {
      const key = keys[slot];
      if (key === undefined || keyHash(key) < this.#hashesBelow) continue;
      if (this.knows(slot)) this.#forgetSlot(slot);
      else this.#table.drop(slot);
    }
    for (const ghost of this.#ghosts()) ghost.bytesMax = this.#bytesMax * this.#share;
  }
}
