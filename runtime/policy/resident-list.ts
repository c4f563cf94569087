import { assert } from '../errors.ts';
import type { Admission, Resident } from './eviction-policy.ts';

/** A resident as a node of a `ResidentList`. */
export class ListResident implements Resident {
  readonly key: string;
  bytes: number;
  newer: ListResident | undefined = undefined;
  older: ListResident | undefined = undefined;
  listed = false;
  /** SIEVE's bit. */
  visited = false;

  constructor(key: string, bytes: number) {
    this.key = key;
    this.bytes = bytes;
  }
}

/** A doubly linked list of residents from newest to oldest that knows its bytes; every operation is O(1). */
export class ResidentList {
  newest: ListResident | undefined = undefined;
  oldest: ListResident | undefined = undefined;
  bytes = 0;
  size = 0;

  addNewest(resident: ListResident): void {
    assert(!resident.listed, 'a resident is inserted once');
    resident.older = this.newest;
    if (this.newest === undefined) this.oldest = resident;
    else this.newest.newer = resident;
    this.newest = resident;
    resident.listed = true;
    this.bytes += resident.bytes;
    this.size += 1;
  }

  remove(resident: ListResident): void {
    assert(resident.listed, 'only a resident is removed');
    const { newer, older } = resident;
    if (newer === undefined) this.newest = older;
    else newer.older = older;
    if (older === undefined) this.oldest = newer;
    else older.newer = newer;
    resident.newer = undefined;
    resident.older = undefined;
    resident.listed = false;
    this.bytes -= resident.bytes;
    this.size -= 1;
  }

  resize(resident: ListResident, bytes: number): void {
    assert(resident.listed, 'only a resident is resized');
    this.bytes += bytes - resident.bytes;
    resident.bytes = bytes;
  }

  clear(): void {
    this.newest = undefined;
    this.oldest = undefined;
    this.bytes = 0;
    this.size = 0;
  }
}

/** The admission that refuses a key without victims. */
export const REFUSED: Admission = { resident: undefined, victims: [] };

/** The empty list of victims, shared. */
export const NO_VICTIMS: readonly Resident[] = [];

/** Checks a charge: a size is a finite number of bytes, zero or more. */
export function assertBytes(bytes: number): void {
  assert(bytes >= 0 && bytes < Infinity, 'a size is a finite number of bytes');
}
