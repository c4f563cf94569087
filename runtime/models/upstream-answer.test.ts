import { describe, expect, it } from 'vitest';
import { parseJsonBytes, parseRetryAfter } from './upstream-answer.ts';

const NOW_MS = Date.UTC(2024, 0, 1);

describe('parseRetryAfter', () => {
  it.each([
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': '0.25' }, 250],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Mon, 01 Jan 2024 00:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Sun, 31 Dec 2023 00:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '120', 'retry-after': '2' }, 120],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '99999999999999' }, undefined],
    [{}, undefined],
  ])('reads %o as %s ms', (headers, expected) => {
    expect(parseRetryAfter(headers, NOW_MS)).toBe(expected);
  });
});

describe('parseJsonBytes', () => {
  it('tells null from no document', () => {
    expect(parseJsonBytes(Buffer.from('null'))).toEqual({ value: null });
    expect(parseJsonBytes(Buffer.from('nul'))).toBeUndefined();
    expect(parseJsonBytes(Buffer.from([0x22, 0xc3, 0x22]))).toBeUndefined();
  });
});
