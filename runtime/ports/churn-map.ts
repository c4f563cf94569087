/** Deletions after which a map is built anew, beside twice what it holds: building costs as much as it holds. */
const DELETIONS_MIN = 64;

/**
 * A map whose entries come and go all the time. V8's `Map` makes a new table after as many deletions as it has room for, and
 * each old table points to its successor, for iterators. Once a full garbage collection is due to free one of them (it lived
 * through two small ones), it keeps all that follow it alive, with whatever was in them when they were left: most of what
 * passes through. So this one starts a new `Map`, to which nothing points, from time to time.
 */
export class ChurnMap<K, V> {
  #map = new Map<K, V>();
  #deletions = 0;

  get size(): number {
    return this.#map.size;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  has(key: K): boolean {
    return this.#map.has(key);
  }

  set(key: K, value: V): void {
    this.#map.set(key, value);
  }

  /** True when it was there. */
  delete(key: K): boolean {
    if (!this.#map.delete(key)) return false;
    this.#deletions += 1;
    if (this.#deletions >= DELETIONS_MIN + 2 * this.#map.size) {
      this.#map = new Map(this.#map);
      this.#deletions = 0;
    }
    return true;
  }

  /** Those that are there now, in the order of their coming. */
  snapshot(): readonly V[] {
    return [...this.#map.values()];
  }
}
