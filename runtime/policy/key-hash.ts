/** A key as a policy can hash it: text in the caches, a number in replays. */
export type PolicyKey = string | number;

const SEED = 0x9e3779b9;
const FACTOR = 0x2c1b3c6d;

/** A 32-bit hash of a key, unsigned and well mixed; it is stable, and no secret. */
export function keyHash(key: PolicyKey): number {
  if (typeof key === 'number') {
    const low = key | 0;
    return mix(low === key ? low : low ^ Math.imul(Math.floor(key / 0x1_0000_0000), SEED));
  }
  return textHash(key);
}

/** Two lanes of two characters each: neither waits for the other. */
function textHash(text: string): number {
  const { length } = text;
  let left = SEED;
  let right = length;
  let at = 0;
  for (; at + 3 < length; at += 4) {
    left = Math.imul(left ^ (text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16)), FACTOR);
    right = Math.imul(right ^ (text.charCodeAt(at + 2) | (text.charCodeAt(at + 3) << 16)), FACTOR);
    left ^= left >>> 15;
    right ^= right >>> 15;
  }
  for (; at < length; at += 1) {
    left = Math.imul(left ^ text.charCodeAt(at), FACTOR);
    left ^= left >>> 15;
  }
  return mix(Math.imul(left, FACTOR) ^ right);
}

/** Spreads 32 bits over 32 bits, one to one. */
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad);
  hash = Math.imul(hash ^ (hash >>> 15), 0x735a2d97);
  return (hash ^ (hash >>> 15)) >>> 0;
}
