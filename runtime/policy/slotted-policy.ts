import type { PolicyHints } from './eviction-policy.ts';
import type { PolicyKey } from './key-hash.ts';
import { PolicyNode } from './node-list.ts';
import { NodePolicy } from './node-policy.ts';
import type { SlotOwner, SlotPolicy } from './slots/slot-policy.ts';
import { SlotTable } from './slots/slot-table.ts';

/** In a node's `mark` until it is placed: it is no newcomer. */
const KNOWN = 1;

/** A policy with a memory of what left, by rules over slots: handles for what it holds, slots for what it knows. */
export abstract class SlottedPolicy<K extends PolicyKey, Rules extends SlotPolicy>
  extends NodePolicy<K>
  implements SlotOwner
{
  protected readonly rules: Rules;
  readonly #table = new SlotTable<K>();
  /** By slot; what lies at a free slot says nothing. */
  readonly #nodes: (PolicyNode<K> | undefined)[] = [];

  constructor(bytesMax: number, makeRules: (owner: SlotOwner) => Rules) {
    super(bytesMax);
    this.rules = makeRules(this);
  }

  forgotten(slot: number): void {
    this.#table.drop(slot);
  }

  protected override recall(key: K, bytes: number, hints: PolicyHints<K> | undefined): PolicyNode<K> {
    const slot = this.#table.find(key);
    const remembered = slot === -1 ? undefined : this.#nodes[slot];
    if (remembered === undefined) {
      const node = new PolicyNode(key, bytes);
      if (hints?.isKnown === true) node.mark = KNOWN;
      return node;
    }
    this.rules.recall(slot);
    remembered.bytes = bytes;
    remembered.mark = KNOWN;
    return remembered;
  }

  protected hit(node: PolicyNode<K>): void {
    this.rules.hit(node.slot);
  }

  protected place(node: PolicyNode<K>): void {
    const { rules } = this;
    if (node.slot === -1) {
      node.slot = this.#table.add(node.key);
      this.#nodes[node.slot] = node;
      if (node.slot === rules.slots) rules.grow(2 * rules.slots);
    }
    rules.admit(node.slot, node.bytes, node.mark === KNOWN);
    node.mark = 0;
  }

  protected evict(incoming: PolicyNode<K>): PolicyNode<K> {
    const slot = this.rules.turnOut(incoming.slot);
    return this.#nodes[slot] as PolicyNode<K>;
  }

  protected override unlink(node: PolicyNode<K>): void {
    this.rules.forget(node.slot);
  }

  protected override resize(node: PolicyNode<K>, bytes: number): void {
    this.rules.bytes += bytes - node.bytes;
    node.bytes = bytes;
    this.rules.resize(node.slot, bytes);
  }

  protected forget(): void {
    this.rules.clear();
    this.#table.clear();
    this.#nodes.length = 0;
  }
}
