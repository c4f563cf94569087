import { createHash, hash as hashOnce } from 'node:crypto';
import type { Hash } from '../ports/hash.ts';

/** SHA-256 by OpenSSL. */
export class NodeHash implements Hash {
  sha256Hex(data: Uint8Array | string): string {
    return hashOnce('sha256', data, 'hex');
  }

  sha256(data: Uint8Array | string): Uint8Array {
    return createHash('sha256').update(data).digest();
  }
}
