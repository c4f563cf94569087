import { assert } from '../errors.ts';
import type { Admission, EvictionPolicy, Resident } from './eviction-policy.ts';
import { assertBytes, ListResident, NO_VICTIMS, REFUSED, ResidentList } from './resident-list.ts';

/**
 * SIEVE (Zhang et al., "SIEVE is Simpler than LRU", NSDI 2024, section 3.1, algorithm 1), with sizes in bytes: a hit
 * only sets a bit; a hand walks from the oldest resident to the newest, clears the bits that it meets and evicts the
 * first resident without one. Survivors keep their place.
 */
export class Sieve implements EvictionPolicy {
  readonly bytesMax: number;
  readonly #list = new ResidentList();
  /** Where the next search begins; undefined: at the oldest. */
  #hand: ListResident | undefined = undefined;

  constructor(bytesMax: number) {
    assertBytes(bytesMax);
    this.bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#list.bytes;
  }

  get size(): number {
    return this.#list.size;
  }

  touch(resident: Resident): void {
    (resident as ListResident).visited = true;
  }

  miss(_key: string): void {
    // SIEVE keeps no history.
  }

  insert(key: string, bytes: number): Admission {
    assertBytes(bytes);
    if (bytes > this.bytesMax) return REFUSED;
    const victims = this.#makeRoom(bytes, undefined);
    const resident = new ListResident(key, bytes);
    this.#list.addNewest(resident);
    return { resident, victims };
  }

  update(resident: Resident, bytes: number): Admission {
    assertBytes(bytes);
    const node = resident as ListResident;
    if (bytes > this.bytesMax) {
      this.#drop(node);
      return REFUSED;
    }
    node.visited = true;
    const victims = this.#makeRoom(bytes - node.bytes, node);
    this.#list.resize(node, bytes);
    return { resident: node, victims };
  }

  remove(resident: Resident): void {
    this.#drop(resident as ListResident);
  }

  clear(): void {
    this.#list.clear();
    this.#hand = undefined;
  }

  #makeRoom(bytes: number, keep: ListResident | undefined): readonly Resident[] {
    if (this.#list.bytes + bytes <= this.bytesMax) return NO_VICTIMS;
    const victims: Resident[] = [];
    while (this.#list.bytes + bytes > this.bytesMax) {
      const victim = this.#sift(keep);
      this.#drop(victim);
      victims.push(victim);
    }
    return victims;
  }

  /** Ends within two rounds: the first clears every bit. There is always another resident than `keep`, which fits. */
  #sift(keep: ListResident | undefined): ListResident {
    let candidate = this.#hand ?? this.#list.oldest;
    assert(candidate !== undefined, 'what fits the bound fits an empty list');
    while (candidate.visited || candidate === keep) {
      if (candidate !== keep) candidate.visited = false;
      candidate = candidate.newer ?? this.#list.oldest;
      assert(candidate !== undefined, 'a list with a candidate has an oldest resident');
    }
    this.#hand = candidate;
    return candidate;
  }

  #drop(resident: ListResident): void {
    if (this.#hand === resident) this.#hand = resident.newer;
    this.#list.remove(resident);
  }
}
