import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBytes, parseDurationMs } from './units.ts';

describe('units', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5h', 5_400_000],
    ['7 d', 604_800_000],
    ['0s', 0],
  ])('reads the duration %s', (text, expected) => {
    expect(parseDurationMs(text)).toBe(expected);
  });

  it.each(['', '5', 'ms', '-1s', '1 week', '1e3s', '1S', '5MiB', '1.s', 'constructor', '1toString'])(
    'refuses %j as a duration',
    (text) => {
      expect(parseDurationMs(text)).toBeUndefined();
    },
  );

  it.each([
    ['128MiB', 134_217_728],
    ['1KB', 1_000],
    ['0.5GiB', 536_870_912],
    ['7B', 7],
  ])('reads the size %s', (text, expected) => {
    expect(parseBytes(text)).toBe(expected);
  });

  it.each(['128', '1kib', '1TB', 'MiB', '1h', '-1MiB'])('refuses %j as a size', (text) => {
    expect(parseBytes(text)).toBeUndefined();
  });

  it('reads back every whole number of milliseconds', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2_000_000_000 }), (ms) => {
        expect(parseDurationMs(`${ms}ms`)).toBe(ms);
      }),
    );
  });
});
