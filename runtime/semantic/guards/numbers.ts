import type { Token } from './tokens.ts';
import { unitNamed } from './units.ts';
import type { Unit } from './units.ts';
import { CALENDAR_AMBIGUOUS, CALENDAR_WORDS, MULTIPLIERS, ORDINAL_WORDS, SPELLED } from './number-words.ts';

/** Numbers of a text and the tokens that they were read from. */
export interface Extraction {
  /** Canonical quantities, calendar words and bare units, sorted. */
  readonly numbers: readonly string[];
  /** Token index → canonical form, for tokens that are numbers or belong to one; empty for those that only complete one. */
  readonly consumed: ReadonlyMap<number, string>;
}

/** Reads all quantities with their units, spelled-out numbers, times of day and calendar words. */
export function extractNumbers(tokens: readonly Token[]): Extraction {
  const consumed = new Map<number, string>();
  let at = 0;
  while (at < tokens.length) {
    const found =
      readSpokenTime(tokens, at) ?? readQuantity(tokens, at) ?? readCalendar(tokens, at) ?? readBareUnit(tokens, at);
    if (found === undefined) {
      at += 1;
      continue;
    }
    consumed.set(at, found.canonical);
    for (let i = at + 1; i < found.end; i += 1) consumed.set(i, '');
    at = found.end;
  }
  const numbers = [...consumed.values()].filter((canonical) => canonical !== '').sort();
  return { numbers, consumed };
}

interface Found {
  readonly canonical: string;
  readonly end: number;
}

interface Numeral {
  readonly value: number;
  /** As written, where the spelling may matter (versions such as 3.10). */
  readonly spelled: string;
  readonly end: number;
  /** A unit or suffix written without a space ("200mg", "5th", "3pm"). */
  readonly suffix: string;
}

function readQuantity(tokens: readonly Token[], at: number): Found | undefined {
  const currency = leadingCurrency(tokens, at);
  const start = currency === undefined ? at : at + 1;
  const numeral = readDigits(tokens[start]) ?? readSpelled(tokens, start);
  if (numeral === undefined) return undefined;
  const end = start + numeral.end;
  const scaled = scale(tokens, end, numeral);
  const clock =
    currency === undefined
      ? (readClock(tokens, scaled.end, numeral) ?? readSpokenHour(tokens, scaled.end, numeral))
      : undefined;
  if (clock !== undefined) return clock;
  if (currency !== undefined)
    return { canonical: canonical(scaled.value, currency), end: skipUnit(tokens, scaled.end, currency) };
  if (/^(?:st|nd|rd|th)$/u.test(numeral.suffix)) return { canonical: `#${numeral.value}`, end };
  return withUnit(tokens, numeral, scaled);
}

function withUnit(tokens: readonly Token[], numeral: Numeral, scaled: Scaled): Found | undefined {
  let end = scaled.end;
  let value = scaled.value;
  const half = isAndHalf(tokens, end);
  if (half) {
    value += 0.5;
    end += 3;
  }
  if (numeral.suffix !== '' && !scaled.tookSuffix) {
    const unit = unitNamed(numeral.suffix, true);
    return unit === undefined ? undefined : { canonical: canonical(value, unit), end };
  }
  const unit = readUnit(tokens, end);
  if (unit !== undefined) return { canonical: canonical(value, unit.unit), end: unit.end };
  const exact = half || scaled.tookWord || !/\.\d*[1-9]0+$/u.test(numeral.spelled);
  return { canonical: exact ? `#${round(value)}` : `#${numeral.spelled}`, end };
}

/** A unit after a number: "mg", "per cent", "degrees Celsius", "US gallons" keeps its country as a word of its own. */
function readUnit(tokens: readonly Token[], at: number): { unit: Unit; end: number } | undefined {
  let next = at;
  let token = tokens[next];
  if (token === undefined) return undefined;
  if ((token.lower === 'a' || token.lower === 'an' || token.lower === 'of') && isHalf(tokens[at - 1])) {
    next += token.lower === 'of' ? 2 : 1;
    token = tokens[next];
    if (token === undefined) return undefined;
  }
  if (token.lower === 'per' && tokens[next + 1]?.lower === 'cent') {
    return { unit: { dimension: 'percent', factor: 1 }, end: next + 2 };
  }
  if (token.lower === '°' || token.lower === 'degrees' || token.lower === 'degree') {
    const scaleToken = tokens[next + 1];
    const exact = scaleToken === undefined ? undefined : unitNamed(scaleToken.raw.toUpperCase().slice(0, 1), true);
    const named = scaleToken === undefined ? undefined : unitNamed(scaleToken.raw, true);
    const temperature = named ?? (scaleToken?.raw.length === 1 ? exact : undefined);
    if (temperature !== undefined && /^(?:celsius|fahrenheit|kelvin)$/u.test(temperature.dimension)) {
      return { unit: temperature, end: next + 2 };
    }
  }
  const unit = unitNamed(token.raw, true);
  return unit === undefined ? undefined : { unit, end: next + 1 };
}

