import { assert } from '../errors.ts';
import type { Admission, EvictionPolicy, Resident } from './eviction-policy.ts';
import { type ExpertFactory, Ghosts } from './ghosts.ts';
import type { PolicyKey } from './key-hash.ts';
import { Lirs } from './lirs.ts';
import { Lru } from './lru.ts';
import type { KeyIndex, PolicyNode } from './node-list.ts';
import type { NodePolicy } from './node-policy.ts';
import { S3Fifo } from './s3-fifo.ts';

const LIRS_OPTIONS = { goneBytesRatio: 1.5 };

const EXPERTS: readonly ExpertFactory[] = [
  <K>(bytesMax: number): NodePolicy<K> => new Lru<K>(bytesMax),
  <K>(bytesMax: number, history?: KeyIndex<K>): NodePolicy<K> => new Lirs<K>(bytesMax, history, LIRS_OPTIONS),
  <K>(bytesMax: number, history?: KeyIndex<K>): NodePolicy<K> => new S3Fifo<K>(bytesMax, history),
];
const EXPERT_NAMES = ['lru', 'lirs', 's3-fifo'] as const;
const LRU = 0;
const LIRS = 1;
const S3_FIFO = 2;
const NONE = -1;

const GHOST_ENTRIES_MAX = 4_096;

/** Requests in which a ghost's hit fades to a half: so many for each resident of a ghost, and at least so many. */
const MEMORY_RATIO = 20;
const MEMORY_REQUESTS_MIN = 2_000;
/** Hits by which another ghost must lead the one in force: so many for each resident of a ghost, and at least so many. */
const LEAD_RATIO = 0.5;
const LEAD_MIN = 16;
/** The same for the first choice, where less is known and less is lost; of hits of the whole cache never more. */
const FIRST_LEAD_RATIO = 0.15;
const FIRST_LEAD_MIN = 8;
const FIRST_LEAD_MAX = 2_400;

/** LIRS's own share for what is recent. */
const RECENT_SHARE = 0.01;
/** The most that it becomes in a long first pass, which begins when so many times the bound was evicted. */
const FIRST_PASS_SHARE = 0.35;
const FIRST_PASS_RATIO = 1.3;
/** The most that it becomes while LRU leads without having been chosen. */
const LED_SHARE = 0.35;
/** Changes of the share that aren't worth their work. */
const SHARE_STEP = 0.02;
const WEIGHT_MAX = 1e100;

const KNOWN = { isKnown: true };

/**
 * Chooses among LRU, LIRS and S3-FIFO by what their ghosts would have hit lately.
 *
 * 1. The ghosts' hits fade; another policy comes in force when its ghost leads by a number of hits that grows with what
 *    the change may cost, never for a tie.
 * 2. Nothing is lost by a change: the residents are handed over, those used last as the newest. A key that comes back and
 *    that the ghost in force held is no newcomer to the policy.
 * 3. Handles stay the same over a change.
 *
 * It begins with LIRS. The first pass of a loop and that of a zigzag look the same, so when the first pass grows long,
 * or while LRU leads, LIRS gives a larger share to what is recent: a step towards LRU that forgets less than a change.
 */
