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

let lastA: readonly string[] | undefined;
let lastB: readonly string[] | undefined;
let last: Unmatched | undefined;

/** The guards of one candidate ask for the same pair one after the other, so the last one is kept. */
function unmatched(a: readonly string[], b: readonly string[], counts: (quantity: string) => boolean): Unmatched {
  if (last === undefined || lastA !== a || lastB !== b) {
    lastA = a;
    lastB = b;
    last = unmatchedOnce(a, b);
  }
  return { a: last.a.filter(counts), b: last.b.filter(counts) };
}

/** Equal ones drop out, then those that say the same in another way. */
function unmatchedOnce(a: readonly string[], b: readonly string[]): Unmatched {
  const indexA = new QuantityIndex(a);
  const indexB = new QuantityIndex(b);
  return {
    a: a.filter((quantity) => !indexB.hasCompatible(quantity)),
    b: b.filter((quantity) => !indexA.hasCompatible(quantity)),
  };
}

/** Quantities by their values: who is looked for among many takes no longer than among few. */
class QuantityIndex {
  readonly #unitsByValue = new Map<string, Set<string>>();
  /** Of "25 %", and of "a quarter" in hundredths. */
  readonly #percents = new Set<number>();
  readonly #fractions = new Set<number>();

  constructor(quantities: readonly string[]) {
    for (const quantity of quantities) {
      const [unit, value] = partsOf(quantity);
      const units = this.#unitsByValue.get(value);
      if (units === undefined) this.#unitsByValue.set(value, new Set([unit]));
      else units.add(unit);
      if (unit === 'percent') this.#percents.add(Number(value));
      if (unit === '#' && Number(value) < 1) this.#fractions.add(Number(value) * 100);
    }
  }

  /** The same amount, also with and without its unit, "a day" and "24 hours", pounds of money, "a quarter" and "25 %". */
  hasCompatible(quantity: string): boolean {
    const [unit, value] = partsOf(quantity);
    const units = this.#unitsByValue.get(value);
    if (units !== undefined) {
      if (unit === '#' || units.has('#') || units.has(unit)) return true;
      for (const other of sameUnits(unit)) if (units.has(other)) return true;
    }
    if (unit === '#') return Number(value) < 1 && this.#percents.has(Number(value) * 100);
    return unit === 'percent' && this.#fractions.has(Number(value));
  }
}

/** Units that are named otherwise, or not told apart; symmetric. */
function sameUnits(unit: string): readonly string[] {
  const alike = ALIKE_UNITS.get(unit);
  if (alike !== undefined) return alike;
  const units = [`unit:${unit}`];
  if (unit.startsWith('unit:') && !ALIKE_UNITS.has(unit.slice(5))) units.push(unit.slice(5));
  for (const [wide, narrow] of ALIKE_UNITS) if (narrow.includes(unit)) units.push(wide);
  return units;
}

const ALIKE_UNITS: ReadonlyMap<string, readonly string[]> = new Map([
  ['data', ['bits', 'bytes']],
  ['pound', ['money-gbp', 'pound-mass']],
]);

function partsOf(quantity: string): [unit: string, value: string] {
  if (quantity.startsWith('#')) return ['#', quantity.slice(1)];
  const colon = quantity.lastIndexOf(':');
  return [quantity.slice(0, colon), quantity.slice(colon + 1)];
}