function isHalf(token: Token | undefined): boolean {
  return token !== undefined && /^(?:half|quarter)$/u.test(token.lower);
}

function leadingCurrency(tokens: readonly Token[], at: number): Unit | undefined {
  const token = tokens[at];
  if (token?.kind !== 'symbol') return undefined;
  const unit = unitNamed(token.raw, true);
  if (unit?.dimension.startsWith('money') !== true) return undefined;
  return readDigits(tokens[at + 1]) === undefined ? undefined : unit;
}

function skipUnit(tokens: readonly Token[], at: number, unit: Unit): number {
  const token = tokens[at];
  return token !== undefined && unitNamed(token.raw, true)?.dimension === unit.dimension ? at + 1 : at;
}

const DIGITS = /^([-−]?)(\d[\d,]*(?:\.\d+)?)([a-zµμ%°/]*)$/iu;

function readDigits(token: Token | undefined): Numeral | undefined {
  if (token?.kind !== 'word' || token.raw.length > 40) return undefined;
  const compound = /^(\d+)-([a-z]+)(?:-[a-z]+)?$/iu.exec(token.raw);
  const match = DIGITS.exec(compound === null ? token.raw : `${compound[1] ?? ''}${compound[2] ?? ''}`);
  if (match === null) return undefined;
  const [, sign = '', digits = '', suffix = ''] = match;
  const spelled = digits.replaceAll(',', '');
  if (suffix !== '' && !isSuffix(suffix)) return undefined;
  return { value: Number(spelled) * (sign === '' ? 1 : -1), spelled: `${sign}${spelled}`, end: 1, suffix };
}

function isSuffix(suffix: string): boolean {
  const lower = suffix.toLowerCase();
  return MULTIPLIERS.has(lower) || /^(?:st|nd|rd|th|am|pm|x)$/u.test(lower) || unitNamed(suffix, true) !== undefined;
}

interface Scaled {
  readonly value: number;
  readonly end: number;
  readonly tookSuffix: boolean;
  readonly tookWord: boolean;
}

/** "1.5 million", "50k"; a lone "m" after digits is metres unless money comes first, so it isn't taken here. */
function scale(tokens: readonly Token[], at: number, numeral: Numeral): Scaled {
  const suffix = numeral.suffix.toLowerCase();
  const own = suffix === 'm' && tokens[at - 2]?.kind !== 'symbol' ? undefined : MULTIPLIERS.get(suffix);
  if (own !== undefined) return { value: numeral.value * own, end: at, tookSuffix: true, tookWord: false };
  const word = tokens[at]?.lower ?? '';
  const factor = word.length > 1 ? MULTIPLIERS.get(word) : undefined;
  if (factor !== undefined)
    return { value: numeral.value * factor, end: at + 1, tookSuffix: suffix === '', tookWord: true };
  return { value: numeral.value, end: at, tookSuffix: suffix === 'x', tookWord: false };
}

/** Times of day: "15:00" is one token with a colon, "3 pm" two. */
function readClock(tokens: readonly Token[], at: number, numeral: Numeral): Found | undefined {
  const half = (/^(?:am|pm)$/iu.exec(numeral.suffix) ?? /^(?:am|pm|a\.m|p\.m)$/u.exec(tokens[at]?.lower ?? ''))?.[0];
  if (half === undefined || numeral.value < 0 || numeral.value > 12) return undefined;
  const hours = (Math.floor(numeral.value) % 12) + (/^p/iu.test(half) ? 12 : 0);
  return { canonical: clockTime(hours, 0), end: numeral.suffix === '' ? at + 1 : at };
}

function clockTime(hours: number, minutes: number): string {
  return `clock:${hours * 60 + minutes}`;
}

