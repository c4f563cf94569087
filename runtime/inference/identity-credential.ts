import { RepriseError } from '../errors.ts';
import type { Hash } from '../ports/hash.ts';

const CREDENTIAL_LENGTH_MAX = 8_192;
const PRINTABLE = /^[\x21-\x7e]+$/;
const HMAC_BLOCK_BYTES = 64;
const ENCODER = new TextEncoder();

/**
 * The credential of a request: the bearer token of `authorization`, else `apiKey`; undefined when there is neither.
 * Errors: `invalid_credential` (another scheme alone, characters or a length that no credential has).
 */
export function readCredential(authorization: string | undefined, apiKey: string | undefined): string | undefined {
  const bearer = authorization === undefined ? undefined : bearerToken(authorization);
  const credential = bearer ?? apiKey?.trim();
  if (credential === undefined || credential === '') {
    if (bearer === undefined && authorization !== undefined && authorization.trim() !== '') {
      throw new RepriseError('invalid_credential', 'The Authorization header must be "Bearer <key>".');
    }
    return undefined;
  }
  if (credential.length > CREDENTIAL_LENGTH_MAX || !PRINTABLE.test(credential)) {
    throw new RepriseError('invalid_credential', 'The credential is too long or has characters that no key has.');
  }
  return credential;
}

/** HMAC-SHA-256 as 64 hex characters. */
export function hmacHex(hash: Hash, secret: string, message: string): string {
  const secretBytes = ENCODER.encode(secret);
  const key = new Uint8Array(HMAC_BLOCK_BYTES);
  key.set(secretBytes.length > HMAC_BLOCK_BYTES ? hash.sha256(secretBytes) : secretBytes);
  const inner = hash.sha256(padded(key, 0x36, ENCODER.encode(message)));
  return hash.sha256Hex(padded(key, 0x5c, inner));
}

function padded(key: Uint8Array, pad: number, message: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HMAC_BLOCK_BYTES + message.length);
  for (let index = 0; index < HMAC_BLOCK_BYTES; index += 1) bytes[index] = (key[index] ?? 0) ^ pad;
  bytes.set(message, HMAC_BLOCK_BYTES);
  return bytes;
}

/** Undefined for another scheme. The scheme's case doesn't matter. */
function bearerToken(authorization: string): string | undefined {
  const value = authorization.trim();
  if (value.slice(0, 6).toLowerCase() !== 'bearer') return undefined;
  if (value.length === 6) return '';
  return value[6] === ' ' ? value.slice(7).trim() : undefined;
}
