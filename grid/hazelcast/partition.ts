/** The client's hash of a string key, MurmurHash3 of its serialised form. It computes the same, ten times more slowly. */
const SEED = 0x01000193;
const LENGTH_BYTES = 4;
const scratch = Buffer.allocUnsafe(1_024);
const UTF8_BYTES_MAX = 3;

/** The partition of a key; undefined for a key so long that the client may as well be asked. */
export function partitionOf(key: string, partitionCount: number): number | undefined {
  if (LENGTH_BYTES + key.length * UTF8_BYTES_MAX > scratch.length) return undefined;
  const length = scratch.write(key, LENGTH_BYTES);
  scratch.writeInt32BE(length);
  return Math.abs(murmur3(LENGTH_BYTES + length)) % partitionCount;
}

/** Of the scratch's first `length` bytes, as a signed integer. */
function murmur3(length: number): number {
  const tailAt = length & ~3;
  let hash = SEED;
  for (let at = 0; at < tailAt; at += 4) {
    hash ^= mix(byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16) | (byte(at + 3) << 24));
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let at = length - 1; at >= tailAt; at -= 1) tail = (tail << 8) | byte(at);
  if (length > tailAt) hash ^= mix(tail);
  hash ^= length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function mix(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

function byte(at: number): number {
  return scratch[at] as number;
}
