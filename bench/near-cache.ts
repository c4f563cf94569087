import { LRUCache } from 'lru-cache';
import { NearCache } from '../grid/near-cache/near-cache.ts';
import { POLICY_NAMES, type PolicyName } from '../runtime/ports/options.ts';

/**
 * Prints what a get and an insert with eviction of the near cache cost beside `lru-cache`, in processor time of this
 * process, medians over rounds: `npx tsx bench/near-cache.ts [policy,policy…]`.
 */
const OPERATIONS = 200_000;
const ROUNDS = 5;
const KEY_LENGTH = 64;
const VALUE_BYTES = 100;
/** What the near cache charges for one value of the bench. */
const CHARGE_BYTES = VALUE_BYTES + 2 * KEY_LENGTH + 448;

interface Subject {
  get(key: string): unknown;
  put(key: string): void;
}

function keyOf(at: number): string {
  return at.toString(16).padStart(KEY_LENGTH, '0');
}

function nearCache(policy: PolicyName, entries: number): Subject {
  const cache = new NearCache<number>({ bytesMax: entries * CHARGE_BYTES, policy });
  return {
    get: (key) => cache.get(key),
    put: (key) => void cache.publish(cache.reserve(key), 1, VALUE_BYTES),
  };
}

function lruCache(entries: number): Subject {
  const cache = new LRUCache<string, number>({ max: entries });
  return { get: (key) => cache.get(key), put: (key) => void cache.set(key, 1) };
}

/** Nanoseconds of processor time for one operation. */
function costNs(operation: (at: number) => void): number {
  const before = process.cpuUsage();
  for (let at = 0; at < OPERATIONS; at += 1) operation(at);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1_000) / OPERATIONS;
}

function median(costs: readonly number[]): number {
  return costs.toSorted((left, right) => left - right)[Math.floor(costs.length / 2)]!;
}

/** Costs of a get and of an insert with eviction, round by round: all subjects take their turns in each. */
function measure(makers: ReadonlyMap<string, () => Subject>, entries: number): ReadonlyMap<string, [number, number]> {
  const keys = Array.from({ length: entries + OPERATIONS }, (_, at) => keyOf(at));
  // Once through a map, so that no subject pays for the others' first look at a text.
  const seen = new Set(keys);
  const costs = new Map([...makers.keys()].map((name) => [name, { get: [] as number[], insert: [] as number[] }]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, make] of makers) {
      const subject = make();
      for (let at = 0; at < entries; at += 1) subject.put(keys[at]!);
      const getNs = costNs((at) => void subject.get(keys[(at * 7_919) % entries]!));
      const insertNs = costNs((at) => subject.put(keys[entries + at]!));
      // The first round is for the compiler.
      if (round === 0) continue;
      costs.get(name)?.get.push(getNs);
      costs.get(name)?.insert.push(insertNs);
    }
  }
  seen.clear();
  return new Map([...costs].map(([name, { get, insert }]) => [name, [median(get), median(insert)]]));
}

const policies = (process.argv[2]?.split(',') ?? POLICY_NAMES) as readonly PolicyName[];
console.log('| entries | cache | get, ns | × lru-cache | insert with eviction, ns | × lru-cache |');
console.log('| ---: | --- | ---: | ---: | ---: | ---: |');
for (const entries of [1_000, 10_000, 100_000]) {
  const makers = new Map<string, () => Subject>([['lru-cache', () => lruCache(entries)]]);
  for (const policy of policies) makers.set(policy, () => nearCache(policy, entries));
  const costs = measure(makers, entries);
  const [getNs, insertNs] = costs.get('lru-cache') ?? [NaN, NaN];
  for (const [name, [ourGetNs, ourInsertNs]] of costs) {
    const get = `${ourGetNs.toFixed(0)} | ${(ourGetNs / getNs).toFixed(1)}`;
    const insert = `${ourInsertNs.toFixed(0)} | ${(ourInsertNs / insertNs).toFixed(1)}`;
    console.log(`| ${entries} | ${name} | ${get} | ${insert} |`);
  }
}
