import { assert } from '../errors.ts';
import type { Admission, EvictionPolicy, PolicyHints, Resident } from './eviction-policy.ts';
import { PolicyNode } from './node-list.ts';

/** What most inserts turn out. */
export const NO_VICTIMS: readonly never[] = [];
/** What becomes of a key that doesn't fit. */
export const REFUSED: Admission<never> = { resident: undefined, victims: NO_VICTIMS };

/**
 * What all policies of this room share: the handles, the sums, and that room is made before anything comes in. A
 * policy adds its lists: `hit`, `place` and `evict`.
 */
export abstract class NodePolicy<K> implements EvictionPolicy<K> {
  readonly bytesMax: number;
  bytes = 0;
  size = 0;

  constructor(bytesMax: number) {
    assertBytes(bytesMax);
    this.bytesMax = bytesMax;
  }

  touch(resident: Resident<K>): void {
    this.hit(resident as PolicyNode<K>);
  }

  miss(_key: K): void {
    // Most policies learn of a key when it comes in.
  }

  insert(key: K, bytes: number, hints?: PolicyHints<K>): Admission<K> {
    assertBytes(bytes);
    if (bytes > this.bytesMax) return REFUSED;
    const node = this.recall(key, bytes, hints);
    const victims = this.bytes + bytes <= this.bytesMax ? NO_VICTIMS : this.#makeRoom(bytes, node);
    this.#admit(node);
    return { resident: node, victims };
  }

  update(resident: Resident<K>, bytes: number): Admission<K> {
    assertBytes(bytes);
    const node = resident as PolicyNode<K>;
    assert(node.resident, 'only a resident is updated');
    if (bytes > this.bytesMax) {
      this.remove(node);
      return REFUSED;
    }
    this.hit(node);
    const more = bytes - node.bytes;
    const victims = this.bytes + more <= this.bytesMax ? NO_VICTIMS : this.#makeRoom(more, node);
    this.bytes += more;
    this.resize(node, bytes);
    return { resident: node, victims };
  }

  remove(resident: Resident<K>): void {
    const node = resident as PolicyNode<K>;
    assert(node.resident, 'only a resident is removed');
    this.unlink(node);
    this.#dismiss(node);
  }

  clear(): void {
    this.bytes = 0;
    this.size = 0;
    this.forget();
  }

  /** A node for a key that comes in: one that is remembered, out of its list by then, or a new one. */
  protected recall(key: K, bytes: number, _hints: PolicyHints<K> | undefined): PolicyNode<K> {
    return new PolicyNode(key, bytes);
  }

  /** A resident was asked for. */
  protected abstract hit(node: PolicyNode<K>): void;

  /** A node that `recall` made, or that is taken over, becomes resident; there is room for it. */
  protected abstract place(node: PolicyNode<K>): void;

  /**
   * Turns one resident out of its list, and perhaps remembers it. `incoming` is what needs the room: a node that isn't
   * placed yet, or a resident that grows and may not be the victim.
   */
  protected abstract evict(incoming: PolicyNode<K>): PolicyNode<K>;

  /** A resident leaves its list without a trace. */
  protected unlink(node: PolicyNode<K>): void {
    node.list?.remove(node);
  }

  protected abstract forget(): void;

  protected resize(node: PolicyNode<K>, bytes: number): void {
    assert(node.list !== undefined, 'a resident is in a list');
    node.list.resize(node, bytes);
  }

  #admit(node: PolicyNode<K>): void {
    node.resident = true;
    this.bytes += node.bytes;
    this.size += 1;
    this.place(node);
  }

  /** There is something to turn out; mostly one victim is enough. */
  #makeRoom(bytes: number, incoming: PolicyNode<K>): readonly PolicyNode<K>[] {
    const victims = [this.#turnOut(incoming)];
    while (this.bytes + bytes > this.bytesMax) victims.push(this.#turnOut(incoming));
    return victims;
  }

  #turnOut(incoming: PolicyNode<K>): PolicyNode<K> {
    const victim = this.evict(incoming);
    this.#dismiss(victim);
    return victim;
  }

  #dismiss(node: PolicyNode<K>): void {
    node.resident = false;
    this.bytes -= node.bytes;
    this.size -= 1;
  }
}

/** The oldest node that isn't `keep`: what grows isn't turned out for itself. */
export function oldestBut<K>(
  list: { readonly oldest: PolicyNode<K> | undefined },
  keep: PolicyNode<K>,
): PolicyNode<K> | undefined {
  const { oldest } = list;
  return oldest === keep ? oldest.newer : oldest;
}

/** The victim that there must be: what needs room fits the bound, so something else is resident. */
export function certain<K>(victim: PolicyNode<K> | undefined): PolicyNode<K> {
  assert(victim !== undefined, 'what fits the bound fits an empty cache');
  return victim;
}

/** Fails on what is no number of bytes. */
export function assertBytes(bytes: number): void {
  assert(Number.isFinite(bytes) && bytes >= 0, 'a number of bytes is finite and not negative');
}
