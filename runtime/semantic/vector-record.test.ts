import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractFeatures } from './features.ts';
import { decodeVectorHead, decodeVectorText, encodeVectorRecord } from './vector-record.ts';

const TEXT = 'Is 5 mg of Zolmitriptan not too much? ☂';

function record(text = TEXT) {
  return {
    scope: 'ab'.repeat(32),
    key: 'cd'.repeat(32),
    embedderId: 'table-1',
    expiresAtMs: 1_700_000_000_123,
    text,
    features: extractFeatures(text),
    vector: Float32Array.of(0.6, -0.8, 0),
  };
}

describe('vector record', () => {
  it('gives back what was written', () => {
    const bytes = encodeVectorRecord(record());
    const { text, features, ...head } = record();
    expect(decodeVectorHead(bytes)).toEqual(head);
    expect(decodeVectorText(bytes)).toEqual({ text, features });
  });

  it('gives back the sketch, from the middle of a larger buffer too', () => {
    const sketch = { places: Uint8Array.of(0, 255), vectors: Int8Array.of(1, -2, 127, -127, 0, 5) };
    const bytes = encodeVectorRecord({ ...record(), sketch });
    const larger = new Uint8Array(bytes.length + 7);
    larger.set(bytes, 3);
    expect(decodeVectorText(larger.subarray(3, 3 + bytes.length))?.sketch).toEqual(sketch);
    expect(decodeVectorHead(bytes)?.vector).toEqual(record().vector);
  });

  it('keeps an expiry of never, and any text without lone surrogates', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const bytes = encodeVectorRecord({ ...record(text), expiresAtMs: Infinity });
        expect(decodeVectorHead(bytes)?.expiresAtMs).toBe(Infinity);
        expect(decodeVectorText(bytes)?.text).toBe(text);
      }),
    );
  });

  it('reads from the middle of a larger buffer', () => {
    const bytes = encodeVectorRecord(record());
    const larger = new Uint8Array(bytes.length + 7);
    larger.set(bytes, 3);
    expect(decodeVectorHead(larger.subarray(3, 3 + bytes.length))?.key).toBe(record().key);
  });

  it('is undefined for another layout or another feature version', () => {
    for (const at of [0, 1]) {
      const bytes = encodeVectorRecord(record());
      bytes[at] = (bytes[at] ?? 0) + 1;
      expect(decodeVectorHead(bytes)).toBeUndefined();
      expect(decodeVectorText(bytes)).toBeUndefined();
    }
  });

  it('is undefined for every cut', () => {
    const sketch = { places: Uint8Array.of(3), vectors: Int8Array.of(1, -2) };
    const bytes = encodeVectorRecord({ ...record(), sketch });
    for (let length = 0; length < bytes.length; length += 1) {
      expect(decodeVectorHead(bytes.subarray(0, length))).toBeUndefined();
    }
  });

  it('never throws, whatever the bytes', () => {
    const sketch = { places: Uint8Array.of(3, 4), vectors: Int8Array.of(1, -2) };
    const bytes = encodeVectorRecord({ ...record(), sketch });
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 255 }), (at, value) => {
        const changed = bytes.slice();
        changed[at] = value;
        decodeVectorHead(changed);
        decodeVectorText(changed);
      }),
      { numRuns: 500 },
    );
  });
});
