import type { PolicyNode } from './node-list.ts';
import { NodeList } from './node-list.ts';
import { certain, NodePolicy, oldestBut } from './node-policy.ts';

const PROTECTED_SHARE = 0.8;

/**
 * Segmented LRU (Karedla, Love and Wherry, "Caching Strategies to Improve Disk System Performance", IEEE Computer
 * 27(3), 1994): a resident that is asked for a second time moves to a protected list of 80 % of the bound; what that
 * list turns out goes back to the probation list, from which the victims come.
 */
export class Slru<K = string> extends NodePolicy<K> {
  readonly #probation = new NodeList<K>();
  readonly #protected = new NodeList<K>();

  protected hit(node: PolicyNode<K>): void {
    if (node.list === this.#protected) {
      this.#protected.renew(node);
      return;
    }
    this.#probation.remove(node);
    this.#protected.addNewest(node);
    while (this.#protected.bytes > this.bytesMax * PROTECTED_SHARE) {
      const demoted = certain(this.#protected.oldest);
      this.#protected.remove(demoted);
      this.#probation.addNewest(demoted);
    }
  }

  protected place(node: PolicyNode<K>): void {
    this.#probation.addNewest(node);
  }

  protected evict(incoming: PolicyNode<K>): PolicyNode<K> {
    const victim = certain(oldestBut(this.#probation, incoming) ?? oldestBut(this.#protected, incoming));
    this.unlink(victim);
    return victim;
  }

  protected forget(): void {
    this.#probation.clear();
    this.#protected.clear();
  }
}
