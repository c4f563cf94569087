import type { PolicyNode } from './node-list.ts';
import { NodeList } from './node-list.ts';
import { certain, NodePolicy, oldestBut } from './node-policy.ts';

/** Least recently used: the resident whose last access lies furthest back goes first. */
export class Lru<K = string> extends NodePolicy<K> {
  readonly #list = new NodeList<K>();

  protected hit(node: PolicyNode<K>): void {
    this.#list.renew(node);
  }

  protected place(node: PolicyNode<K>): void {
    this.#list.addNewest(node);
  }

  protected evict(incoming: PolicyNode<K>): PolicyNode<K> {
    const victim = certain(oldestBut(this.#list, incoming));
    this.#list.remove(victim);
    return victim;
  }

  protected unlink(node: PolicyNode<K>): void {
    this.#list.remove(node);
  }

  protected residents(): PolicyNode<K>[] {
    return NodeList.nodesOf(this.#list);
  }

  protected forget(): void {
    this.#list.clear();
  }
}
