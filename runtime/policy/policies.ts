import type { PolicyName } from '../ports/options.ts';
import { Adaptive } from './adaptive.ts';
import { Arc } from './arc.ts';
import type { EvictionPolicy, PolicyFactory } from './eviction-policy.ts';
import { Fifo } from './fifo.ts';
import type { PolicyKey } from './key-hash.ts';
import { Gdsf } from './gdsf.ts';
import { InferenceCost } from './inference-cost.ts';
import { Lfu } from './lfu.ts';
import { Lirs } from './lirs.ts';
import { Lru } from './lru.ts';
import { PrefixLru } from './prefix-lru.ts';
import { S3Fifo } from './s3-fifo.ts';
import { Sieve } from './sieve.ts';
import { Slru } from './slru.ts';
import { WTinyLfu } from './w-tiny-lfu.ts';

/** Every eviction policy by the name that a configuration uses. */
export const POLICIES = {
  fifo: <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> => new Fifo<K>(bytesMax),
  lru: <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> => new Lru<K>(bytesMax),
  lfu: <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> => new Lfu<K>(bytesMax),
  slru: <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> => new Slru<K>(bytesMax),
  arc: <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> => new Arc<K>(bytesMax),
  lirs: <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> => new Lirs<K>(bytesMax),
  sieve: <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> => new Sieve<K>(bytesMax),
  's3-fifo': <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> => new S3Fifo<K>(bytesMax),
  'w-tinylfu': <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> =>
    new WTinyLfu<K>(bytesMax, { window: 'adaptive' }),
  'w-tinylfu-fixed': <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> =>
    new WTinyLfu<K>(bytesMax, { window: 'fixed' }),
  gdsf: <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> => new Gdsf<K>(bytesMax),
  'inference-cost': <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> => new InferenceCost<K>(bytesMax),
  'prefix-lru': <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> => new PrefixLru<K>(bytesMax),
  adaptive: <K extends PolicyKey>(bytesMax: number): EvictionPolicy<K> => new Adaptive<K>(bytesMax),
} as const satisfies Record<PolicyName, PolicyFactory>;

/** A new policy, by name or made by a factory. */
export function makePolicy(policy: PolicyName | PolicyFactory, bytesMax: number): EvictionPolicy {
  return typeof policy === 'string' ? POLICIES[policy]<string>(bytesMax) : policy(bytesMax);
}
