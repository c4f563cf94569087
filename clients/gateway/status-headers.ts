import type { CacheStatus } from '../../runtime/ports/service.ts';

/** Every header that tells of the cache. */
export const STATUS_HEADERS: readonly string[] = [
  'cache-status',
  'age',
  'x-reprise-entry',
  'x-reprise-similarity',
  'x-reprise-probability',
  'x-reprise-unconfirmed',
];

const TOKEN = /^[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*$/;

function parameterText(text: string): string {
  if (TOKEN.test(text)) return text;
  return `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}

/** The `Cache-Status` value (RFC 9211) of a reply. */
export function cacheStatusText(status: CacheStatus): string {
  const detail = status.detail === '' ? '' : `; detail=${parameterText(status.detail)}`;
  if (status.outcome === 'hit') {
    const ttl = Number.isFinite(status.ttlMs) ? `; ttl=${Math.floor(status.ttlMs / 1_000)}` : '';
    return `reprise; hit${ttl}${detail}`;
  }
  const forward = status.outcome === 'bypass' ? 'bypass' : 'miss';
  return `reprise; fwd=${forward}${status.stored ? '; stored' : ''}${detail}`;
}

/** Sets each header of a cache status. */
export function eachStatusHeader(status: CacheStatus, on: { set(name: string, value: string): void }): void {
  on.set('cache-status', cacheStatusText(status));
  if (status.outcome === 'hit') on.set('age', String(Math.max(0, Math.floor(status.ageMs / 1_000))));
  if (status.entryId !== '') on.set('x-reprise-entry', status.entryId);
  if (status.similarity !== undefined) on.set('x-reprise-similarity', status.similarity.toFixed(4));
  if (status.probability !== undefined) on.set('x-reprise-probability', status.probability.toFixed(4));
  if (status.unconfirmed) on.set('x-reprise-unconfirmed', 'true');
}
