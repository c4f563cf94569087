import { assert } from '../errors.ts';
import type { Admission, EvictionPolicy, Resident } from './eviction-policy.ts';
import { assertBytes, ListResident, NO_VICTIMS, REFUSED, ResidentList } from './resident-list.ts';

/** Least recently used: the resident whose last access lies furthest back goes first. */
export class Lru implements EvictionPolicy {
  readonly bytesMax: number;
  readonly #list = new ResidentList();

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
    const node = resident as ListResident;
    if (this.#list.newest === node) return;
    this.#list.remove(node);
    this.#list.addNewest(node);
  }

  miss(_key: string): void {
    // LRU keeps no history.
  }

  insert(key: string, bytes: number): Admission {
    assertBytes(bytes);
    if (bytes > this.bytesMax) return REFUSED;
    const victims = this.#makeRoom(bytes);
    const resident = new ListResident(key, bytes);
    this.#list.addNewest(resident);
    return { resident, victims };
  }

  update(resident: Resident, bytes: number): Admission {
    assertBytes(bytes);
    const node = resident as ListResident;
    if (bytes > this.bytesMax) {
      this.#list.remove(node);
      return REFUSED;
    }
    this.touch(node);
    const victims = this.#makeRoom(bytes - node.bytes);
    this.#list.resize(node, bytes);
    return { resident: node, victims };
  }

  remove(resident: Resident): void {
    this.#list.remove(resident as ListResident);
  }

  clear(): void {
    this.#list.clear();
  }

  #makeRoom(bytes: number): readonly Resident[] {
    if (this.#list.bytes + bytes <= this.bytesMax) return NO_VICTIMS;
    const victims: Resident[] = [];
    while (this.#list.bytes + bytes > this.bytesMax) {
      const victim = this.#list.oldest;
      assert(victim !== undefined, 'what fits the bound fits an empty list');
      this.#list.remove(victim);
      victims.push(victim);
    }
    return victims;
  }
}
