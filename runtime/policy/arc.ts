import { NodeList, PolicyNode } from './node-list.ts';
import { certain, NodePolicy, oldestBut } from './node-policy.ts';

/** Where a remembered key was found, in `mark`, until it is placed. */
const UNKNOWN = 0;
const IN_RECENT_HISTORY = 1;
const IN_FREQUENT_HISTORY = 2;

/**
 * ARC (Megiddo and Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003, figure 4), with sizes in
 * bytes: one list for what was asked for once, one for what was asked for again, and a remembered list behind each;
 * a hit in a remembered list moves the target size of the first one. The remembered bytes never exceed the bound.
 */
export class Arc<K = string> extends NodePolicy<K> {
  readonly #recent = new NodeList<K>();
  readonly #frequent = new NodeList<K>();
  readonly #recentHistory = new NodeList<K>();
  readonly #frequentHistory = new NodeList<K>();
  readonly #history = new Map<K, PolicyNode<K>>();
  /** The first list's target, bytes. */
  #target = 0;

  protected override recall(key: K, bytes: number): PolicyNode<K> {
    const known = this.#history.get(key);
    if (known === undefined) {
      this.#trimFor(bytes);
      return new PolicyNode(key, bytes);
    }
    const recent = this.#recentHistory;
    const frequent = this.#frequentHistory;
    if (known.list === recent) {
      const step = bytes * wholeRatio(frequent.bytes, recent.bytes);
      this.#target = Math.min(this.#target + step, this.bytesMax);
      known.mark = IN_RECENT_HISTORY;
    } else {
      const step = bytes * wholeRatio(recent.bytes, frequent.bytes);
      this.#target = Math.max(this.#target - step, 0);
      known.mark = IN_FREQUENT_HISTORY;
    }
    this.#drop(known);
    known.bytes = bytes;
    return known;
  }

  protected hit(node: PolicyNode<K>): void {
    if (node.list === this.#frequent) {
      this.#frequent.renew(node);
      return;
    }
    this.#recent.remove(node);
    this.#frequent.addNewest(node);
  }

  protected place(node: PolicyNode<K>): void {
    if (node.mark === UNKNOWN) this.#recent.addNewest(node);
    else this.#frequent.addNewest(node);
    node.mark = UNKNOWN;
    while (this.#recentHistory.bytes + this.#frequentHistory.bytes + this.bytes > 2 * this.bytesMax) {
      this.#drop(certain(this.#frequentHistory.oldest ?? this.#recentHistory.oldest));
    }
  }

  protected evict(incoming: PolicyNode<K>): PolicyNode<K> {
    const recent = this.#recent;
    const isAbove =
      recent.bytes > this.#target || (recent.bytes === this.#target && incoming.mark === IN_FREQUENT_HISTORY);
    const fromRecent = oldestBut(recent, incoming);
    const fromFrequent = oldestBut(this.#frequent, incoming);
    const victim = certain(isAbove ? (fromRecent ?? fromFrequent) : (fromFrequent ?? fromRecent));
    const isRecent = victim.list === recent;
    this.unlink(victim);
    // A first list that fills the bound with what comes in leaves no trace of what it turns out (case IV A).
    const comingBytes = incoming.mark === UNKNOWN && !incoming.resident ? incoming.bytes : 0;
    const recentBytes = recent.bytes + this.#recentHistory.bytes + victim.bytes;
    if (isRecent && recentBytes + comingBytes > this.bytesMax) return victim;
    victim.mark = UNKNOWN;
    (isRecent ? this.#recentHistory : this.#frequentHistory).addNewest(victim);
    this.#history.set(victim.key, victim);
    return victim;
  }

  protected forget(): void {
    this.#recent.clear();
    this.#frequent.clear();
    this.#recentHistory.clear();
    this.#frequentHistory.clear();
    this.#history.clear();
    this.#target = 0;
  }

  /** Case IV of the paper: an unknown key shortens the histories before room is made. */
  #trimFor(bytes: number): void {
    const recent = this.#recentHistory;
    const frequent = this.#frequentHistory;
    while (recent.size > 0 && this.#recent.bytes + recent.bytes + bytes > this.bytesMax)
      this.#drop(certain(recent.oldest));
    // Case IV A again: a first list that fills the bound alone loses its oldest for good, and the other history nothing.
    if (this.#recent.bytes + recent.bytes + bytes > this.bytesMax) return;
    while (frequent.size > 0 && this.bytes + recent.bytes + frequent.bytes + bytes > 2 * this.bytesMax)
      this.#drop(certain(frequent.oldest));
  }

  #drop(node: PolicyNode<K>): void {
    node.list?.remove(node);
    this.#history.delete(node.key);
  }
}

/** Steps of the target are whole, as in the authors' own figures: with fractions it would hardly ever equal a size. */
function wholeRatio(bytes: number, perBytes: number): number {
  return perBytes === 0 ? 1 : Math.max(1, Math.floor(bytes / perBytes));
}
