import { describe, expect, it } from 'vitest';
import { detectFormat } from './detect-format.ts';

function formatOf(content: string | ArrayLike<number>, { name = 'some', isWhole = true } = {}): string | undefined {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content);
  return detectFormat({ name, bytes, isWhole })?.format;
}

const u32 = (...keys: number[]): Uint8Array => new Uint8Array(Uint32Array.from(keys).buffer);
const u64 = (...keys: bigint[]): Uint8Array => new Uint8Array(BigUint64Array.from(keys).buffer);

describe('detectFormat', () => {
  it('tells texts by their lines', () => {
    expect(formatOf('1\n*\n2\n')).toBe('lirs');
    expect(formatOf('1 1 0 0\n')).toBe('arc');
    expect(formatOf('1\n', { name: 'a.lis' })).toBe('arc');
    expect(formatOf('{"timestamp":1,"hash_ids":[]}\n')).toBe('mooncake');
    expect(formatOf('{"schema":"reprise/record/v1"}\n')).toBe('record');
    expect(formatOf('TIMESTAMP,ContextTokens,GeneratedTokens\r\n')).toBe('azure');
    expect(formatOf('time,key\n1,a\n')).toBe('csv');
    expect(formatOf('12,7\n', { name: 'a.csv' })).toBe('csv');
  });

  it('says what told', () => {
    const whyOf = (content: string, name: string): string | undefined =>
      detectFormat({ name, bytes: new TextEncoder().encode(content), isWhole: true })?.why;
    expect(whyOf('1\n', 'a.lis')).toBe('by its name');
    expect(whyOf('1 1 0 0\n', 'a.lis')).toBe('lines of several numbers');
    expect(whyOf('1\n', 'a.trace')).toBe('lines of one number');
  });

  it('looks at whole lines only', () => {
    expect(formatOf('1\n2\n3 4', { isWhole: false })).toBe('lirs');
    expect(formatOf(new TextEncoder().encode('key,a\nü').slice(0, -1), { isWhole: false })).toBe('csv');
  });

  it('tells binary traces by their records', () => {
    expect(formatOf(u32(1, 2, 3, 4, 1, 2))).toBe('u32');
    expect(formatOf(u32(1, 2, 3))).toBe('u32');
    expect(formatOf(u64(1n, 2n, 300n))).toBe('u64');
    expect(formatOf(u64(2n ** 63n + 5n, 2n ** 62n + 7n, 2n ** 61n + 1n))).toBe('u64');
    const record = new DataView(new ArrayBuffer(48));
    for (const at of [0, 24]) {
      record.setUint32(at, 5_000 + at, true);
      record.setBigUint64(at + 4, 77n, true);
      record.setUint32(at + 12, 512, true);
      record.setBigInt64(at + 16, -1n, true);
    }
    expect(formatOf(new Uint8Array(record.buffer))).toBe('oracle-general');
    expect(formatOf([0, 1, 2], { name: 'x.oracleGeneral' })).toBe('oracle-general');
  });

  it('says nothing where nothing tells', () => {
    expect(formatOf('')).toBeUndefined();
    expect(formatOf('hello\n')).toBeUndefined();
  });
});
