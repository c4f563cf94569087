import { assert } from '../errors.ts';
import type { Admission, EvictionPolicy, PolicyHints, Resident } from './eviction-policy.ts';
import { PolicyNode } from './node-list.ts';

const NO_VICTIMS: readonly never[] = [];
const REFUSED: Admission<never> = { resident: undefined, victims: NO_VICTIMS };

/**
 * What all policies of this room share: the handles, the sums, and that room is made before anything comes in. A
 * policy adds its lists: `hit`, `place` and `evict`.
 */
export abstract class NodePolicy<K> implements EvictionPolicy<K> {
  #bytesMax: number;
  #bytes = 0;
  #size = 0;

  constructor(bytesMax: number) {
    assertBytes(bytesMax);
    this.#bytesMax = bytesMax;
  }

  get bytesMax(): number {
    return this.#bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#size;
  }

  touch(resident: Resident<K>): void {
    this.hit(resident as PolicyNode<K>);
  }

  miss(_key: K): void {
    // Most policies learn of a key when it comes in.
  }

  insert(key: K, bytes: number, hints?: PolicyHints<K>): Admission<K> {
    assertBytes(bytes);
    if (bytes > this.#bytesMax) return REFUSED;
    const node = this.recall(key, bytes, hints);
    const victims = this.#bytes + bytes <= this.#bytesMax ? NO_VICTIMS : this.#makeRoom(bytes, node);
    this.#admit(node);
    return { resident: node, victims };
  }

  update(resident: Resident<K>, bytes: number): Admission<K> {
    assertBytes(bytes);
    const node = resident as PolicyNode<K>;
    assert(node.resident, 'only a resident is updated');
    if (bytes > this.#bytesMax) {
      this.remove(node);
      return REFUSED;
    }
    this.hit(node);
    const more = bytes - node.bytes;
    const victims = this.#bytes + more <= this.#bytesMax ? NO_VICTIMS : this.#makeRoom(more, node);
    this.#bytes += more;
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
    this.#bytes = 0;
    this.#size = 0;
    this.forget();
  }

  /** Takes over a node that another policy let go; there must be room for it. Those used last come last. */
  adopt(node: PolicyNode<K>): void {
    assert(!node.resident && node.bytes + this.#bytes <= this.#bytesMax, 'what is taken over fits');
    this.#admit(node);
  }

  /** Takes over what another policy drained, in the order of the last access; `accesses`: how many there were. */
  adoptAll(nodes: readonly PolicyNode<K>[], _accesses: number): void {
    for (const node of nodes) this.adopt(node);
  }

  /** Lets all residents go, for another policy to take over, and forgets everything. */
  drain(): PolicyNode<K>[] {
    const nodes = this.residents();
    for (const node of nodes) {
      node.list = undefined;
      node.newer = undefined;
      node.older = undefined;
      node.twin = undefined;
      node.mark = 0;
      node.resident = false;
    }
    this.clear();
    return nodes;
  }

  /** Forgets a key that isn't resident and is remembered. */
  forgetRemembered(_node: PolicyNode<K>): void {
    // Most policies remember nothing.
  }

  /** Another bound; at once it holds only when nothing is above it, else from the next insert on. */
  rebound(bytesMax: number): void {
    assertBytes(bytesMax);
    this.#bytesMax = bytesMax;
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

  /** All residents, in any order. */
  protected abstract residents(): PolicyNode<K>[];

  protected resize(node: PolicyNode<K>, bytes: number): void {
    assert(node.list !== undefined, 'a resident is in a list');
    node.list.resize(node, bytes);
  }

  #admit(node: PolicyNode<K>): void {
    node.resident = true;
    this.#bytes += node.bytes;
    this.#size += 1;
    this.place(node);
  }

  #makeRoom(bytes: number, incoming: PolicyNode<K>): readonly PolicyNode<K>[] {
    const victims: PolicyNode<K>[] = [];
    while (this.#bytes + bytes > this.#bytesMax) {
      const victim = this.evict(incoming);
      this.#dismiss(victim);
      victims.push(victim);
    }
    return victims;
  }

  #dismiss(node: PolicyNode<K>): void {
    node.resident = false;
    this.#bytes -= node.bytes;
    this.#size -= 1;
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

function assertBytes(bytes: number): void {
  assert(Number.isFinite(bytes) && bytes >= 0, 'a number of bytes is finite and not negative');
}
