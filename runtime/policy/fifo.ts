import { ListPolicy } from './list-policy.ts';
import type { PolicyNode } from './node-list.ts';

/** First in, first out: the resident that came in first goes first, however often it was asked for. */
export class Fifo<K = string> extends ListPolicy<K> {
  protected hit(_node: PolicyNode<K>): void {
    // An access changes nothing.
  }
}
