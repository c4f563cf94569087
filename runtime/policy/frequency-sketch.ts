const COUNT_MAX = 15;
/** Spreads a hash's upper bits to the distance between its four counts: the lower ones say where the first one is. */
const STEP_FACTOR = 0x9e3779b1;

/**
 * How often keys were asked for lately, by hash: a count-min sketch, four counts a hash in one row, whose counts stop at 15 and are halved
 * when ten times its capacity was counted (Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission
 * Policy", ACM Transactions on Storage 13(4), 2017, sections 3.2 and 3.3). It grows with the number of residents, and
 * counts anew when it does.
 */
export class FrequencySketch {
  #counts: Uint8Array;
  #mask: number;
  #added = 0;
  #sample: number;

  constructor(capacity: number) {
    const width = widthFor(capacity);
    this.#counts = new Uint8Array(width);
    this.#mask = width - 1;
    this.#sample = 10 * capacity;
  }

  /** Makes room for so many keys, keeping the counts as far as the hashes tell. */
  grow(capacity: number): void {
    const width = widthFor(capacity);
    this.#sample = Math.max(this.#sample, 10 * capacity);
    const before = this.#counts;
    if (width <= before.length) return;
    this.#counts = new Uint8Array(width);
    // A wider row is the narrower one repeated: each key finds its old counts there.
    for (let at = 0; at < width; at += before.length) this.#counts.set(before, at);
    this.#mask = width - 1;
  }

  add(hash: number): void {
    const counts = this.#counts;
    const mask = this.#mask;
    const step = Math.imul(hash >>> 15, STEP_FACTOR) | 1;
    const at0 = hash & mask;
    const at1 = (hash + step) & mask;
    const at2 = (hash + 2 * step) & mask;
    const at3 = (hash + 3 * step) & mask;
    const least = Math.min(counts[at0]!, counts[at1]!, counts[at2]!, counts[at3]!);
    // Only the least counts rise: what other keys added to the rest stays as it is.
    if (least < COUNT_MAX) {
      if (counts[at0] === least) counts[at0] = least + 1;
      if (counts[at1] === least) counts[at1] = least + 1;
      if (counts[at2] === least) counts[at2] = least + 1;
      if (counts[at3] === least) counts[at3] = least + 1;
    }
    this.#added += 1;
    if (this.#added >= this.#sample) this.#halve();
  }

  count(hash: number): number {
    const counts = this.#counts;
    const mask = this.#mask;
    const step = Math.imul(hash >>> 15, STEP_FACTOR) | 1;
    return Math.min(
      counts[hash & mask]!,
      counts[(hash + step) & mask]!,
      counts[(hash + 2 * step) & mask]!,
      counts[(hash + 3 * step) & mask]!,
    );
  }

  clear(): void {
    this.#counts.fill(0);
    this.#added = 0;
  }

  #halve(): void {
    const counts = this.#counts;
    for (let at = 0; at < counts.length; at += 1) counts[at] = (counts[at] as number) >>> 1;
    this.#added >>>= 1;
  }
}

/** Thirty-two counts a key, as a power of two: fewer would let what is asked for once pass for more, by collisions. */
function widthFor(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(capacity, 4) * 32));
}
