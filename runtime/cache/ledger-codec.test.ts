import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LedgerHead } from '../ports/ledger.ts';
import { decodeHead, decodeMark, encodeHead, encodeMark, incarnationRandom, isEncodableName } from './ledger-codec.ts';

const uint32 = fc.nat(0xffff_ffff);
const count = fc.oneof(fc.nat(10), fc.maxSafeNat());
const incarnation = fc.record({
  counter: count,
  random: fc.tuple(uint32, uint32).map(([high, low]) => incarnationRandom(high, low)),
});
const name = fc.string({ unit: 'grapheme', maxLength: 40 });
const kind = fc.constantFrom('hard' as const, 'soft' as const);
const head: fc.Arbitrary<LedgerHead> = fc
  .record({
    incarnation,
    older: fc.nat(1_000_000),
    records: fc.array(fc.record({ name, kind, nonce: uint32 }), { maxLength: 12 }),
    floorShare: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ incarnation: own, older, records, floorShare }) => {
    const before = records.length === 0 ? 0 : older;
    const sequence = before + records.length;
    return {
      incarnation: own,
      sequence,
      floor: Math.floor(sequence * floorShare),
      records: records.map((record, index) => ({ ...record, sequence: before + index + 1 })),
    };
  });

describe('ledger codec', () => {
  it('reads every head that it wrote', () => {
    fc.assert(
      fc.property(head, (written) => {
        expect(decodeHead(encodeHead(written))).toEqual(written);
      }),
    );
  });

  it('reads every mark that it wrote', () => {
    fc.assert(
      fc.property(incarnation, count, count, (own, hard, soft) => {
        const written = { incarnation: own, hard, soft };
        expect(decodeMark(encodeMark(written))).toEqual(written);
      }),
    );
  });

  it('calls every cut head malformed', () => {
    fc.assert(
      fc.property(head, fc.nat(), (written, cut) => {
        const bytes = encodeHead(written);
        expect(decodeHead(bytes.subarray(0, cut % bytes.length))).toBe('malformed');
      }),
    );
  });

  it('never throws on bytes from elsewhere', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        bytes[0] = 1;
        decodeHead(bytes);
        decodeMark(bytes);
      }),
    );
  });

  it('leaves the layout of another version alone', () => {
    expect(decodeHead(Uint8Array.of(2, 1, 2, 3))).toBe('unknown');
    expect(decodeMark(Uint8Array.of(2, 1, 2, 3))).toBe('unknown');
  });

  it('keeps the documented layout of a head', () => {
    const bytes = encodeHead({
      incarnation: { counter: 2 ** 32 + 3, random: '0123456789abcdef' },
      sequence: 2,
      floor: 1,
      records: [{ name: 'é', kind: 'hard', sequence: 2, nonce: 0xdeadbeef }],
    });
    expect([...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')).toBe(
      '01' +
        '0000000100000003' +
        '0123456789abcdef' +
        '0000000000000002' +
        '0000000000000001' +
        '0001' +
        '01deadbeef0002c3a9',
    );
  });

  it('refuses a name that UTF-8 would change', () => {
    expect(isEncodableName('tenant/\ud800')).toBe(false);
    expect(isEncodableName('tenant/\u{1f600}\ufeff')).toBe(true);
  });
});
