import type { PolicyHints } from './eviction-policy.ts';
import type { KeyIndex } from './node-list.ts';
import { NodeList, PolicyNode } from './node-list.ts';
import { certain, NodePolicy } from './node-policy.ts';

/** What a node is, in `mark`; 0: a newcomer. */
const LIR = 1;
const HIR = 2;
/** Remembered in the stack, not resident. */
const GONE = 3;
/** Remembered a moment ago, coming in again. */
const RETURNING = 4;

export interface LirsOptions {
  /** The share of the bound for residents of high inter-reference recency. */
  readonly hirShare?: number;
  /** Bytes of what is remembered without being resident, as a multiple of the bound. */
  readonly goneBytesRatio?: number;
}

const HIR_SHARE = 0.01;
/** What published simulations allow. */
const GONE_BYTES_RATIO = 2;
/** Bounds what is remembered where keys have few bytes or none. */
const GONE_RATIO = 16;

/**
 * LIRS (Jiang and Zhang, "LIRS: An Efficient Low Inter-reference Recency Set Replacement Policy to Improve Buffer Cache
 * Performance", SIGMETRICS 2002, section 3), with sizes in bytes. The stack orders by recency the keys of low
 * inter-reference recency (LIR), and the others (HIR), resident or not, that were asked for since the oldest LIR; a HIR
 * that is asked for while in the stack becomes LIR. Victims are the oldest of the queue of resident HIRs, 1 % of the
 * bound. What is remembered is bounded in bytes and by the number of residents.
 *
 * The queue and the order of the remembered are lists of twins: a node's own links are those of the stack.
 */
export class Lirs<K = string> extends NodePolicy<K> {
  readonly #stack = new NodeList<K>();
  readonly #queue = new NodeList<K>();
  readonly #gone = new NodeList<K>();
  readonly #history: KeyIndex<K>;
  #hirShare: number;
  readonly #goneBytesRatio: number;
  #lirBytes = 0;

  constructor(bytesMax: number, history: KeyIndex<K> = new Map<K, PolicyNode<K>>(), options: LirsOptions = {}) {
    super(bytesMax);
    this.#history = history;
    this.#hirShare = options.hirShare ?? HIR_SHARE;
    this.#goneBytesRatio = options.goneBytesRatio ?? GONE_BYTES_RATIO;
  }

