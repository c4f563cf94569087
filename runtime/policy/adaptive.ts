import { assert } from '../errors.ts';
import type { Admission, EvictionPolicy, Resident } from './eviction-policy.ts';
import { Ghosts, LIRS_HIT, LRU_HIT, NO_PLACE, S3_FIFO_HIT, UNSEEN } from './ghosts.ts';
import { handOver, type HandedOver } from './handover.ts';
import type { PolicyKey } from './key-hash.ts';
import { assertBytes, NO_VICTIMS, REFUSED } from './node-policy.ts';
import { SlotLirs } from './slots/slot-lirs.ts';
import { SlotLru } from './slots/slot-lru.ts';
import { GONE, type SlotOwner, type SlotPolicy, UNKNOWN } from './slots/slot-policy.ts';
import { SlotS3Fifo } from './slots/slot-s3-fifo.ts';
import { SlotTable } from './slots/slot-table.ts';

const LIRS_OPTIONS = { goneBytesRatio: 1.5 };

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

/** A resident, and the handle that the owner keeps. */
class AdaptiveNode<K> implements Resident<K>, HandedOver {
  readonly key: K;
  bytes: number;
  value: unknown = undefined;
  readonly slot: number;
  /** Where the ghosts know the key. */
  place: number;
  isResident = true;
  usedAt: number;
  reuse = 0;

