/** Values by key, least recently used first out; the bytes that they are charged never exceed the bound. */
export class RecentCache<K, V> {
  readonly #bytesMax: number;
  readonly #costOf: (key: K, value: V) => number;
  readonly #entries = new Map<K, V>();
  #bytes = 0;

  /** `costOf` gives bytes, the same for a pair whenever it is asked. */
  constructor(bytesMax: number, costOf: (key: K, value: V) => number) {
    this.#bytesMax = bytesMax;
    this.#costOf = costOf;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  /** Keeps a value, unless it alone is above the bound. */
  put(key: K, value: V): void {
    this.#drop(key);
    const bytes = this.#costOf(key, value);
    if (bytes > this.#bytesMax) return;
    while (this.#bytes + bytes > this.#bytesMax) {
      const [oldest] = this.#entries.keys();
      if (oldest === undefined) break;
      this.#drop(oldest);
    }
    this.#entries.set(key, value);
    this.#bytes += bytes;
  }

  #drop(key: K): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= this.#costOf(key, value);
  }
}