  /** The share of the bound for residents of high inter-reference recency. */
  set hirShare(share: number) {
    this.#hirShare = share;
    this.#prune();
    while (this.#lirBytes > this.#lirBytesMax && this.#stack.oldest !== undefined) {
      const demoted = this.#stack.oldest;
      this.#demote(demoted);
      // They make room for what is recent, so they leave first.
      const twin = certain(demoted.twin);
      this.#queue.remove(twin);
      this.#queue.addOldest(twin);
    }
    for (let twin = this.#queue.newest; twin !== undefined; twin = this.#queue.newest) {
      const node = certain(twin.twin);
      if (this.#lirBytes + node.bytes > this.#lirBytesMax) return;
      this.#queue.remove(twin);
      node.twin = undefined;
      node.mark = LIR;
      this.#lirBytes += node.bytes;
      if (node.list === undefined) this.#stack.addOldest(node);
    }
  }

  /**
   * Takes residents over from another policy, in the order of their last access: LIR are those whose reuse distance and
   * recency are the least, and as many of those asked for once as there is room for.
   */
  override adoptAll(nodes: readonly PolicyNode<K>[], accesses: number): void {
    const rank = (node: PolicyNode<K>): number => Math.max(node.reuse, accesses - node.usedAt);
    const ranked = nodes.filter(({ reuse }) => reuse !== Infinity).sort((left, right) => rank(left) - rank(right));
    const once = nodes.filter(({ reuse }) => reuse === Infinity);
    let left = this.#lirBytesMax;
    for (const node of [...ranked, ...once]) {
      if (node.bytes > left) continue;
      left -= node.bytes;
      node.mark = RETURNING;
    }
    for (const node of nodes) this.adopt(node);
    this.#prune();
  }

  protected override recall(key: K, bytes: number, hints: PolicyHints<K> | undefined): PolicyNode<K> {
    const known = this.#history.get(key);
    if (known === undefined) {
      const node = new PolicyNode(key, bytes);
      if (hints?.isKnown === true) node.mark = RETURNING;
      return node;
    }
    this.#forgetGone(known);
    known.bytes = bytes;
    known.mark = RETURNING;
    return known;
  }

  protected hit(node: PolicyNode<K>): void {
    if (node.mark === LIR) {
      const wasOldest = this.#stack.oldest === node;
      this.#stack.renew(node);
      if (wasOldest) this.#prune();
      return;
    }
    const twin = certain(node.twin);
    if (node.list === undefined) {
      this.#stack.addNewest(node);
      this.#queue.renew(twin);
      return;
    }
    this.#queue.remove(twin);
    node.twin = undefined;
    this.#stack.renew(node);
    this.#raise(node);
  }

  protected place(node: PolicyNode<K>): void {
    this.#stack.addNewest(node);
    if (node.mark === RETURNING) {
      this.#raise(node);
    } else if (this.#lirBytes + node.bytes <= this.#lirBytesMax) {
      node.mark = LIR;
      this.#lirBytes += node.bytes;
      this.#prune();
    } else {
      this.#enqueue(node);
    }
  }

  protected evict(incoming: PolicyNode<K>): PolicyNode<K> {
    for (;;) {
      let twin = this.#queue.oldest;
      if (twin?.twin === incoming) twin = twin.newer;
      if (twin !== undefined) return this.#turnOut(twin);
      this.#demoteOldest(incoming);
    }
  }

  protected override unlink(node: PolicyNode<K>): void {
    if (node.mark === LIR) {
      this.#lirBytes -= node.bytes;
      this.#stack.remove(node);
      this.#prune();
      return;
    }
    this.#queue.remove(certain(node.twin));
    node.twin = undefined;
    if (node.list !== undefined) this.#stack.remove(node);
  }

  protected override resize(node: PolicyNode<K>, bytes: number): void {
    if (node.mark === LIR) this.#lirBytes += bytes - node.bytes;
    else this.#queue.resize(certain(node.twin), bytes);
    if (node.list === undefined) node.bytes = bytes;
    else this.#stack.resize(node, bytes);
    this.#lower();
  }

  protected residents(): PolicyNode<K>[] {
    const queued = NodeList.nodesOf(this.#queue).map((twin) => certain(twin.twin));
    return [...queued, ...NodeList.nodesOf(this.#stack).filter(({ mark }) => mark === LIR)];
  }

  override forgetRemembered(node: PolicyNode<K>): void {
    this.#forgetGone(node);
  }

  protected forget(): void {
    this.#stack.clear();
    this.#queue.clear();
    this.#gone.clear();
    this.#history.clear();
    this.#lirBytes = 0;
  }

  get #lirBytesMax(): number {
    return this.bytesMax * (1 - this.#hirShare);
  }

  #raise(node: PolicyNode<K>): void {
    node.mark = LIR;
    this.#lirBytes += node.bytes;
    this.#lower();
    this.#prune();
  }

  /** Brings the LIRs back under their share. */
  #lower(): void {
    while (this.#lirBytes > this.#lirBytesMax && this.#lirBytes > 0) {
      this.#prune();
      const oldest = certain(this.#stack.oldest);
      if (oldest.older === oldest.newer) return;
      this.#demote(oldest);
    }
  }

  #demote(node: PolicyNode<K>): void {
    this.#lirBytes -= node.bytes;
    this.#stack.remove(node);
    this.#enqueue(node);
    this.#prune();
  }

  #demoteOldest(keep: PolicyNode<K>): void {
    let node = this.#stack.oldest;
    while (node !== undefined && (node === keep || node.mark !== LIR)) node = node.newer;
    this.#demote(certain(node));
  }

  #enqueue(node: PolicyNode<K>): void {
    node.mark = HIR;
    const twin = new PolicyNode(node.key, node.bytes);
    twin.twin = node;
    node.twin = twin;
    this.#queue.addNewest(twin);
  }

  #turnOut(twin: PolicyNode<K>): PolicyNode<K> {
    const node = certain(twin.twin);
    this.#queue.remove(twin);
    if (node.list === undefined) {
      node.twin = undefined;
      return node;
    }
    node.mark = GONE;
    this.#gone.addNewest(twin);
    this.#history.set(node.key, node);
    while (this.#gone.size > this.size * GONE_RATIO || this.#gone.bytes > this.bytesMax * this.#goneBytesRatio) {
      const oldest = certain(this.#gone.oldest?.twin);
      this.#forgetGone(oldest);
    }
    return node;
  }

  #forgetGone(node: PolicyNode<K>): void {
    this.#gone.remove(certain(node.twin));
    node.twin = undefined;
    this.#stack.remove(node);
    this.#history.delete(node.key);
  }

  /** The oldest of the stack is a LIR, always: HIRs below it have a recency that no LIR has. */
  #prune(): void {
    let oldest = this.#stack.oldest;
    while (oldest !== undefined && oldest.mark !== LIR) {
      if (oldest.mark === GONE) this.#forgetGone(oldest);
      else this.#stack.remove(oldest);
      oldest = this.#stack.oldest;
    }
  }
}
