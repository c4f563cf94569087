import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entry } from '../ports/entry.ts';
import { decodeEntry, encodeEntry } from './entry-codec.ts';

const name = fc.string({ maxLength: 12, unit: 'grapheme' });
const amount = fc.double({ min: 0, max: 1e12, noNaN: true });
const count = fc.nat();

const entries: fc.Arbitrary<Entry> = fc
  .record({
    key: fc.constant('k'),
    operation: fc.constantFrom('chat.completions' as const, 'completions' as const, 'embeddings' as const),
    kind: fc.constantFrom('body' as const, 'stream' as const),
    contentType: name,
    payload: fc.uint8Array({ maxLength: 200 }),
    usage: fc.record({ promptTokens: count, completionTokens: count }),
    cost: amount,
    calledAtMs: amount,
    expiresAtMs: fc.oneof(amount, fc.constant(Infinity)),
    graceMs: amount,
    position: fc.record({
      incarnation: fc.record({ counter: fc.maxSafeNat(), random: name }),
      sequence: fc.maxSafeNat(),
      nonce: fc.maxSafeNat(),
    }),
    tenant: name,
    namespace: name,
    tags: fc.array(name, { maxLength: 4 }),
    model: name,
    modelVersion: name,
    scope: name,
    askedText: fc.string({ maxLength: 60, unit: 'grapheme' }),
    provenance: fc.record({
      node: name,
      upstream: name,
      systemFingerprint: name,
      modelMs: amount,
      firstTokenMs: amount,
    }),
  })
  .chain((entry) =>
    fc.tuple(fc.nat(entry.payload.length), fc.nat(entry.payload.length)).map(([a, b]) => ({
      ...entry,
      usageEventStart: Math.min(a, b),
      usageEventEnd: Math.max(a, b),
    })),
  );

function sample(): Entry {
  return {
    key: 'k',
    operation: 'chat.completions',
    kind: 'stream',
    contentType: 'text/event-stream',
    payload: new TextEncoder().encode('data: {}\n\n'),
    usageEventStart: 0,
    usageEventEnd: 0,
    usage: { promptTokens: 3, completionTokens: 4 },
    cost: 0.25,
    calledAtMs: 1_700_000_000_000,
    expiresAtMs: Infinity,
    graceMs: 1_000,
    position: { incarnation: { counter: 2, random: '0123456789abcdef' }, sequence: 9, nonce: 5 },
    tenant: 'acme',
    namespace: 'default',
    tags: ['red', 'größe'],
    model: 'm',
    modelVersion: '7',
    scope: 'f'.repeat(64),
    askedText: 'what is a cache? 😀',
    provenance: { node: 'n1', upstream: 'u', systemFingerprint: 'fp', modelMs: 12, firstTokenMs: 3 },
  };
}

/** Every field by name, wherever it lives. */
function fields(entry: Entry | undefined): unknown {
  return entry === undefined ? undefined : { ...entry, askedText: entry.askedText };
}

describe('entry codec', () => {
  it('gives back what was encoded', () => {
    fc.assert(
      fc.property(entries, (entry) => {
        expect(fields(decodeEntry('k', encodeEntry(entry)))).toEqual(entry);
      }),
    );
  });

  it('decodes at any offset of a larger buffer', () => {
    const bytes = encodeEntry(sample());
    for (let offset = 0; offset < 9; offset++) {
      const larger = new Uint8Array(bytes.length + 20);
      larger.set(bytes, offset);
      expect(fields(decodeEntry('k', larger.subarray(offset, offset + bytes.length)))).toEqual(sample());
    }
  });

  it('does not copy the payload', () => {
    const bytes = encodeEntry(sample());
    expect(decodeEntry('k', bytes)?.payload.buffer).toBe(bytes.buffer);
  });

  it('knows nothing of another version', () => {
    const bytes = encodeEntry(sample());
    bytes[3] = 2;
    expect(decodeEntry('k', bytes)).toBeUndefined();
  });

  it('knows nothing of any shorter or longer text', () => {
    const bytes = encodeEntry(sample());
    for (let length = 0; length < bytes.length; length++) {
      expect(decodeEntry('k', bytes.subarray(0, length))).toBeUndefined();
    }
    const longer = new Uint8Array(bytes.length + 1);
    longer.set(bytes);
    expect(decodeEntry('k', longer)).toBeUndefined();
  });

  it('never throws on changed bytes, and what it returns can be read', () => {
    const change = fc.tuple(fc.nat(), fc.nat(255));
    fc.assert(
      fc.property(entries, fc.array(change, { minLength: 1, maxLength: 6 }), (entry, changes) => {
        const bytes = encodeEntry(entry);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        const decoded = decodeEntry('k', bytes);
        if (decoded === undefined) return;
        expect(decoded.usageEventEnd).toBeLessThanOrEqual(decoded.payload.length);
        expect(Number.isFinite(decoded.calledAtMs)).toBe(true);
        expect(typeof decoded.askedText).toBe('string');
      }),
      { numRuns: 2_000 },
    );
  });

  it('never throws on arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (tail) => {
        const bytes = new Uint8Array(tail.length + 4);
        bytes.set([0x52, 0x50, 0x45, 1]);
        bytes.set(tail, 4);
        const decoded = decodeEntry('k', bytes);
        expect(decoded === undefined || decoded.key === 'k').toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('refuses a number that is none', () => {
    const bytes = encodeEntry(sample());
    new DataView(bytes.buffer).setFloat64(16, Number.NaN, true);
    expect(decodeEntry('k', bytes)).toBeUndefined();
  });

  it('lays its bytes out as docs/entry-layout.md says', () => {
    const bytes = encodeEntry(sample());
    const view = new DataView(bytes.buffer);
    expect([...bytes.subarray(0, 8)]).toEqual([0x52, 0x50, 0x45, 1, 0, 1, 2, 0]);
    expect(view.getFloat64(8, true)).toBe(1_700_000_000_000);
    expect(view.getFloat64(48, true)).toBe(9);
    const lengths = Array.from({ length: 12 }, (_, i) => view.getUint32(120 + i * 4, true));
    expect(lengths).toEqual([16, 4, 7, 1, 1, 17, 64, 2, 1, 2, 3, 5]);
    const names = bytes.subarray(168, 168 + view.getUint32(104, true));
    expect(new TextDecoder().decode(names).startsWith('0123456789abcdefacmedefaultm7text/event-stream')).toBe(true);
    const payloadAt = 168 + view.getUint32(104, true) + view.getUint32(108, true);
    expect(new TextDecoder().decode(bytes.subarray(payloadAt))).toBe('data: {}\n\n');
    expect(view.getUint32(112, true)).toBe(10);
  });
});
