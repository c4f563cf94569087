import type { ControlRecord, ControlShape } from '../cache/control-record.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Hash } from '../ports/hash.ts';

/** Refused pairs, oldest first: hashes of (stored key, asked text), so that no text is kept. */
export type RefusedPairs = readonly string[];

const REFUSED_MAX = 100_000;

export const REFUSALS_SHAPE: ControlShape<RefusedPairs> = {
  empty: [],
  parse: (value) => (Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined),
  merge: (a, b) => bounded([...new Set([...a, ...b])]),
};

/** Pairs that feedback refused for good: this stored answer is never served for this asked text again. */
export class Refusals {
  readonly #record: ControlRecord<RefusedPairs>;
  readonly #hash: Hash;
  #known: ReadonlySet<string> = new Set();
  #knownOf: RefusedPairs = [];

  constructor(record: ControlRecord<RefusedPairs>, hash: Hash) {
    this.#record = record;
    this.#hash = hash;
  }

  /** Learns what other nodes refused, when the ledger changed since. */
  follow(options: CallOptions): Promise<void> {
    return this.#record.follow(options);
  }

  isRefused(storedKey: string, askedText: string): boolean {
    const pairs = this.#record.value;
    if (pairs.length === 0) return false;
    if (pairs !== this.#knownOf) {
      this.#known = new Set(pairs);
      this.#knownOf = pairs;
    }
    return this.#known.has(this.#pair(storedKey, askedText));
  }

  async refuse(storedKey: string, askedText: string, options: CallOptions): Promise<void> {
    const pair = this.#pair(storedKey, askedText);
    await this.#record.update((pairs) => (pairs.includes(pair) ? pairs : bounded([...pairs, pair])), options);
  }

  #pair(storedKey: string, askedText: string): string {
    return this.#hash.sha256Hex(`reprise/refused-pair/1\n${storedKey}\n${askedText}`);
  }
}

function bounded(pairs: readonly string[]): RefusedPairs {
  return pairs.length > REFUSED_MAX ? pairs.slice(pairs.length - REFUSED_MAX) : pairs;
}
