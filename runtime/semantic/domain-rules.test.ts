import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DomainRule } from '../ports/options.ts';
import { DomainRules } from './domain-rules.ts';

const rule = (domain: string, changes: Partial<DomainRule> = {}): DomainRule => ({
  domain,
  namespace: '*',
  model: '*',
  words: [],
  ...changes,
});
const subject = (text: string, changes: object = {}) => ({ namespace: 'default', model: 'm', text, ...changes });
const chosen = (rules: readonly DomainRule[], text: string, changes: object = {}): string | undefined =>
  new DomainRules(rules).match(subject(text, changes))?.rule.domain;

describe('DomainRules', () => {
  it('takes the first rule that fits', () => {
    const rules = [rule('a', { words: ['dose'] }), rule('b', { words: ['dose', 'bill'] }), rule('c')];
    expect(chosen(rules, 'The dose, please')).toBe('a');
    expect(chosen(rules, 'My bill?')).toBe('b');
    expect(chosen(rules, 'Hello')).toBe('c');
  });

  it('finds nothing where no rule fits', () => {
    expect(chosen([rule('a', { words: ['dose'] })], 'overdosed')).toBeUndefined();
    expect(chosen([], 'dose')).toBeUndefined();
  });

  it.each([
    ['a word, whatever its case and accents', 'Café', 'is the CAFE open', true],
    ['not a part of a word', 'dose', 'overdose and doses', false],
    ['a word with any ending', 'medicat*', 'my medications', true],
    ['not an ending of another word', 'medicat*', 'premedication', false],
    ['a phrase', 'blood pressure', 'high blood-pressure!', true],
    ['not the words of a phrase apart', 'blood pressure', 'pressure of blood', false],
    ['a phrase with an open end', 'side effect*', 'any Side Effects?', true],
    ['digits', '999', 'I called 999', true],
    ['other scripts', 'лекарств*', 'о лекарствах', true],
  ])('fits %s', (_, word, text, fits) => {
    expect(chosen([rule('x', { words: [word] })], text)).toBe(fits ? 'x' : undefined);
  });

  it.each([
    ['*', 'clinic-a', true],
    ['clinic-*', 'clinic-a', true],
    ['clinic-*', 'shop', false],
    ['*-a', 'clinic-a', true],
    ['c*n*c-?', 'clinic-?', true],
    ['a*a', 'a', false],
    ['clinic', 'clinic', true],
  ])('the namespace glob %s on %s', (namespace, name, fits) => {
    expect(chosen([rule('x', { namespace })], 'text', { namespace: name })).toBe(fits ? 'x' : undefined);
  });

  it('all that a rule names must fit', () => {
    const rules = [rule('x', { namespace: 'a', model: 'gpt-*', words: ['dose'] })];
    expect(chosen(rules, 'dose', { namespace: 'a', model: 'gpt-1' })).toBe('x');
    expect(chosen(rules, 'dose', { namespace: 'a', model: 'other' })).toBeUndefined();
    expect(chosen(rules, 'dose', { namespace: 'b', model: 'gpt-1' })).toBeUndefined();
    expect(chosen(rules, 'bill', { namespace: 'a', model: 'gpt-1' })).toBeUndefined();
  });

  it('says which word it was', () => {
    const rules = new DomainRules([rule('x', { words: ['bill', 'Side effect*'] })]);
    expect(rules.match(subject('side effects of it'))).toMatchObject({ index: 0, word: 'Side effect*' });
  });

  it('is total and the same each time on any text', () => {
    const rules = new DomainRules([rule('x', { words: ['a*', 'b c', '1*'] }), rule('y')]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const first = rules.match(subject(text));
        expect(rules.match(subject(text))).toEqual(first);
        expect(first).toBeDefined();
      }),
    );
  });
});
