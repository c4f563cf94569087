import { describe, expect, it } from 'vitest';
import type { Embedding } from '../ports/embedder.ts';
import { pairSide } from './pair-side.ts';
import { RecentCache } from './recent-cache.ts';
import { SideCache } from './side-cache.ts';
import { encodeVectorRecord } from './vector-record.ts';

const vector = Float32Array.of(0.6, 0.8);
const embedding: Embedding = { vector, tokenCount: 4, truncated: false };
const recordOf = (text: string): Uint8Array =>
  encodeVectorRecord({ scope: 's', key: 'k', embedderId: 'e', expiresAtMs: Infinity, ...pairSide(text), vector });

describe('SideCache', () => {
  it('gives the very side again for a record that it has read', () => {
    const sides = new SideCache();
    const record = recordOf('Where is my order?');
    const side = sides.stored(record);
    expect(side).toEqual(pairSide('Where is my order?'));
    expect(sides.stored(record)).toBe(side);
  });

  it('reads the record that took the place of another one with its key', () => {
    const sides = new SideCache();
    expect(sides.stored(recordOf('Where is my order?'))?.text).toBe('Where is my order?');
    expect(sides.stored(recordOf('Where is my parcel?'))?.text).toBe('Where is my parcel?');
  });

  it('knows nothing of a malformed record', () => {
    const sides = new SideCache();
    expect(sides.stored(Uint8Array.of(1, 2, 3))).toBeUndefined();
    expect(sides.bytes).toBe(0);
  });

  it('never takes one text for another that an embedder gave the same embedding', () => {
    const sides = new SideCache();
    const side = sides.asked('Cancel my order', embedding);
    expect(sides.asked('Cancel my order', embedding)).toBe(side);
    expect(sides.asked('Keep my order', embedding)).toEqual(pairSide('Keep my order'));
  });

  it('stays within its bound', () => {
    const sides = new SideCache();
    const text = 'Where is my order? '.repeat(1_000);
    const records = Array.from({ length: 12 }, () => recordOf(text));
    for (const record of records) sides.stored(record);
    expect(sides.bytes).toBeGreaterThan(0);
    expect(sides.bytes).toBeLessThanOrEqual(8 * 1_024 * 1_024);
  });
});

describe('RecentCache', () => {
  it('lets go of what was not asked for the longest', () => {
    const cache = new RecentCache<string, string>(2, () => 1);
    cache.put('a', '1');
    cache.put('b', '2');
    cache.get('a');
    cache.put('c', '3');
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['1', undefined, '3']);
    expect(cache.bytes).toBe(2);
  });
});
