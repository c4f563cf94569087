import { RepriseError } from '../errors.ts';
import type { Hash } from '../ports/hash.ts';
import { hasLoneSurrogate } from './json.ts';

/** What a key holds beside the body. */
export interface KeyParts {
  readonly tenant: string;
  readonly namespace: string;
  /** In any order, with or without repeats. */
  readonly tags: readonly string[];
  readonly operation: string;
  /** Effective model. */
  readonly model: string;
  readonly modelVersion: string;
  /** Sampling bucket; -1: none. */
  readonly bucket: number;
}

/** Version of the derivation; raising it makes every stored key unreachable. */
export const KEY_VERSION = 1;

/** The key of an exact answer: 64 hex characters. Fails with `invalid_unicode` on a part that UTF-8 can't carry. */
export function deriveKey(hash: Hash, parts: KeyParts, bodyHash: string): string {
  return derive(hash, 'key', parts, bodyHash);
}

/** The scope inside which semantic reuse may happen: 64 hex characters. Fails as `deriveKey` does. */
export function deriveScope(hash: Hash, parts: KeyParts, scopeBodyHash: string): string {
  return derive(hash, 'scope', parts, scopeBodyHash);
}

function derive(hash: Hash, domain: string, parts: KeyParts, bodyHash: string): string {
  const { tenant, namespace, operation, model, modelVersion } = parts;
  const text =
    `reprise-${domain}/${KEY_VERSION};${tenant.length}:${tenant};${namespace.length}:${namespace};` +
    `${tagsText(parts.tags)}${operation.length}:${operation};${model.length}:${model};` +
    `${modelVersion.length}:${modelVersion};${parts.bucket};${bodyHash}`;
  if (hasLoneSurrogate(text)) {
    throw new RepriseError('invalid_unicode', 'A name in the request holds half of a surrogate pair.');
  }
  return hash.sha256Hex(text);
}

function tagsText(tags: readonly string[]): string {
  if (tags.length === 0) return '0;';
  const distinct = [...new Set(tags)].sort();
  let text = `${distinct.length};`;
  for (const tag of distinct) text += `${tag.length}:${tag};`;
  return text;
}
