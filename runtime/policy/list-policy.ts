import type { PolicyNode } from './node-list.ts';
import { NodeList } from './node-list.ts';
import { certain, NodePolicy, oldestBut } from './node-policy.ts';

/** A policy of one list: what comes in is the newest, and the oldest goes first. */
export abstract class ListPolicy<K> extends NodePolicy<K> {
  protected readonly list = new NodeList<K>();

  protected place(node: PolicyNode<K>): void {
    this.list.addNewest(node);
  }

  protected evict(incoming: PolicyNode<K>): PolicyNode<K> {
    const victim = certain(oldestBut(this.list, incoming));
    this.unlink(victim);
    return victim;
  }

  protected forget(): void {
    this.list.clear();
  }
}
