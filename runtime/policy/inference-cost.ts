import type { PolicyNode } from './node-list.ts';
import type { RankedNode } from './priority-heap.ts';
import { RankedPolicy } from './ranked-policy.ts';

/** Classes of residents by how often they were asked for: once, twice, 3–4 times, 5–8 times … */
const CLASSES = 8;
/** What is counted before anything is seen: one in four comes back. */
const PRIOR_STAYS = 8;
const PRIOR_REUSES = 2;
/** Stays of a class after which its counts are halved, so that the chances follow the traffic. */
const STAYS_MAX = 4_096;

/**
 * Worth is the expected cost of making the value again ÷ bytes: what the owner says it cost × the chance that it is
 * asked for again. The chance is learned for each class of residents by number of accesses: of the stays that began
 * in the class, the share that ended with an access and not with an eviction. The form is that of Cao and Irani,
 * "Cost-Aware WWW Proxy Caching Algorithms", USITS 1997, section 4.1; the chances by class are as in Beckmann, Chen and
 * Cidon, "LHD: Improving Cache Hit Rate by Maximizing Hit Density", NSDI 2018, section 3.
 */
export class InferenceCost<K = string> extends RankedPolicy<K> {
  readonly #stays = new Float64Array(CLASSES).fill(PRIOR_STAYS);
  readonly #reuses = new Float64Array(CLASSES).fill(PRIOR_REUSES);

  protected worth(node: RankedNode<K>): number {
    const at = classOf(node.mark);
    const chance = (this.#reuses[at] as number) / (this.#stays[at] as number);
    return (node.cost * chance) / Math.max(node.bytes, 1);
  }

  protected used(node: RankedNode<K>): void {
    this.#end(node, 1);
    node.mark += 1;
  }

  protected came(node: RankedNode<K>): void {
    node.mark = 1;
  }

  protected override evict(incoming: PolicyNode<K>): PolicyNode<K> {
    const victim = super.evict(incoming);
    this.#end(victim, 0);
    return victim;
  }

  protected override forget(): void {
    super.forget();
    this.#stays.fill(PRIOR_STAYS);
    this.#reuses.fill(PRIOR_REUSES);
  }

  #end(node: PolicyNode<K>, reuse: 0 | 1): void {
    const at = classOf(node.mark);
    this.#stays[at] = (this.#stays[at] as number) + 1;
    this.#reuses[at] = (this.#reuses[at] as number) + reuse;
    if ((this.#stays[at] as number) < STAYS_MAX) return;
    this.#stays[at] = (this.#stays[at] as number) / 2;
    this.#reuses[at] = (this.#reuses[at] as number) / 2;
  }
}

function classOf(accesses: number): number {
  return Math.min(32 - Math.clz32(accesses - 1), CLASSES - 1);
}
