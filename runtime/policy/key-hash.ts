/** A key as a policy can hash it: text in the caches, a number in replays. */
export type PolicyKey = string | number;

const SEED = 0x9e3779b9;

/** A 32-bit hash of a key, unsigned and well mixed; it is stable, and no secret. */
export function keyHash(key: PolicyKey): number {
  if (typeof key === 'number') {
    const high = Math.floor(key / 0x1_0000_0000);
    return mix((key | 0) ^ Math.imul(high, SEED));
  }
  let hash = SEED;
  for (let at = 0; at < key.length; at += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
  }
  return mix(hash);
}

/** Spreads 32 bits over 32 bits, one to one. */
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad);
  hash = Math.imul(hash ^ (hash >>> 15), 0x735a2d97);
  return (hash ^ (hash >>> 15)) >>> 0;
}
