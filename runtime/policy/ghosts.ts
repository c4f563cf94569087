import { keyHash, type PolicyKey } from './key-hash.ts';
import type { KeyIndex, PolicyNode } from './node-list.ts';
import type { NodePolicy } from './node-policy.ts';

/** Makes one of the policies that ghosts are kept of, for keys of any kind. */
export type ExpertFactory = <K>(bytesMax: number, history?: KeyIndex<K>) => NodePolicy<K>;

const HASHES = 2 ** 32;

/** A key as the ghosts know it: its node in each of them, resident there or remembered. */
export class GhostRecord<K> {
  readonly key: K;
  readonly nodes: (PolicyNode<GhostRecord<K>> | undefined)[];

  constructor(key: K, count: number) {
    this.key = key;
    this.nodes = new Array<PolicyNode<GhostRecord<K>> | undefined>(count).fill(undefined);
  }
}

/** The history of one ghost lies in the records: no look-up of its own. */
class RecordIndex<K> implements KeyIndex<GhostRecord<K>> {
  readonly #at: number;

  constructor(at: number) {
    this.#at = at;
  }

  get(record: GhostRecord<K>): PolicyNode<GhostRecord<K>> | undefined {
    return record.nodes[this.#at];
  }

  set(record: GhostRecord<K>, node: PolicyNode<GhostRecord<K>>): void {
    record.nodes[this.#at] = node;
  }

  delete(record: GhostRecord<K>): void {
    record.nodes[this.#at] = undefined;
  }

  clear(): void {
    // The records go with the ghosts.
  }
}

/**
 * Ghosts: what several policies would hold had each been in force all the time, keys without values. Up to `entriesMax`
 * residents a ghost they see every key; above it they see a share of the keys, chosen by hash, at the same share of the
 * bound (Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST 2015, sections 3.1 and 3.2): whenever one
 * grows past `entriesMax` the share is halved, so that memory doesn't depend on the bound.
 */
export class Ghosts<K extends PolicyKey> {
  /** 1 for each ghost that held the key of the last `ask`. */
  readonly hits: Uint8Array;
  readonly #bytesMax: number;
  readonly #entriesMax: number;
  readonly #ghosts: readonly NodePolicy<GhostRecord<K>>[];
  readonly #records = new Map<K, GhostRecord<K>>();
  #share = 1;
  #hashesBelow = HASHES;

  constructor(bytesMax: number, experts: readonly ExpertFactory[], entriesMax: number) {
    this.#bytesMax = bytesMax;
    this.#entriesMax = entriesMax;
    this.#ghosts = experts.map((make, at) => make<GhostRecord<K>>(bytesMax, new RecordIndex<K>(at)));
    this.hits = new Uint8Array(experts.length);
  }

  /** The share of the keys that the ghosts see. */
  get share(): number {
    return this.#share;
  }

  /** Residents of a ghost. */
  entries(at: number): number {
    return this.#ghosts[at]?.size ?? 0;
  }

  /** A key was asked for. False when the ghosts don't see it; else `hits` tells which held it. */
  ask(key: K, bytes: number): boolean {
    if (this.#share < 1 && keyHash(key) >= this.#hashesBelow) return false;
    let record = this.#records.get(key);
    if (record === undefined) {
      record = new GhostRecord(key, this.#ghosts.length);
      this.#records.set(key, record);
    }
    const { nodes } = record;
    const ghosts = this.#ghosts;
    for (let at = 0; at < ghosts.length; at += 1) {
      const ghost = ghosts[at] as NodePolicy<GhostRecord<K>>;
      const node = nodes[at];
      if (node !== undefined && node.resident) {
        this.hits[at] = 1;
        if (node.bytes === bytes) ghost.touch(node);
        else this.#resize(ghost, at, node, bytes);
      } else {
        this.hits[at] = 0;
        this.#insert(ghost, at, record, bytes);
      }
    }
    this.#dropEmpty(record);
    return true;
  }

  /** The key is known to be worthless, and is forgotten. */
  forget(key: K): void {
    const record = this.#records.get(key);
    if (record === undefined) return;
    this.#ghosts.forEach((ghost, at) => {
      const node = record.nodes[at];
      if (node === undefined) return;
      if (node.resident) ghost.remove(node);
      else ghost.forgetRemembered(node);
    });
    this.#records.delete(key);
  }

  clear(): void {
    for (const ghost of this.#ghosts) ghost.clear();
    this.#records.clear();
  }

  #insert(ghost: NodePolicy<GhostRecord<K>>, at: number, record: GhostRecord<K>, bytes: number): void {
    const { resident, victims } = ghost.insert(record, bytes);
    for (const victim of victims) this.#leave(at, victim as PolicyNode<GhostRecord<K>>);
    record.nodes[at] = resident as PolicyNode<GhostRecord<K>> | undefined;
    if (ghost.size > this.#entriesMax) this.#halve();
  }

  #resize(ghost: NodePolicy<GhostRecord<K>>, at: number, node: PolicyNode<GhostRecord<K>>, bytes: number): void {
    const { resident, victims } = ghost.update(node, bytes);
    for (const victim of victims) this.#leave(at, victim as PolicyNode<GhostRecord<K>>);
    if (resident === undefined) node.key.nodes[at] = undefined;
  }

  /** A victim that is remembered stays in a list of its ghost. */
  #leave(at: number, victim: PolicyNode<GhostRecord<K>>): void {
    if (victim.list !== undefined) return;
    victim.key.nodes[at] = undefined;
    this.#dropEmpty(victim.key);
  }

  #dropEmpty(record: GhostRecord<K>): void {
    const { nodes } = record;
    for (let at = 0; at < nodes.length; at += 1) if (nodes[at] !== undefined) return;
    this.#records.delete(record.key);
  }

  #halve(): void {
    this.#share /= 2;
    this.#hashesBelow = HASHES * this.#share;
    for (const key of this.#records.keys()) if (keyHash(key) >= this.#hashesBelow) this.forget(key);
    for (const ghost of this.#ghosts) ghost.rebound(this.#bytesMax * this.#share);
  }
}
