/** Synchronous SHA-256. A string is hashed as its UTF-8 bytes. */
export interface Hash {
  /** The digest as 64 lower-case hex characters. */
  sha256Hex(data: Uint8Array | string): string;
  /** The digest as 32 bytes. */
  sha256(data: Uint8Array | string): Uint8Array;
}