export class Adaptive<K extends PolicyKey = string> implements EvictionPolicy<K> {
  readonly bytesMax: number;
  readonly #ghosts: Ghosts<K>;
  /** Faded hits of the ghosts, in units of `#weight`. */
  readonly #scores = new Float64Array(EXPERTS.length);
  /** Faded hits of the cache itself, until the first choice. */
  #ownScore = 0;
  /** What the next hit counts: a weight that rises fades the earlier ones. */
  #weight = 1;
  #policy: NodePolicy<K>;
  #inForce = NONE;
  #recentShare = RECENT_SHARE;
  #evictedBytes = 0;
  #accesses = 0;
  #changes = 0;
  #isSeen = false;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.#ghosts = new Ghosts<K>(bytesMax, EXPERTS, GHOST_ENTRIES_MAX);
    this.#policy = new Lirs<K>(bytesMax, undefined, LIRS_OPTIONS);
  }

  get bytes(): number {
    return this.#policy.bytes;
  }

  get size(): number {
    return this.#policy.size;
  }

  /** The name of the policy in force; undefined until one is chosen. */
  get inForce(): string | undefined {
    return EXPERT_NAMES[this.#inForce];
  }

  /** How often residents were handed over. */
  get changes(): number {
    return this.#changes;
  }

  touch(resident: Resident<K>): void {
    const node = resident as PolicyNode<K>;
    this.#use(node);
    this.#learn(node.key, node.bytes, 1);
    this.#policy.touch(node);
  }

  miss(_key: K): void {
    // The ghosts learn of a key when it comes in, with its bytes.
  }

  insert(key: K, bytes: number): Admission<K> {
    if (bytes <= this.bytesMax) this.#learn(key, bytes, 0);
    const isKnown = this.#isSeen && this.#ghosts.hits[this.#inForce] === 1;
    const admission = this.#policy.insert(key, bytes, isKnown ? KNOWN : undefined);
    if (admission.resident !== undefined) this.#use(admission.resident as PolicyNode<K>);
    if (this.#inForce === NONE && admission.victims.length > 0) {
      for (const victim of admission.victims) this.#evictedBytes += victim.bytes;
      this.#shareRecent();
    }
    return admission;
  }

  update(resident: Resident<K>, bytes: number): Admission<K> {
    const node = resident as PolicyNode<K>;
    if (bytes <= this.bytesMax) {
      this.#use(node);
      this.#learn(node.key, bytes, 1);
    } else {
      this.#ghosts.forget(node.key);
    }
    return this.#policy.update(node, bytes);
  }

  remove(resident: Resident<K>): void {
    this.#policy.remove(resident);
    this.#ghosts.forget(resident.key);
  }

  clear(): void {
    this.#policy = new Lirs<K>(this.bytesMax, undefined, LIRS_OPTIONS);
    this.#inForce = NONE;
    this.#recentShare = RECENT_SHARE;
    this.#evictedBytes = 0;
    this.#ghosts.clear();
    this.#scores.fill(0);
    this.#ownScore = 0;
    this.#weight = 1;
  }

  #use(node: PolicyNode<K>): void {
    this.#accesses += 1;
    if (node.usedAt !== 0) node.reuse = this.#accesses - node.usedAt;
    node.usedAt = this.#accesses;
  }

  #learn(key: K, bytes: number, own: 0 | 1): void {
    const ghosts = this.#ghosts;
    this.#isSeen = ghosts.ask(key, bytes);
    if (!this.#isSeen) return;
    const { hits } = ghosts;
    const lru = hits[LRU] as number;
    const lirs = hits[LIRS] as number;
    const s3Fifo = hits[S3_FIFO] as number;
    const weight = this.#weight;
    const entries = ghosts.entries(LRU);
    this.#weight = weight * (1 + Math.LN2 / Math.max(MEMORY_REQUESTS_MIN, MEMORY_RATIO * entries));
    const isFirst = this.#inForce === NONE;
    if (lru === lirs && lirs === s3Fifo && (!isFirst || lru === own)) return;
    const scores = this.#scores;
    if (lru === 1) scores[LRU] = (scores[LRU] as number) + weight;
    if (lirs === 1) scores[LIRS] = (scores[LIRS] as number) + weight;
    if (s3Fifo === 1) scores[S3_FIFO] = (scores[S3_FIFO] as number) + weight;
    this.#ownScore += own * weight;
    if (isFirst || this.#inForce === LIRS) this.#shareRecent();
    if (isFirst) this.#chooseFirst();
    else this.#choose(Math.max(LEAD_MIN, LEAD_RATIO * entries) * weight);
    if (weight > WEIGHT_MAX) this.#rescale();
  }

  /** While LIRS is in force: the share for what is recent rises with LRU's lead, and with the length of a first pass. */
  #shareRecent(): void {
    const lru = this.#scores[LRU] as number;
    const lirs = this.#scores[LIRS] as number;
    const lead = Math.min(Math.max((lru - lirs) / this.#firstLead(), 0), 1);
    const passed = this.#inForce === NONE ? this.#evictedBytes / this.bytesMax - FIRST_PASS_RATIO : 0;
    const share = Math.max(RECENT_SHARE, Math.min(passed, FIRST_PASS_SHARE), lead * lead * LED_SHARE);
    if (share === this.#recentShare) return;
    if (Math.abs(share - this.#recentShare) < SHARE_STEP && share !== RECENT_SHARE) return;
    this.#recentShare = share;
    (this.#policy as Lirs<K>).hirShare = share;
  }

  #firstLead(): number {
    const most = Math.min(FIRST_LEAD_RATIO * this.#ghosts.entries(LRU), FIRST_LEAD_MAX * this.#ghosts.share);
    return Math.max(FIRST_LEAD_MIN, most) * this.#weight;
  }

  /** LIRS, which is at work already, has to lead LRU; the others have to lead what the cache itself did. */
  #chooseFirst(): void {
    const lru = this.#scores[LRU] as number;
    const lirs = this.#scores[LIRS] as number;
    const s3Fifo = this.#scores[S3_FIFO] as number;
    const lead = this.#firstLead();
    if (lirs - lru > lead && lirs >= s3Fifo) {
      this.#inForce = LIRS;
      this.#shareRecent();
    } else if (Math.max(lru, s3Fifo) - this.#ownScore > lead) {
      this.#change(lru >= s3Fifo ? LRU : S3_FIFO);
    }
  }

  #choose(lead: number): void {
    const scores = this.#scores;
    let best = 0;
    for (let at = 1; at < scores.length; at += 1) if ((scores[at] as number) > (scores[best] as number)) best = at;
    if (best !== this.#inForce && (scores[best] as number) - (scores[this.#inForce] as number) > lead)
      this.#change(best);
  }

  #rescale(): void {
    for (let at = 0; at < this.#scores.length; at += 1) this.#scores[at] = (this.#scores[at] as number) / this.#weight;
    this.#ownScore /= this.#weight;
    this.#weight = 1;
  }

  #change(to: number): void {
    const make = EXPERTS[to];
    assert(make !== undefined, 'an expert is chosen by its index');
    const next = make<K>(this.bytesMax);
    const nodes = this.#policy.drain();
    nodes.sort((left, right) => left.usedAt - right.usedAt);
    next.adoptAll(nodes, this.#accesses);
    this.#policy = next;
    this.#inForce = to;
    this.#recentShare = RECENT_SHARE;
    this.#changes += 1;
  }
}