/** Times of day that have a name, in minutes. */
const NAMED_TIMES: ReadonlyMap<string, number> = new Map([
  ['noon', 720],
  ['midday', 720],
  ['midnight', 0],
]);
const HALVES_OF_DAY: ReadonlyMap<string, number> = new Map([
  ['morning', 0],
  ['afternoon', 12],
  ['evening', 12],
]);

/** "half past two in the afternoon", "quarter to 9". */
function readSpokenTime(tokens: readonly Token[], at: number): Found | undefined {
  const part = tokens[at]?.lower;
  const side = tokens[at + 1]?.lower;
  if ((part !== 'half' && part !== 'quarter') || (side !== 'past' && side !== 'to')) return undefined;
  const hour = readDigits(tokens[at + 2])?.value ?? smallNumber(tokens[at + 2]?.lower ?? '');
  if (hour === undefined || !Number.isInteger(hour) || hour < 1 || hour > 12) return undefined;
  const minutes = (part === 'half' ? 30 : 15) * (side === 'to' ? -1 : 1);
  const half = halfOfDay(tokens, at + 3);
  const total = ((hour % 12) + half.hours) * 60 + minutes;
  return { canonical: clockTime(0, (total + 1_440) % 1_440), end: half.end };
}

/** "pm", "in the afternoon"; none: as in the morning. */
function halfOfDay(tokens: readonly Token[], at: number): { readonly hours: number; readonly end: number } {
  const half = /^(?:am|pm|a\.m|p\.m)$/u.exec(tokens[at]?.lower ?? '')?.[0];
  if (half !== undefined) return { hours: half.startsWith('p') ? 12 : 0, end: at + 1 };
  const named = HALVES_OF_DAY.get(tokens[at + 2]?.lower ?? '');
  const spoken = tokens[at]?.lower === 'in' && tokens[at + 1]?.lower === 'the' && named !== undefined;
  return spoken ? { hours: named, end: at + 3 } : { hours: 0, end: at };
}

/** "3 o'clock", "three in the afternoon", "8 in the evening". */
function readSpokenHour(tokens: readonly Token[], at: number, numeral: Numeral): Found | undefined {
  if (numeral.suffix !== '' || !Number.isInteger(numeral.value) || numeral.value < 1 || numeral.value > 12)
    return undefined;
  const oclock = /^o'?clock$/u.test(tokens[at]?.lower ?? '');
  const half = halfOfDay(tokens, oclock ? at + 1 : at);
  if (!oclock && half.end !== at + 3) return undefined;
  return { canonical: clockTime((numeral.value % 12) + half.hours, 0), end: half.end };
}

const CLOCK = /^(\d{1,2})[:.](\d{2})(am|pm)?$/iu;

