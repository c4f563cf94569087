import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Envelope, type Place } from './envelope.ts';
import type { SealKey, SealOptions } from './options.ts';

const PLACE: Place = { map: 'reprise.entries', key: 'k', position: '' };
const FIRST: SealKey = { id: 'first', key: randomBytes(32) };
const SECOND: SealKey = { id: 'second', key: randomBytes(32) };
const HEADER_BYTES = 10;

function envelope(seal?: SealOptions, compressBytesMin = 1_024): Envelope {
  return new Envelope({ seal, compressBytesMin });
}

function sealing(active: SealKey, ...others: SealKey[]): Envelope {
  return envelope({ active, others });
}

const bytes = fc.uint8Array({ maxLength: 200_000 });
const text = fc.string({ maxLength: 5_000 }).map((each) => Buffer.from(each.repeat(20)));

describe('Envelope', () => {
  it.each([
    ['plain', envelope(undefined, Infinity)],
    ['deflated', envelope(undefined, 0)],
    ['sealed', envelope({ active: FIRST, others: [] }, Infinity)],
    ['sealed and deflated', envelope({ active: FIRST, others: [] }, 0)],
  ])('gives back any value that it wrapped, %s', async (_name, made) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(bytes, text), fc.string(), fc.string(), async (value, key, position) => {
        const place = { map: 'reprise.vectors', key, position };
        const opened = await made.open(await made.wrap(value, place), place);
        expect(Buffer.from(opened as Uint8Array).equals(value)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('has the layout that the docs tell', () => {
    expect(envelope().wrap(Buffer.from('abc'), PLACE)).toEqual(
      Buffer.from([0x52, 0x50, 0x56, 1, 0, 0, 3, 0, 0, 0, 0x61, 0x62, 0x63]),
    );
    const sealed = sealing(FIRST).wrap(Buffer.from('abc'), PLACE) as Buffer;
    expect(sealed.subarray(0, HEADER_BYTES + 5)).toEqual(
      Buffer.from([0x52, 0x50, 0x56, 1, 1, 5, 3, 0, 0, 0, ...Buffer.from('first')]),
    );
    expect(sealed.length).toBe(HEADER_BYTES + 5 + 12 + 3 + 16);
  });

  it('shows nothing of what it sealed, and never seals the same twice', async () => {
    const value = Buffer.from('a secret of the patient '.repeat(100));
    const made = sealing(FIRST);
    const [one, other] = [await made.wrap(value, PLACE), await made.wrap(value, PLACE)];
    expect(one.includes('secret')).toBe(false);
    expect(one.equals(other)).toBe(false);
  });

  it('compresses from the bound on, and only where that saves a good part', async () => {
    const zeros = Buffer.alloc(1_024);
    expect((await envelope().wrap(zeros, PLACE)).length).toBeLessThan(100);
    expect((await envelope().wrap(zeros.subarray(1), PLACE)).length).toBe(HEADER_BYTES + 1_023);
    expect((await envelope().wrap(randomBytes(4_096), PLACE)).length).toBe(HEADER_BYTES + 4_096);
  });

  it('gives no view of what it was given to open', () => {
    const wrapped = envelope().wrap(Buffer.from('abc'), PLACE) as Buffer;
    const opened = envelope().open(wrapped, PLACE);
    wrapped.fill(0);
    expect(Buffer.from(opened as Uint8Array).toString()).toBe('abc');
  });
});

describe('Envelope seals', () => {
  it('hold at their place only', () => {
    const wrapped = sealing(FIRST).wrap(Buffer.from('abc'), PLACE);
    for (const moved of [{ map: 'reprise.ledger' }, { key: 'l' }, { position: 'x' }])
      expect(sealing(FIRST).open(wrapped, { ...PLACE, ...moved })).toBe('seal');
  });

  it('break at any changed bit, and say nothing', async () => {
    const wrapped = await sealing(FIRST).wrap(Buffer.from('abcdefgh'.repeat(200)), PLACE);
    fc.assert(
      fc.property(fc.nat(wrapped.length - 1), fc.nat(7), (at, bit) => {
        const tampered = Buffer.from(wrapped);
        tampered[at] = (tampered[at] as number) ^ (1 << bit);
        expect(typeof sealing(FIRST).open(tampered, PLACE)).toBe('string');
      }),
    );
  });

  it('open with the key whose id they name, while it is known', () => {
    const wrapped = sealing(FIRST).wrap(Buffer.from('abc'), PLACE);
    expect(sealing(SECOND, FIRST).open(wrapped, PLACE)).toEqual(Buffer.from('abc'));
    expect(sealing(SECOND).open(wrapped, PLACE)).toBe('key');
    expect(envelope().open(wrapped, PLACE)).toBe('key');
    expect(sealing({ id: FIRST.id, key: SECOND.key }).open(wrapped, PLACE)).toBe('seal');
  });

  it('are asked for where there are keys', () => {
    expect(sealing(FIRST).open(envelope().wrap(Buffer.from('abc'), PLACE), PLACE)).toBe('unsealed');
  });
});

describe('Envelope on what it did not write', () => {
  it('never throws, and gives no value of ours for noise', async () => {
    const made = sealing(FIRST);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), fc.boolean(), async (noise, isMarked) => {
        const stored = Buffer.concat([isMarked ? Buffer.from([0x52, 0x50, 0x56, 1]) : Buffer.alloc(0), noise]);
        expect(typeof (await made.open(stored, PLACE))).toBe('string');
        await envelope().open(stored, PLACE);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['type', 'a string'],
    ['type', undefined],
    ['layout', Buffer.from('RP')],
    ['version', Buffer.from([0x52, 0x50, 0x56, 2, 0, 0, 0, 0, 0, 0])],
    ['layout', Buffer.from([0x52, 0x50, 0x56, 1, 4, 0, 0, 0, 0, 0])],
    ['layout', Buffer.from([0x52, 0x50, 0x56, 1, 0, 0, 2, 0, 0, 0, 0x61])],
    ['layout', Buffer.from([0x52, 0x50, 0x56, 1, 0, 1, 0, 0, 0, 0, 0x61])],
  ])('tells %s', (reason, stored) => {
    expect(envelope().open(stored, PLACE)).toBe(reason);
  });

  it.each([
    ['further than it says', 1_000],
    ['less far than it says', 3_000_000],
    ['to nothing', 0],
  ])('refuses what inflates %s', async (_name, length) => {
    const bomb = Buffer.concat([
      Buffer.from([0x52, 0x50, 0x56, 1, 2, 0, 0, 0, 0, 0]),
      deflateRawSync(Buffer.alloc(2_000_000)),
    ]);
    bomb.writeUInt32LE(length, 6);
    expect(await envelope().open(bomb, PLACE)).toBe('inflate');
  });

  it('refuses keys that it could not use', () => {
    expect(() => sealing({ id: 'short', key: randomBytes(16) })).toThrow(/32 bytes/);
    expect(() => sealing({ id: '', key: randomBytes(32) })).toThrow(/id/);
    expect(() => sealing(FIRST, { id: FIRST.id, key: SECOND.key })).toThrow(/id of its own/);
  });
});
