const CAPACITY_FIRST = 1_024;
/** Slots a key, at least: below it probing gets long. */
const SLACK = 2;
const TWO_32 = 2 ** 32;

/** Dense ids for 64-bit keys, in the order of first sight: open addressing over typed arrays, about 40 bytes a key. */
export class KeyTable {
  #ids = new Uint32Array(CAPACITY_FIRST);
  #high = new Uint32Array(CAPACITY_FIRST / SLACK);
  #low = new Uint32Array(CAPACITY_FIRST / SLACK);
  #size = 0;

  /** Keys seen. */
  get size(): number {
    return this.#size;
  }

  /** Id of a whole number below 2⁵³. */
  idOf(key: number): number {
    return this.idOfPair(Math.floor(key / TWO_32), key >>> 0);
  }

  /** Id of the key with these 32-bit halves. */
  idOfPair(high: number, low: number): number {
    const mask = this.#ids.length - 1;
    let slot = mixed(high, low) & mask;
    for (;;) {
      const known = this.#ids[slot]!;
      if (known === 0) break;
      if (this.#low[known - 1] === low >>> 0 && this.#high[known - 1] === high >>> 0) return known - 1;
      slot = (slot + 1) & mask;
    }
    if (this.#size === this.#low.length) {
      this.#grow();
      return this.#add(this.#freeSlot(high, low), high, low);
    }
    return this.#add(slot, high, low);
  }

  #add(slot: number, high: number, low: number): number {
    const id = this.#size;
    this.#high[id] = high;
    this.#low[id] = low;
    this.#size += 1;
    this.#ids[slot] = this.#size;
    return id;
  }

  #grow(): void {
    const { length } = this.#low;
    const [high, low] = [this.#high, this.#low];
    this.#high = new Uint32Array(length * 2);
    this.#low = new Uint32Array(length * 2);
    this.#high.set(high);
    this.#low.set(low);
    this.#ids = new Uint32Array(length * 2 * SLACK);
    for (let id = 0; id < this.#size; id += 1) this.#ids[this.#freeSlot(high[id]!, low[id]!)] = id + 1;
  }

  #freeSlot(high: number, low: number): number {
    const mask = this.#ids.length - 1;
    let slot = mixed(high, low) & mask;
    while (this.#ids[slot] !== 0) slot = (slot + 1) & mask;
    return slot;
  }
}

/** Spreads neighbouring keys over all bits; the multipliers are the finaliser's of MurmurHash3 (A. Appleby, public domain). */
function mixed(high: number, low: number): number {
  let hash = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ low;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Keys that one `Map` may hold: V8 refuses more than 2²⁴. */
const MAP_KEYS_MAX = 2 ** 24 - 1;

/** Dense ids for texts, in the order of first sight. */
export class NameTable {
  /** The last one is filled; all but it are full. */
  readonly #parts: Map<string, number>[] = [new Map()];
  readonly #partMax: number;
  #size = 0;

  constructor(partMax = MAP_KEYS_MAX) {
    this.#partMax = partMax;
  }

  idOf(name: string): number {
    for (const part of this.#parts) {
      const known = part.get(name);
      if (known !== undefined) return known;
    }
    const id = this.#size;
    let last = this.#parts.at(-1)!;
    if (last.size >= this.#partMax) {
      last = new Map();
      this.#parts.push(last);
    }
    last.set(name, id);
    this.#size += 1;
    return id;
  }
}
