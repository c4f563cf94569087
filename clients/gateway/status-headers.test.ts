import { describe, expect, it } from 'vitest';
import { MISS_STATUS, hitStatus } from './fake-service.ts';
import { cacheStatusText, eachStatusHeader } from './status-headers.ts';
import type { CacheStatus } from '../../runtime/ports/service.ts';

function headersOf(status: CacheStatus): Record<string, string> {
  const headers: Record<string, string> = {};
  eachStatusHeader(status, { set: (name, value) => (headers[name] = value) });
  return headers;
}

describe('cacheStatusText', () => {
  it.each<[CacheStatus, string]>([
    [hitStatus(), 'reprise; hit; ttl=3600; detail=exact-l1'],
    [hitStatus({ ttlMs: Infinity, detail: 'semantic' }), 'reprise; hit; detail=semantic'],
    [hitStatus({ ttlMs: -1_500, detail: 'stale' }), 'reprise; hit; ttl=-2; detail=stale'],
    [MISS_STATUS, 'reprise; fwd=miss; stored'],
    [hitStatus({ outcome: 'miss', detail: 'partial-3/8' }), 'reprise; fwd=miss; detail=partial-3/8'],
    [hitStatus({ outcome: 'bypass', detail: 'no-store' }), 'reprise; fwd=bypass; detail=no-store'],
    [hitStatus({ outcome: 'bypass', detail: 'a "b"\r\n' }), 'reprise; fwd=bypass; detail="a \\"b\\"??"'],
  ])('%o', (status, expected) => {
    expect(cacheStatusText(status)).toBe(expected);
  });
});

describe('eachStatusHeader', () => {
  it('tells age and entry of a hit', () => {
    expect(headersOf(hitStatus())).toEqual({
      'cache-status': 'reprise; hit; ttl=3600; detail=exact-l1',
      age: '12',
      'x-reprise-entry': 'ab'.repeat(32),
    });
  });

  it('tells how sure a semantic hit is', () => {
    const headers = headersOf(hitStatus({ detail: 'semantic', similarity: 0.93211, probability: 0.5 }));

    expect(headers).toMatchObject({ 'x-reprise-similarity': '0.9321', 'x-reprise-probability': '0.5000' });
  });

  it('tells an unconfirmed hit', () => {
    expect(headersOf(hitStatus({ unconfirmed: true }))['x-reprise-unconfirmed']).toBe('true');
  });

  it('gives a miss no age', () => {
    expect(headersOf(MISS_STATUS)).not.toHaveProperty('age');
  });
});
