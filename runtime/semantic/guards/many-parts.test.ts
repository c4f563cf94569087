import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Features } from '../feature-set.ts';
import { extractFeatures } from '../features.ts';
import { PLAIN_LEXICON } from '../lexicons/domain-lexicon.ts';
import { GUARDS } from './guards.ts';
import { extractNegations, negationConflict } from './negation.ts';
import { dateConflict, numberConflict } from './quantities.ts';
import { tokenise } from './tokens.ts';

const NOTHING = extractFeatures('');

describe('quantities of two texts', () => {
  const unit = fc.constantFrom(
    ...'# percent data bits bytes unit:data pound unit:pound money-gbp pound-mass unit:money-gbp time unit:time unit:unit:time month calendar mg unit:mg'.split(
      ' ',
    ),
  );
  const value = fc.constantFrom('1', '2', '0.25', '25', '0.5', '50', '86400000', 'last', 'monday', 'NaN');
  const quantity = fc.tuple(unit, value).map(([of, amount]) => (of === '#' ? `#${amount}` : `${of}:${amount}`));
  const list = fc.array(quantity, { maxLength: 7 }).map((items) => items.sort());

  it('are matched as if each were compared with each', () => {
    fc.assert(
      fc.property(list, list, (numbersA, numbersB) => {
        const [a, b] = [
          { ...NOTHING, numbers: numbersA },
          { ...NOTHING, numbers: numbersB },
        ];
        expect(numberConflict(a, b)).toBe(conflictByPairs(numbersA, numbersB, (one) => !isTemporal(one)));
        expect(dateConflict(a, b)).toBe(conflictByPairs(numbersA, numbersB, isTemporal));
      }),
      { numRuns: 2_000 },
    );
  });

  function conflictByPairs(a: readonly string[], b: readonly string[], counts: (quantity: string) => boolean): number {
    if (a.join(' ') === b.join(' ')) return 0;
    const restA = a.filter((one) => !b.some((two) => areSame(one, two))).filter(counts);
    const restB = b.filter((one) => !a.some((two) => areSame(one, two))).filter(counts);
    const [strongA, strongB] = [restA.some(isStrong), restB.some(isStrong)];
    if (restA.length > 0 && restB.length > 0) return strongA && strongB ? 1 : 0.75;
    if (strongA || strongB) return 0.5;
    return restA.length > 0 || restB.length > 0 ? 0.25 : 0;
  }

  function areSame(one: string, two: string): boolean {
    const [unitA, valueA] = partsOf(one);
    const [unitB, valueB] = partsOf(two);
    if (unitA === unitB) return valueA === valueB;
    if (valueA !== valueB) {
      const [fraction, percent] = unitA === '#' ? [valueA, valueB] : [valueB, valueA];
      const isPair = [unitA, unitB].sort().join(' ') === '# percent';
      return isPair && Number(fraction) < 1 && Number(fraction) * 100 === Number(percent);
    }
    const units = [unitA, unitB];
    const otherThan = (known: string): string => (unitA === known ? unitB : unitA);
    if (units.includes('#')) return true;
    if (units.includes('data')) return ['bits', 'bytes'].includes(otherThan('data'));
    if (units.includes('pound')) return ['money-gbp', 'pound-mass'].includes(otherThan('pound'));
    return unitA === `unit:${unitB}` || unitB === `unit:${unitA}`;
  }

  function partsOf(item: string): [string, string] {
    if (item.startsWith('#')) return ['#', item.slice(1)];
    const colon = item.lastIndexOf(':');
    return [item.slice(0, colon), item.slice(colon + 1)];
  }

  function isTemporal(item: string): boolean {
    return /^(?:clock|calendar|time|month|unit:time|unit:month)\b/u.test(item);
  }

  function isStrong(item: string): boolean {
    return !['calendar:last', '#1', '#0.5', 'time:86400000'].includes(item) && !item.startsWith('unit:');
  }
});

describe('negations of two texts', () => {
  const target = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 });
  const targets = fc.array(target, { minLength: 20, maxLength: 60 }).map((items) => items.sort());

  it('are matched as if each were compared with each', () => {
    fc.assert(
      fc.property(targets, targets, fc.array(target, { maxLength: 20 }), (deniedA, deniedB, stems) => {
        const a = { ...NOTHING, negations: deniedA, stems };
        const b = { ...NOTHING, negations: deniedB, stems };
        expect(negationConflict(a, b)).toBe(conflictByPairs(a, b));
      }),
      { numRuns: 500 },
    );
  });

  function conflictByPairs(a: Features, b: Features): number {
    const left = [...b.negations];
    const more = a.negations.filter((one) => {
      const at = left.findIndex((two) => areSame(one, two));
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
    if (more.length === 0 && left.length === 0) return 0;
    return isSaid(more, b) || isSaid(left, a) ? 1 : 0.5;
  }

  function areSame(one: string, two: string): boolean {
    const shorter = Math.min(one.length, two.length);
    return one === two || (shorter >= 3 && one.slice(0, shorter) === two.slice(0, shorter));
  }

  function isSaid(denied: readonly string[], { stems, negations }: Features): boolean {
    return denied.some((one) => one !== '' && stems.includes(one) && !negations.includes(one));
  }

  it.each([
    ['not now, but not here nor there with cats', ['cats', 'cats', 'cats']],
    ['Never again. Not a dog', ['again', 'dog']],
    ["We don't. It works", ['']],
    ["The lamp works but the radio doesn't", ['radio']],
    ['not not not boats', ['boats', 'boats', 'boats']],
  ])('are found: %s', (text, expected) => {
    const stems = expected.map((word) => (word === '' ? '' : extractFeatures(word).stems[0]!));
    expect(extractNegations(tokenise(text))).toEqual(stems.sort());
  });
});

describe('texts of very many negations or quantities', () => {
  const many = (count: number, part: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => part(at)).join(' ');

  it.each([
    ['numbers', many(8_000, (at) => String(1_000 + at)), many(8_000, (at) => String(50_000 + at))],
    ['negations', many(8_000, (at) => `not za${at.toString(36)}q`), many(8_000, (at) => `not yb${at.toString(36)}q`)],
  ])('take no time that grows with the pairs of them: %s', (_what, textA, textB) => {
    const [a, b] = [extractFeatures(textA), extractFeatures(textB)];
    const started = performance.now();
    for (const guard of GUARDS.values()) guard(a, b, PLAIN_LEXICON);
    // Of each pair it was seconds.
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it('are read without looking ahead from each negation', () => {
    const tokens = tokenise("don't ".repeat(20_000));
    const started = performance.now();
    extractNegations(tokens);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
