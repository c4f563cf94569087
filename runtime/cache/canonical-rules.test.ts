import { describe, expect, it } from 'vitest';
import { hasCode } from '../errors.ts';
import { compileBlankRules } from './canonical-rules.ts';

function outcome(pattern: string): string {
  try {
    compileBlankRules([{ pattern, replacement: '' }]);
    return 'accepted';
  } catch (error) {
    return hasCode(error, 'config_invalid') ? 'refused' : 'failed';
  }
}

describe('compileBlankRules', () => {
  it.each([
    ['('],
    ['\\'],
    [''],
    ['a*'],
    ['a|'],
    ['(a)\\1'],
    ['\\b'],
    ['(?m)^'],
    ['(?=a)b'],
    ['(?:(?:a{1,50}){1,50})b'],
    ['(?:[a-z]?){900}[xy]'],
    ['x'.repeat(2_000)],
  ])('refuses /%s/', (pattern) => {
    expect(outcome(pattern)).toBe('refused');
  });

  it.each([
    ['\\d{4}-\\d{2}-\\d{2}'],
    ['[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'],
    ['req_[A-Za-z0-9]+'],
    ['[(a+)]+'],
    ['(?:Mon|Tue)day'],
    ['(?:\\d{1,3}\\.){3}\\d{1,3}'],
    ['(?:[0-9a-f]{2}:){15}[0-9a-f]{2}'],
    ['x(?:a?b){8}'],
    ['(a+)+b'],
    ['a+a+a+b'],
    ['(?i)request (?P<id>\\w+)'],
  ])('accepts /%s/', (pattern) => {
    expect(outcome(pattern)).toBe('accepted');
  });

  it('applies rules in order, everywhere, with the replacement as it stands', () => {
    const blank = compileBlankRules([
      { pattern: '\\d+', replacement: '$&' },
      { pattern: 'b', replacement: 'c' },
    ]);
    expect(blank?.('1b2b')).toBe('$&c$&c');
  });

  it.each([['a+a+a+b'], ['(a+)+b'], ['(?:a|aa)+b'], ['(?:a?b?){2,}c'], ['.*.*x']])(
    'takes no longer for /%s/ than the text is long',
    (pattern) => {
      const text = 'a'.repeat(16_384);
      expect(compileBlankRules([{ pattern, replacement: '' }])?.(text)).toBe(text);
    },
  );

  it('leaves a text with more than 64 places as it is, counted over all rules', () => {
    const blank = compileBlankRules([
      { pattern: '\\d', replacement: '-' },
      { pattern: 'b', replacement: '+' },
    ]);
    expect(blank?.('1'.repeat(63) + 'b')).toBe('-'.repeat(63) + '+');
    expect(blank?.('1'.repeat(64) + 'b')).toBe('1'.repeat(64) + 'b');
    expect(blank?.('1'.repeat(65))).toBe('1'.repeat(65));
  });

  it('searches a text a bounded number of times, however a rule looks past its match', () => {
    const text = 'x'.repeat(16_384);
    expect(compileBlankRules([{ pattern: 'x(?:.*y)?', replacement: '' }])?.(text)).toBe(text);
  });

  it('gives the same every time', () => {
    const blank = compileBlankRules([{ pattern: '\\d+|b+?', replacement: '-' }]);
    expect([1, 2, 3].map(() => blank?.('a12bb3'))).toEqual(['a----', 'a----', 'a----']);
  });

  it('does not cut what lies outside ASCII', () => {
    const blank = compileBlankRules([{ pattern: '[é😀]', replacement: '€' }]);
    expect(blank?.('a😀bé')).toBe('a€b€');
  });

  it('leaves text longer than 16 KiB as it is', () => {
    const blank = compileBlankRules([{ pattern: 'a+', replacement: 'b' }]);
    expect(blank?.('a'.repeat(16_384))).toBe('b');
    expect(blank?.('a'.repeat(16_385))).toBe('a'.repeat(16_385));
  });

  it('is nothing without rules', () => {
    expect(compileBlankRules([])).toBeUndefined();
  });
});
