import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileLexicon, PLAIN_LEXICON } from '../lexicons/domain-lexicon.ts';
import { isTypo } from './typos.ts';

describe('isTypo', () => {
  it.each([
    ['interest', 'intrest'],
    ['transaction', 'transacton'],
    ['python', 'pyhton'],
    ['receive', 'recieve'],
    ['order', 'ordr'],
    ['fluoxetine', 'flouxetine'],
    ['appointment', 'apointmant'],
    ['password', 'passwird'],
  ])('%s and %s are one word', (a, b) => {
    expect(isTypo(a, b, PLAIN_LEXICON)).toBe(true);
    expect(isTypo(b, a, PLAIN_LEXICON)).toBe(true);
  });

  it.each([
    ['slovakia', 'slovenia'],
    ['martin', 'marvin'],
    ['prednisone', 'prednisolone'],
    ['letter', 'better'],
    ['market', 'marker'],
    ['contract', 'contact'],
    ['quinine', 'quinidine'],
    ['cat', 'cut'],
  ])('%s and %s are two', (a, b) => {
    expect(isTypo(a, b, PLAIN_LEXICON)).toBe(false);
    expect(isTypo(b, a, PLAIN_LEXICON)).toBe(false);
  });

  it('never takes two names of a domain for one', () => {
    expect(isTypo('karsten', 'karstan', PLAIN_LEXICON)).toBe(false);
    const lexicon = compileLexicon({ names: ['quelinda', 'quellinda'] });
    expect(isTypo('quelinda', 'quellinda', PLAIN_LEXICON)).toBe(true);
    expect(isTypo('quelinda', 'quellinda', lexicon)).toBe(false);
  });

  it('is symmetric and total', () => {
    const word = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.string({ unit: fc.constantFrom('a', 'b', 'e', 's'), minLength: 4, maxLength: 12 }),
    );
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(isTypo(a, b, PLAIN_LEXICON)).toBe(isTypo(b, a, PLAIN_LEXICON));
      }),
      { numRuns: 500 },
    );
  });
});
