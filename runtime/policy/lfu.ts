import type { PolicyNode } from './node-list.ts';
import { NodeList } from './node-list.ts';
import { certain, NodePolicy, oldestBut } from './node-policy.ts';

/** The residents of one count of accesses, between those of less and of more. */
class Bucket<K> extends NodeList<K> {
  readonly count: number;
  less: Bucket<K> | undefined = undefined;
  more: Bucket<K> | undefined = undefined;

  constructor(count: number) {
    super();
    this.count = count;
  }
}

/**
 * Least frequently used, without ageing and without memory of what left (Shah, Mitra and Matani, "An O(1) algorithm
 * for implementing the LFU cache eviction scheme", 2010, section 4). Of equally frequent residents the one that came
 * to that frequency first goes first.
 */
export class Lfu<K = string> extends NodePolicy<K> {
  #least: Bucket<K> | undefined = undefined;

  protected hit(node: PolicyNode<K>): void {
    const bucket = node.list as Bucket<K>;
    const count = bucket.count + 1;
    this.#move(node, bucket, bucket.more?.count === count ? bucket.more : this.#after(bucket, count));
  }

  protected place(node: PolicyNode<K>): void {
    if (this.#least?.count !== 1) {
      const bucket = new Bucket<K>(1);
      bucket.more = this.#least;
      if (this.#least !== undefined) this.#least.less = bucket;
      this.#least = bucket;
    }
    this.#least.addNewest(node);
  }

  protected evict(incoming: PolicyNode<K>): PolicyNode<K> {
    const least = this.#least;
    const victim = least === undefined ? undefined : (oldestBut(least, incoming) ?? least.more?.oldest);
    this.unlink(certain(victim));
    return certain(victim);
  }

  protected override unlink(node: PolicyNode<K>): void {
    const bucket = node.list as Bucket<K>;
    bucket.remove(node);
    this.#dropEmpty(bucket);
  }

  protected forget(): void {
    this.#least = undefined;
  }

  #after(bucket: Bucket<K>, count: number): Bucket<K> {
    const next = new Bucket<K>(count);
    next.less = bucket;
    next.more = bucket.more;
    if (bucket.more !== undefined) bucket.more.less = next;
    bucket.more = next;
    return next;
  }

  #move(node: PolicyNode<K>, from: Bucket<K>, to: Bucket<K>): void {
    from.remove(node);
    to.addNewest(node);
    this.#dropEmpty(from);
  }

  #dropEmpty(bucket: Bucket<K>): void {
    if (bucket.size > 0) return;
    if (bucket.less === undefined) this.#least = bucket.more;
    else bucket.less.more = bucket.more;
    if (bucket.more !== undefined) bucket.more.less = bucket.less;
  }
}
