import type { Features } from '../feature-set.ts';
import type { DomainLexicon } from '../lexicons/domain-lexicon.ts';
import { compare } from './compare.ts';

/** Amounts or times of each text that the other lacks. */
interface Unmatched {
  readonly a: readonly string[];
  readonly b: readonly string[];
}

/** How far two texts differ in amounts, in [0, 1]: 1 when each has one that the other lacks, 0.5 when one has. Symmetric. */
export function numberConflict(a: Features, b: Features): number {
  return isSameList(a.numbers, b.numbers) ? 0 : conflictOf(unmatched(a.numbers, b.numbers, isAmount));
}

/** How far two texts differ in dates, times and durations, as `numberConflict`. Symmetric. */
export function dateConflict(a: Features, b: Features): number {
  return isSameList(a.numbers, b.numbers) ? 0 : conflictOf(unmatched(a.numbers, b.numbers, isTemporal));
}

/** True when two texts speak of different amounts or units. Symmetric. */
export function amountsDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  return differ(a, b, lexicon, isAmount);
}

/** True when two texts speak of different dates, times of day or durations. Symmetric. */
export function datesDiffer(a: Features, b: Features, lexicon: DomainLexicon): boolean {
  return differ(a, b, lexicon, isTemporal);
}

function differ(a: Features, b: Features, lexicon: DomainLexicon, counts: (quantity: string) => boolean): boolean {
  if (a.numbers.length === 0 && b.numbers.length === 0) return false;
  if (isSameList(a.numbers, b.numbers)) return false;
  const rest = unmatched(a.numbers, b.numbers, counts);
  if (rest.a.length === 0 && rest.b.length === 0) return false;
  if (rest.a.some(isStrong) && rest.b.some(isStrong)) return true;
  if (areFirstAndLast(a.numbers, b.numbers) || areFirstAndLast(b.numbers, a.numbers))
    return compare(a, b, lexicon).near;
  if (!compare(a, b, lexicon).near) return false;
  return rest.a.length > 0 && rest.b.length > 0 ? true : rest.a.some(isStrong) || rest.b.some(isStrong);
}

/** "the first train" and "the last train". */
function areFirstAndLast(one: readonly string[], two: readonly string[]): boolean {
  return one.includes('#1') && !two.includes('#1') && two.includes('calendar:last') && !one.includes('calendar:last');
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}

function conflictOf(rest: Unmatched): number {
  if (rest.a.length > 0 && rest.b.length > 0) return rest.a.some(isStrong) && rest.b.some(isStrong) ? 1 : 0.75;
  if (rest.a.some(isStrong) || rest.b.some(isStrong)) return 0.5;
  return rest.a.length > 0 || rest.b.length > 0 ? 0.25 : 0;
}

function isTemporal(quantity: string): boolean {
  return /^(?:clock|calendar|time|month|unit:time|unit:month)\b/u.test(quantity);
}

function isAmount(quantity: string): boolean {
  return !isTemporal(quantity);
}

/** Words of time that come and go in rephrasings: "arrived today", "in the evening"; a bare unit; a mere one. */
const WEAK = new Set(
  'calendar:today calendar:morning calendar:afternoon calendar:evening calendar:tonight calendar:last calendar:next calendar:ago calendar:tomorrow calendar:yesterday #1 #0.5'.split(
    ' ',
  ),
);

function isStrong(quantity: string): boolean {
  return !WEAK.has(quantity) && !quantity.startsWith('unit:') && quantity !== 'time:86400000';
}

/** Both lists are sorted; equal ones drop out, then those that say the same in another way. */
function unmatched(a: readonly string[], b: readonly string[], counts: (quantity: string) => boolean): Unmatched {
  const restA = a.filter((quantity) => !b.includes(quantity));
  const restB = b.filter((quantity) => !a.includes(quantity));
  const looseA = restA.filter((quantity) => !b.some((other) => areCompatible(quantity, other)));
  const looseB = restB.filter((quantity) => !a.some((other) => areCompatible(quantity, other)));
  return { a: looseA.filter(counts), b: looseB.filter(counts) };
}

/** One amount with and without its unit, "a day" and "24 hours", pounds of money. */
function areCompatible(one: string, two: string): boolean {
  const [unitOne, valueOne] = partsOf(one);
  const [unitTwo, valueTwo] = partsOf(two);
  if (unitOne === unitTwo) return valueOne === valueTwo;
  if (valueOne !== valueTwo)
    return isFraction(unitOne, valueOne, unitTwo, valueTwo) || isFraction(unitTwo, valueTwo, unitOne, valueOne);
  if (unitOne === '#' || unitTwo === '#') return true;
  if (unitOne === 'data' || unitTwo === 'data') return /^(?:bits|bytes)$/u.test(unitOne === 'data' ? unitTwo : unitOne);
  if (unitOne === 'pound' || unitTwo === 'pound')
    return /^(?:money-gbp|pound-mass)$/u.test(unitOne === 'pound' ? unitTwo : unitOne);
  return unitOne === `unit:${unitTwo}` || unitTwo === `unit:${unitOne}`;
}

/** "a quarter" and "25 %". */
function isFraction(unit: string, value: string, otherUnit: string, otherValue: string): boolean {
  return unit === '#' && otherUnit === 'percent' && Number(value) < 1 && Number(value) * 100 === Number(otherValue);
}

function partsOf(quantity: string): [unit: string, value: string] {
  if (quantity.startsWith('#')) return ['#', quantity.slice(1)];
  const colon = quantity.lastIndexOf(':');
  return [quantity.slice(0, colon), quantity.slice(colon + 1)];
}
