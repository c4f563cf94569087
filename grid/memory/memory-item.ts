import { assert } from '../../runtime/errors.ts';
import type { GridAttributes } from '../../runtime/ports/grid.ts';
import type { Resident } from '../../runtime/policy/eviction-policy.ts';
import type { Expiring } from './expiry-heap.ts';

const CODE_MAX = 0xffffffff;
/** The handle of an item without a value. */
export const NO_VALUE = -1;

/** An item's place among those of its scope. */
export interface CodeAndKey {
  readonly code: number;
  readonly key: string;
}

/** An item's place in a scan. */
export interface Slot {
  readonly slot: number;
}

/** What a memory map holds under one key; the value lies in the arena. */
export class MemoryItem implements Expiring, CodeAndKey, Slot {
  readonly key: string;
  /** Where the value lies in the arena. */
  handle: number;
  length: number;
  version: number;
  expiresAtMs = Infinity;
  heapIndex = -1;
  /** The item's place in a scan: rises with each key that comes in, kept when its value is replaced. */
  readonly slot: number;
  attributes: GridAttributes | undefined = undefined;
  code = 0;
  resident: Resident | undefined = undefined;
  bytes = 0;

  constructor(key: string, slot: number) {
    this.key = key;
    this.handle = NO_VALUE;
    this.length = 0;
    this.version = 0;
    this.slot = slot;
  }
}

/** By code, then key. */
export function compareCodeAndKey(left: CodeAndKey, right: CodeAndKey): number {
  if (left.code !== right.code) return left.code - right.code;
  if (left.key === right.key) return 0;
  return left.key < right.key ? -1 : 1;
}

/** Fails on a code that isn't an unsigned 32-bit integer: a bug of ours. */
export function assertCode(code: number): void {
  assert(Number.isInteger(code) && code >= 0 && code <= CODE_MAX, 'a code is an unsigned 32-bit integer');
}
