import { describe, expect, it } from 'vitest';
import { count, counted, duration, oneLine, printable, share, size } from './format.ts';
import { isAtLeast } from './package-info.ts';
import { table } from './table.ts';

describe('duration', () => {
  it.each([
    [-5, '0 ms'],
    [0.4, '0 ms'],
    [999, '999 ms'],
    [1_000, '1 s'],
    [59_999, '1 min'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [3_605_000, '1 h'],
    [86_399_000, '23 h 59 min'],
    [90_000_000, '1 d 1 h'],
    [Infinity, 'for ever'],
  ])('of %d ms is %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
});

describe('numbers for people', () => {
  it('have units and thousands', () => {
    expect([size(512), size(1_536), size(3 * 1_048_576)]).toEqual(['512 B', '1.5 KiB', '3.0 MiB']);
    expect([count(1_234_567), share(1, 3), share(0, 0)]).toEqual(['1,234,567', '33.3 %', '–']);
  });

  it('go with one or many', () => {
    const entries = [0, 1, 2_000].map((value) => counted(value, 'entry', 'entries'));
    expect([...entries, counted(1, 'request'), counted(3, 'request')]).toEqual([
      '0 entries',
      '1 entry',
      '2,000 entries',
      '1 request',
      '3 requests',
    ]);
  });
});

describe('texts of others', () => {
  it('can neither break lines nor drive the terminal', () => {
    expect(oneLine('a\n\u001b[31mb\tc', 20)).toBe('a [31mb c');
    expect(oneLine('abcdef', 4)).toBe('abc…');
    expect(oneLine('😀😀😀', 2)).toBe('😀…');
    expect(printable('a\n\u001b]0;b\u0007')).toBe('a\n]0;b');
  });
});

describe('table', () => {
  it('aligns columns and leaves no space at the ends of lines', () => {
    const rows = [
      ['a', '1', 'x'],
      ['bbb', '100', ''],
    ];
    expect(table(rows, { right: [1], indent: ' ' })).toBe(' a      1  x\n bbb  100\n');
  });
});

describe('isAtLeast', () => {
  it.each([
    [[20, 20, 2], [20, 20], true],
    [[22], [20, 20], true],
    [[20, 19, 9], [20, 20], false],
    [[18, 99], [20, 20], false],
  ])('%o against %o', (version, least, expected) => {
    expect(isAtLeast(version, least)).toBe(expected);
  });
});
