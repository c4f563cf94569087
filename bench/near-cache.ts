import { LRUCache } from 'lru-cache';
import { NearCache } from '../grid/near-cache/near-cache.ts';
import { POLICY_NAMES, type PolicyName } from '../runtime/policy/policies.ts';

/**
 * Prints what a get and an insert with eviction of the near cache cost beside `lru-cache`, in processor time of this
 * process: `npx tsx bench/near-cache.ts [policy,policy…]`.
 */
const OPERATIONS = 200_000;
const ROUNDS = 3;
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

/** Nanoseconds of processor time for one operation, the least of the rounds. */
function costNs(prepare: () => (at: number) => void): number {
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const operation = prepare();
    const before = process.cpuUsage();
    for (let at = 0; at < OPERATIONS; at += 1) operation(at);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, ((user + system) * 1_000) / OPERATIONS);
  }
  return least;
}

function measure(make: (entries: number) => Subject, entries: number): readonly [getNs: number, insertNs: number] {
  const keys = Array.from({ length: entries + OPERATIONS }, (_, at) => keyOf(at));
  const filled = (): Subject => {
    const subject = make(entries);
    for (let at = 0; at < entries; at += 1) subject.put(keys[at]!);
    return subject;
  };
  const getNs = costNs(() => {
    const subject = filled();
    return (at) => void subject.get(keys[(at * 7_919) % entries]!);
  });
  const insertNs = costNs(() => {
    const subject = filled();
    return (at) => subject.put(keys[entries + at]!);
  });
  return [getNs, insertNs];
}

const policies = (process.argv[2]?.split(',') ?? POLICY_NAMES) as readonly PolicyName[];
console.log('| entries | cache | get, ns | × lru-cache | insert with eviction, ns | × lru-cache |');
console.log('| ---: | --- | ---: | ---: | ---: | ---: |');
for (const entries of [1_000, 10_000, 100_000]) {
  const [getNs, insertNs] = measure(lruCache, entries);
  console.log(`| ${entries} | lru-cache | ${getNs.toFixed(0)} | 1.0 | ${insertNs.toFixed(0)} | 1.0 |`);
  for (const policy of policies) {
    const [ourGetNs, ourInsertNs] = measure((count) => nearCache(policy, count), entries);
    const get = `${ourGetNs.toFixed(0)} | ${(ourGetNs / getNs).toFixed(1)}`;
    const insert = `${ourInsertNs.toFixed(0)} | ${(ourInsertNs / insertNs).toFixed(1)}`;
    console.log(`| ${entries} | ${policy} | ${get} | ${insert} |`);
  }
}
