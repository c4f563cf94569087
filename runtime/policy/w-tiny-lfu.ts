import { FrequencySketch } from './frequency-sketch.ts';
import { keyHash, type PolicyKey } from './key-hash.ts';
import type { PolicyNode } from './node-list.ts';
import { NodeList } from './node-list.ts';
import { certain, NodePolicy, oldestBut } from './node-policy.ts';
import { WindowClimber } from './window-climber.ts';

const WINDOW_SHARE = 0.01;
const PROTECTED_SHARE = 0.8;
const SKETCH_CAPACITY_MIN = 512;

export interface WTinyLfuOptions {
  /** 'fixed': the window stays at 1 % of the bound; 'adaptive': it follows the hit rate. */
  readonly window: 'fixed' | 'adaptive';
}

/**
 * W-TinyLFU (Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on
 * Storage 13(4), 2017, section 4), with sizes in bytes: keys come into a window (LRU) of 1 % of the bound; what it
 * turns out stays only when it was asked for more often than the next victim of the main part (SLRU, 80 % protected).
 * The adaptive window climbs as in Einziger, Eytan, Friedman and Manes, "Adaptive Software Cache Management",
 * Middleware 2018, section 3.2.
 */
export class WTinyLfu<K extends PolicyKey = string> extends NodePolicy<K> {
  readonly #window = new NodeList<K>();
  readonly #probation = new NodeList<K>();
  readonly #protected = new NodeList<K>();
  readonly #sketch = new FrequencySketch(SKETCH_CAPACITY_MIN);
  readonly #climber: WindowClimber | undefined;
  #sketchCapacity = SKETCH_CAPACITY_MIN;

  constructor(bytesMax: number, options: WTinyLfuOptions) {
    super(bytesMax);
    this.#climber = options.window === 'adaptive' ? new WindowClimber(WINDOW_SHARE) : undefined;
  }

  /** The window's share of the bound. */
  get windowShare(): number {
    return this.#climber?.share ?? WINDOW_SHARE;
  }

  protected override recall(key: K, bytes: number): PolicyNode<K> {
    const node = super.recall(key, bytes, undefined);
    node.mark = keyHash(key) | 0;
    this.#sketch.add(node.mark);
    this.#climber?.count(false, this.size);
    if (this.size > this.#sketchCapacity) {
      this.#sketchCapacity = 2 * this.size;
      this.#sketch.grow(this.#sketchCapacity);
    }
    return node;
  }

  protected hit(node: PolicyNode<K>): void {
    this.#sketch.add(node.mark);
    if (this.#climber?.count(true, this.size) === true) this.#shrinkWindow();
    const { list } = node;
    if (list !== this.#probation) {
      list?.renew(node);
      return;
    }
    this.#probation.remove(node);
    this.#protected.addNewest(node);
    this.#shrinkProtected();
  }

  protected place(node: PolicyNode<K>): void {
    this.#window.addNewest(node);
    this.#shrinkWindow();
  }

  protected evict(incoming: PolicyNode<K>): PolicyNode<K> {
    const candidate = oldestBut(this.#window, incoming);
    const victim = oldestBut(this.#probation, incoming) ?? oldestBut(this.#protected, incoming);
    if (candidate === undefined) return this.#out(certain(victim));
    if (victim === undefined) return this.#out(candidate);
    if (this.#window.bytes + incoming.bytes <= this.#windowBytes) return this.#out(victim);
    if (this.#sketch.count(candidate.mark) <= this.#sketch.count(victim.mark)) return this.#out(candidate);
    this.#window.remove(candidate);
    this.#probation.addNewest(candidate);
    return this.#out(victim);
  }

  protected forget(): void {
    this.#window.clear();
    this.#probation.clear();
    this.#protected.clear();
    this.#sketch.clear();
    this.#climber?.clear();
  }

  get #windowBytes(): number {
    return Math.max(this.bytesMax * this.windowShare, 1);
  }

  #out(node: PolicyNode<K>): PolicyNode<K> {
    node.list?.remove(node);
    return node;
  }

  #shrinkWindow(): void {
    while (this.#window.bytes > this.#windowBytes && this.#window.size > 1) {
      const moved = certain(this.#window.oldest);
      this.#window.remove(moved);
      this.#probation.addNewest(moved);
    }
  }

  #shrinkProtected(): void {
    const protectedBytes = (this.bytesMax - this.#windowBytes) * PROTECTED_SHARE;
    while (this.#protected.bytes > protectedBytes) {
      const demoted = certain(this.#protected.oldest);
      this.#protected.remove(demoted);
      this.#probation.addNewest(demoted);
    }
  }
}