  constructor(key: K, bytes: number, at: { readonly slot: number; readonly place: number; readonly usedAt: number }) {
    this.key = key;
    this.bytes = bytes;
    this.slot = at.slot;
    this.place = at.place;
    this.usedAt = at.usedAt;
  }
}

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
export class Adaptive<K extends PolicyKey = string> implements EvictionPolicy<K>, SlotOwner {
  readonly bytesMax: number;
  /** Slots of all that is known: to the rules in force, and to the ghosts as long as these see every key. */
  readonly #table = new SlotTable<K>();
  /** Residents by slot. */
  readonly #nodes: (AdaptiveNode<K> | undefined)[] = [];
  readonly #ghosts: Ghosts<K>;
  /** Faded hits of the ghosts, in units of `#weight`. */
  readonly #scores = new Float64Array(EXPERT_NAMES.length);
  /** Faded hits of the cache itself, until the first choice. */
  #ownScore = 0;
  /** What the next hit counts: a weight that rises fades the earlier ones. */
  #weight = 1;
  #rules: SlotPolicy;
  #inForce = NONE;
  #recentShare = RECENT_SHARE;
  #evictedBytes = 0;
  #accesses = 0;
  #changes = 0;
  /** The slot that is on its way in or out: it isn't dropped meanwhile. */
  #held = NO_PLACE;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.#ghosts = new Ghosts<K>(bytesMax, this, this.#table, {
      entriesMax: GHOST_ENTRIES_MAX,
      lirs: LIRS_OPTIONS,
    });
    this.#rules = this.#make(LIRS);
  }

  get bytes(): number {
    return this.#rules.bytes;
  }

  get size(): number {
    return this.#rules.size;
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
    const node = resident as AdaptiveNode<K>;
    this.#use(node, node.bytes);
    this.#rules.hit(node.slot);
  }

  miss(_key: K): void {
    // The ghosts learn of a key when it comes in, with its bytes.
  }

  insert(key: K, bytes: number): Admission<K> {
    assertBytes(bytes);
    if (bytes > this.bytesMax) return REFUSED;
    const found = this.#table.find(key);
    const slot = found === NO_PLACE ? this.#add(key) : found;
    this.#held = slot;
    const place = this.#learn(key, bytes, this.#ghosts.isShared ? slot : NO_PLACE, 0);
    const rules = this.#rules;
    let isKnown = place !== UNSEEN && this.#inForce !== NONE && ((this.#ghosts.hits >> this.#inForce) & 1) === 1;
    if (rules.stateOf(slot) === GONE) {
      rules.recall(slot);
      isKnown = true;
    }
    const victims = rules.bytes + bytes <= this.bytesMax ? NO_VICTIMS : this.#makeRoom(bytes, slot);
    rules.admit(slot, bytes, isKnown);
    this.#held = NO_PLACE;
    this.#accesses += 1;
    const node = new AdaptiveNode(key, bytes, { slot, place, usedAt: this.#accesses });
    this.#nodes[slot] = node;
    if (this.#inForce === NONE && victims.length > 0) {
      for (const victim of victims) this.#evictedBytes += victim.bytes;
      this.#shareRecent();
    }
    return { resident: node, victims };
  }

  update(resident: Resident<K>, bytes: number): Admission<K> {
    assertBytes(bytes);
    const node = resident as AdaptiveNode<K>;
    assert(node.isResident, 'only a resident is updated');
    if (bytes > this.bytesMax) {
      this.remove(node);
      return REFUSED;
    }
    this.#use(node, bytes);
    const rules = this.#rules;
    rules.hit(node.slot);
    const more = bytes - node.bytes;
    const victims = rules.bytes + more <= this.bytesMax ? NO_VICTIMS : this.#makeRoom(more, node.slot);
    rules.bytes += more;
    rules.resize(node.slot, bytes);
    node.bytes = bytes;
    return { resident: node, victims };
  }

  remove(resident: Resident<K>): void {
    const node = resident as AdaptiveNode<K>;
    assert(node.isResident, 'only a resident is removed');
    this.#held = node.slot;
    this.#dismiss(node);
    this.#rules.forget(node.slot);
    this.#ghosts.forget(node.key);
    this.#held = NO_PLACE;
    this.forgotten(node.slot);
  }

  clear(): void {
    this.#table.clear();
    this.#nodes.length = 0;
    this.#ghosts.clear();
    this.#inForce = NONE;
    this.#rules = this.#make(LIRS);
    this.#recentShare = RECENT_SHARE;
    this.#evictedBytes = 0;
    this.#scores.fill(0);
    this.#ownScore = 0;
    this.#weight = 1;
  }

  /** The rules or the ghosts know nothing of a slot any more; when both don't, its key goes. */
  forgotten(slot: number): void {
    if (slot === this.#held || this.#rules.stateOf(slot) !== UNKNOWN) return;
    if (this.#ghosts.isShared && this.#ghosts.knows(slot)) return;
    this.#table.drop(slot);
  }

  #add(key: K): number {
    const slot = this.#table.add(key);
    const { slots } = this.#rules;
    if (slot === slots) {
      this.#rules.grow(2 * slots);
      if (this.#ghosts.isShared) this.#ghosts.grow(2 * slots);
    }
    return slot;
  }

  /** A resident was asked for, which has so many bytes now. */
  #use(node: AdaptiveNode<K>, bytes: number): void {
    this.#accesses += 1;
    node.reuse = this.#accesses - node.usedAt;
    node.usedAt = this.#accesses;
    node.place = this.#learn(node.key, bytes, node.place, 1);
  }

  #makeRoom(bytes: number, slot: number): readonly AdaptiveNode<K>[] {
    const rules = this.#rules;
    const victims = [this.#turnOut(slot)];
    while (rules.bytes + bytes > this.bytesMax) victims.push(this.#turnOut(slot));
    return victims;
  }

  #turnOut(keep: number): AdaptiveNode<K> {
    const victim = this.#nodes[this.#rules.turnOut(keep)];
    assert(victim !== undefined, 'a victim is resident');
    this.#dismiss(victim);
    return victim;
  }

  #dismiss(node: AdaptiveNode<K>): void {
    node.isResident = false;
    this.#nodes[node.slot] = undefined;
  }

  /** Tells the ghosts of a request, which the cache itself hit or not; the key's place among them. */
  #learn(key: K, bytes: number, place: number, own: 0 | 1): number {
    const ghosts = this.#ghosts;
    const wasShared = ghosts.isShared;
    const placeNow = ghosts.ask(key, bytes, place);
    if (wasShared && !ghosts.isShared) this.#dropUnknown();
    if (placeNow !== UNSEEN) this.#score(ghosts.hits, own);
    return placeNow;
  }

  #score(hits: number, own: 0 | 1): void {
    const weight = this.#weight;
    const { entries } = this.#ghosts;
    this.#weight = weight * (1 + Math.LN2 / Math.max(MEMORY_REQUESTS_MIN, MEMORY_RATIO * entries));
    const isFirst = this.#inForce === NONE;
    const isTie = hits === 0 || hits === (LRU_HIT | LIRS_HIT | S3_FIFO_HIT);
    if (isTie && (!isFirst || (hits & LRU_HIT) === own)) return;
    const scores = this.#scores;
    if ((hits & LRU_HIT) !== 0) scores[LRU] = (scores[LRU] as number) + weight;
    if ((hits & LIRS_HIT) !== 0) scores[LIRS] = (scores[LIRS] as number) + weight;
    if ((hits & S3_FIFO_HIT) !== 0) scores[S3_FIFO] = (scores[S3_FIFO] as number) + weight;
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
    (this.#rules as SlotLirs).hirShare = share;
  }

  #firstLead(): number {
    const most = Math.min(FIRST_LEAD_RATIO * this.#ghosts.entries, FIRST_LEAD_MAX * this.#ghosts.share);
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

  #make(expert: number): SlotPolicy {
    if (expert === LRU) return new SlotLru(this.bytesMax, this);
    if (expert === LIRS) return new SlotLirs(this.bytesMax, this, LIRS_OPTIONS);
    return new SlotS3Fifo(this.bytesMax, this);
  }

  #change(to: number): void {
    const rules = this.#make(to);
    if (this.#rules.slots > rules.slots) rules.grow(this.#rules.slots);
    const residents = this.#nodes.filter((node) => node !== undefined);
    this.#rules = rules;
    handOver(residents, rules, this.#accesses);
    this.#dropUnknown();
    this.#inForce = to;
    this.#recentShare = RECENT_SHARE;
    this.#changes += 1;
  }

  /** Drops the keys that only rules knew which are no longer in force, or ghosts that have a table of their own now. */
  #dropUnknown(): void {
    const { keys } = this.#table;
    for (let slot = 0; slot < keys.length; slot += 1) if (keys[slot] !== undefined) this.forgotten(slot);
  }
}
