import { ListPolicy } from './list-policy.ts';
import type { PolicyNode } from './node-list.ts';

/** Least recently used: the resident whose last access lies furthest back goes first. */
export class Lru<K = string> extends ListPolicy<K> {
  protected hit(node: PolicyNode<K>): void {
    this.list.renew(node);
  }
}
