import type { PolicyHints } from './eviction-policy.ts';
import type { KeyIndex } from './node-list.ts';
import { NodeList, PolicyNode } from './node-list.ts';
import { certain, NodePolicy, oldestBut } from './node-policy.ts';

const SMALL_SHARE = 0.1;
const MARK_MAX = 3;
/** Hits that a key of the small queue needs to pass into the main one. */
const PASS_HITS = 2;
/** Set on a remembered key that came back: it goes straight to the main queue. */
const REMEMBERED = -1;

/**
 * S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023, section 4.1 and algorithm 1), with
 * sizes in bytes: a small queue of 10 % filters what is asked for once, a main queue gives each hit another round, and a
 * ghost queue remembers as many bytes as the main queue may hold.
 */
export class S3Fifo<K = string> extends NodePolicy<K> {
  readonly #small = new NodeList<K>();
  readonly #main = new NodeList<K>();
  readonly #ghost = new NodeList<K>();
  readonly #history: KeyIndex<K>;

  constructor(bytesMax: number, history: KeyIndex<K> = new Map<K, PolicyNode<K>>()) {
    super(bytesMax);
    this.#history = history;
  }

  /** What is taken over goes to the main queue: it isn't turned out by the next scan. */
  override adopt(node: PolicyNode<K>): void {
    node.mark = REMEMBERED;
    super.adopt(node);
  }

  protected override recall(key: K, bytes: number, hints: PolicyHints<K> | undefined): PolicyNode<K> {
    const known = this.#history.get(key);
    if (known === undefined) {
      const node = new PolicyNode(key, bytes);
      if (hints?.isKnown === true) node.mark = REMEMBERED;
      return node;
    }
    this.#drop(known);
    known.bytes = bytes;
    known.mark = REMEMBERED;
    return known;
  }

  protected hit(node: PolicyNode<K>): void {
    if (node.mark < MARK_MAX) node.mark += 1;
  }

  protected place(node: PolicyNode<K>): void {
    (node.mark === REMEMBERED ? this.#main : this.#small).addNewest(node);
    node.mark = 0;
  }

  protected evict(incoming: PolicyNode<K>): PolicyNode<K> {
    for (;;) {
      const small = oldestBut(this.#small, incoming);
      const main = oldestBut(this.#main, incoming);
      const isSmall = main === undefined || this.#small.bytes >= this.bytesMax * SMALL_SHARE;
      if (small !== undefined && isSmall) {
        this.#small.remove(small);
        if (small.mark < PASS_HITS) return this.#remember(small);
        small.mark = 0;
        this.#main.addNewest(small);
      } else {
        const victim = certain(main);
        if (victim.mark === 0) {
          this.#main.remove(victim);
          return victim;
        }
        victim.mark -= 1;
        this.#main.renew(victim);
      }
    }
  }

  override forgetRemembered(node: PolicyNode<K>): void {
    this.#drop(node);
  }

  protected residents(): PolicyNode<K>[] {
    return NodeList.nodesOf(this.#small, this.#main);
  }

  protected forget(): void {
    this.#small.clear();
    this.#main.clear();
    this.#ghost.clear();
    this.#history.clear();
  }

  #remember(node: PolicyNode<K>): PolicyNode<K> {
    this.#ghost.addNewest(node);
    this.#history.set(node.key, node);
    // Without a bound on their number, keys without bytes would be remembered for ever.
    const sizeMax = this.size;
    while (this.#ghost.bytes > this.bytesMax * (1 - SMALL_SHARE) || this.#ghost.size > sizeMax)
      this.#drop(certain(this.#ghost.oldest));
    return node;
  }

  #drop(node: PolicyNode<K>): void {
    this.#ghost.remove(node);
    this.#history.delete(node.key);
  }
}
