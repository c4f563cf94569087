import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldText, normaliseAskedText } from './asked-text.ts';

describe('normaliseAskedText', () => {
  it('makes runs of white space one space and trims', () => {
    expect(normaliseAskedText('  What\t is \u00a0 up?\r\n')).toBe('What is up?');
  });

  it('keeps the inner white space of several lines, where it carries meaning', () => {
    expect(normaliseAskedText('if a:\r\n    b  = 1\n')).toBe('if a:\n    b  = 1');
  });

  it('composes accents', () => {
    expect(normaliseAskedText('cafe\u0301')).toBe('caf\u00e9');
  });

  it('keeps letter case and punctuation', () => {
    expect(normaliseAskedText('IT it? it!')).toBe('IT it? it!');
  });

  it('is idempotent on any string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = normaliseAskedText(text);
        expect(normaliseAskedText(once)).toBe(once);
      }),
    );
  });
});

describe('foldText', () => {
  it('ignores case, accents, spaces and punctuation', () => {
    expect(foldText('Où est-ce, "là"?')).toBe(foldText('ou est ce la'));
  });

  it('tells other letters and digits apart', () => {
    expect(foldText('turn it on')).not.toBe(foldText('turn it off'));
    expect(foldText('room 4')).not.toBe(foldText('room 5'));
  });
});
