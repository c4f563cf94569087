import type { RankedNode } from './priority-heap.ts';
import { RankedPolicy } from './ranked-policy.ts';

/**
 * GreedyDual-Size with Frequency (Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching
 * Policy", HPL-98-69R1, 1998, section 3): worth is accesses × cost ÷ bytes. A key without bytes counts as one byte.
 */
export class Gdsf<K = string> extends RankedPolicy<K> {
  protected worth(node: RankedNode<K>): number {
    return (node.mark * node.cost) / Math.max(node.bytes, 1);
  }

  protected used(node: RankedNode<K>): void {
    node.mark += 1;
  }

  protected came(node: RankedNode<K>): void {
    node.mark = 1;
  }
}
