import type { EvictionPolicy, PolicyFactory } from './eviction-policy.ts';
import { Lru } from './lru.ts';
import { Sieve } from './sieve.ts';

/** Every eviction policy by the name that a configuration uses. */
export const POLICIES = {
  lru: (bytesMax: number): EvictionPolicy => new Lru(bytesMax),
  sieve: (bytesMax: number): EvictionPolicy => new Sieve(bytesMax),
} as const satisfies Record<string, PolicyFactory>;

export type PolicyName = keyof typeof POLICIES;

/** A new policy, by name or made by a factory. */
export function makePolicy(policy: PolicyName | PolicyFactory, bytesMax: number): EvictionPolicy {
  return typeof policy === 'string' ? POLICIES[policy](bytesMax) : policy(bytesMax);
}
