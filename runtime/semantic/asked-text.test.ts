import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldText, lightFold, normaliseAskedText, sameFold, spellingDiffers } from './asked-text.ts';

describe('normaliseAskedText', () => {
  it('trims and makes any lone space a plain one', () => {
    expect(normaliseAskedText('  What\u00a0is\u2003up?\r\n')).toBe('What is up?');
  });

  it('keeps inner runs of white space', () => {
    expect(normaliseAskedText(' count: a    b\tc ')).toBe('count: a    b\tc');
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

describe('spellingDiffers', () => {
  it.each([
    ['What does polish mean?', 'What does Polish mean?'],
    ['Repeat exactly: Hello', 'Repeat exactly: hello'],
    ['Does MAY mean the month?', 'Does may mean the month?'],
    ['tell me about turkey', 'tell me about Turkey'],
    ['What is a resume?', 'What is a r\u00e9sum\u00e9?'],
    ['Ano novo', 'A\u00f1o novo'],
    ['Is schon a word', 'Is sch\u00f6n a word'],
    ['Count the spaces in: a     b', 'Count the spaces in: a b'],
    ['Echo "a  b c"', 'Echo "a b  c"'],
    ['How many spaces are in a  b', 'How many spaces are in a b'],
    ['Repeat a    b', 'Repeat a b'],
    ['US', 'us'],
    ['x\u00b2', 'x2'],
  ])('is true for %s | %s', (a, b) => {
    expect(spellingDiffers(a, b)).toBe(true);
    expect(spellingDiffers(b, a)).toBe(true);
  });

  it.each([
    ['how do i reset my password', 'How do I reset my password?'],
    ["i'm late. what now", "I'm late. What now?"],
    ['WHERE IS MY ORDER', 'Where is my order?'],
    ['Where is Polish spoken', 'where is Polish spoken?'],
    ['where is  my order', 'Where is my order?'],
    ['It broke.  What now?', 'It broke. What now?'],
    ['caf\u00e9 menu', 'Caf\u00e9 menu'],
    ['a long-term loan', 'A long term loan'],
  ])('is false for %s | %s', (a, b) => {
    expect(spellingDiffers(a, b)).toBe(false);
    expect(spellingDiffers(b, a)).toBe(false);
  });

  it('ends on texts made to make it backtrack', () => {
    for (const unit of ['. ', '.', ' ', '."', 'I ', 'A. ', '\t']) {
      const text = unit.repeat(50_000);
      expect(spellingDiffers(`${text}x`, `${text}x.`)).toBe(false);
      expect(lightFold(`${text}x`)).toBe(lightFold(`${text}X.`));
    }
  });

  it('is symmetric and finds no text unlike itself', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('a', 'A', 'i', 'I', ' ', '.', '?', '\u0301', '\t') }),
    );
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        expect(spellingDiffers(a, a)).toBe(false);
        expect(spellingDiffers(a, b)).toBe(spellingDiffers(b, a));
      }),
    );
  });
});

describe('lightFold', () => {
  it('ignores case, final stops and the shape of quotes', () => {
    expect(lightFold('It\u2019s done!')).toBe(lightFold("it's done"));
  });

  it('keeps signs, accents and runs of spaces', () => {
    expect(lightFold('a \u2200 b')).not.toBe(lightFold('a \u2203 b'));
    expect(lightFold('ano')).not.toBe(lightFold('a\u00f1o'));
    expect(lightFold('a   b')).not.toBe(lightFold('a b'));
  });
});

describe('sameFold', () => {
  const anyText = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('a', 'A', 'b', '1', ' ', '.', 'é', 'É', '’', '\u0301', 'ﬁ', 'f', 'i') }),
  );

  it('says what comparing the folds says', () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        expect(sameFold(a, b)).toBe(foldText(a) === foldText(b));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['Turn it on!', 'turn it on', true],
    ['Où est-ce?', 'ou est ce', true],
    ['room 4', 'room 5', false],
    ['', '…', true],
  ])('%j and %j: %j', (a, b, same) => {
    expect(sameFold(a, b)).toBe(same);
  });
});