function readCalendar(tokens: readonly Token[], at: number): Found | undefined {
  const token = tokens[at];
  if (token?.kind !== 'word') return undefined;
  const named = NAMED_TIMES.get(token.lower);
  if (named !== undefined) return { canonical: clockTime(0, named), end: at + 1 };
  const clock = token.raw.length <= 8 ? CLOCK.exec(token.raw) : null;
  if (clock !== null) {
    const [, hours = '', minutes = '', glued] = clock;
    const half = glued?.toLowerCase() ?? /^(?:am|pm|a\.m|p\.m)$/u.exec(tokens[at + 1]?.lower ?? '')?.[0];
    const base = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.startsWith('p') ? 12 : 0);
    const end = glued === undefined && half !== undefined ? at + 2 : at + 1;
    return { canonical: clockTime(base, Number(minutes)), end };
  }
  const name = CALENDAR_WORDS.get(token.lower.replace(/'s$/u, ''));
  if (name === undefined || (CALENDAR_AMBIGUOUS.has(token.lower) && !looksLikeMonth(tokens, at))) return undefined;
  return { canonical: name, end: at + 1 };
}

const BEFORE_MONTH = new Set(
  'in of by since until till before after from to this next last mid early late through during between'.split(' '),
);

/** "may" and "march" are months beside a day or year, or after a preposition of time. */
function looksLikeMonth(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  const after = tokens[at + 1];
  if (readDigits(before) !== undefined || readDigits(after) !== undefined) return true;
  return before !== undefined && BEFORE_MONTH.has(before.lower);
}

function readBareUnit(tokens: readonly Token[], at: number): Found | undefined {
  const token = tokens[at];
  if (token === undefined || (token.kind !== 'word' && token.kind !== 'symbol')) return undefined;
  if (token.lower === 'per' && tokens[at + 1]?.lower === 'cent') return { canonical: 'unit:percent:1', end: at + 2 };
  const unit = unitNamed(token.raw, false);
  if (unit !== undefined && isAndHalf(tokens, at + 1)) return { canonical: canonical(1.5, unit), end: at + 4 };
  return unit === undefined ? undefined : { canonical: `unit:${unit.dimension}:${unit.factor}`, end: at + 1 };
}

/** "an hour and a half". */
function isAndHalf(tokens: readonly Token[], at: number): boolean {
  return tokens[at]?.lower === 'and' && tokens[at + 1]?.lower === 'a' && tokens[at + 2]?.lower === 'half';
}

/** Not numbers in these company: "that one", "which one", "each one of". */
const ONE_AFTER = new Set(
  'that this which the another each every any no some other new old in first last same'.split(' '),
);

function readSpelled(tokens: readonly Token[], at: number): Numeral | undefined {
  const token = tokens[at];
  if (token?.kind !== 'word') return undefined;
  const ordinal = ORDINAL_WORDS.get(token.lower);
  if (ordinal !== undefined) return { value: ordinal, spelled: '', end: 1, suffix: 'th' };
  const parts = token.lower.split('-');
  const unitPart = parts.length > 1 ? unitNamed(parts[1] ?? '', true) : undefined;
  if (unitPart !== undefined && parts[0] !== undefined) {
    const value = smallNumber(parts[0]);
    return value === undefined ? undefined : { value, spelled: '', end: 1, suffix: parts[1] ?? '' };
  }
  if (token.lower === 'half' && tokens[at + 1]?.lower === 'a' && tokens[at + 2]?.lower === 'dozen') {
    return { value: 6, spelled: '', end: 3, suffix: '' };
  }
  if (token.lower === 'one' && !isCountingOne(tokens, at)) return undefined;
  return sumSpelled(tokens, at);
}

function isCountingOne(tokens: readonly Token[], at: number): boolean {
  const after = tokens[at + 1];
  return (
    !ONE_AFTER.has(tokens[at - 1]?.lower ?? '') &&
    after?.kind === 'word' &&
    after.lower !== 'of' &&
    after.lower !== 'is'
  );
}

/** Adds up "two hundred and fifty"; stops at the first word that is no number. */
function sumSpelled(tokens: readonly Token[], start: number): Numeral | undefined {
  let total = 0;
  let group = 0;
  let at = start;
  for (; at < tokens.length; at += 1) {
    const word = tokens[at]?.lower ?? '';
    const small = smallNumber(word);
    const factor = word.length > 1 && at > start ? MULTIPLIERS.get(word) : undefined;
    if (small !== undefined && (at === start || canFollow(group, small))) group += small;
    else if (factor === 100) group = Math.max(1, group) * 100;
    else if (factor !== undefined) {
      total += Math.max(1, group) * factor;
      group = 0;
    } else if (!(word === 'and' && at > start && /^(?:hundred|thousand|million)$/u.test(tokens[at - 1]?.lower ?? '')))
      break;
    else if (smallNumber(tokens[at + 1]?.lower ?? '') === undefined) break;
  }
  return at === start ? undefined : { value: total + group, spelled: '', end: at - start, suffix: '' };
}

function canFollow(group: number, small: number): boolean {
  if (small >= 100 || small < 1) return false;
  return group % 100 === 0 || (group % 10 === 0 && group % 100 >= 20 && small < 10);
}

function smallNumber(word: string): number | undefined {
  const direct = SPELLED.get(word);
  if (direct !== undefined) return direct;
  const dash = word.indexOf('-');
  if (dash < 0) return undefined;
  const tens = SPELLED.get(word.slice(0, dash));
  const ones = SPELLED.get(word.slice(dash + 1));
  return tens !== undefined && ones !== undefined && tens >= 20 && tens % 10 === 0 && ones < 10
    ? tens + ones
    : undefined;
}

function canonical(value: number, unit: Unit): string {
  return `${unit.dimension}:${round(value * unit.factor)}`;
}

/** Twelve digits: beyond what conversions disturb. */
function round(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(12))) : 'huge';
}
