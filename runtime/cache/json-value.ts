import { RepriseError } from '../errors.ts';

/** A number that a double can't hold: it keeps the spelling in which it came. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON object; iterates its members in the order in which they came. */
export type JsonObject = Map<string, JsonValue>;

/** A JSON value without loss: member order and numbers survive. */
export type JsonValue = null | boolean | number | string | JsonNumber | JsonValue[] | JsonObject;

/** Deepest nesting that any value may have; reading and writing recurse, so it must fit the stack with room to spare. */
export const DEPTH_CEILING = 1_024;

const EXPONENT_DIGITS_MAX = 15;

/** A number from its spelling: a double when its shortest spelling is the same decimal, else the spelling. */
export function numberFrom(text: string): number | JsonNumber {
  const value = Number(text);
  const shortest = String(value);
  if (shortest === text) return value;
  if (Number.isFinite(value) && decimal(text) === decimal(shortest)) return value === 0 ? 0 : value;
  decimal(text);
  return new JsonNumber(text);
}

/**
 * The one spelling of a decimal: sign, digits without zeros at the ends, `e`, exponent; `0` for every zero. Fails with
 * `invalid_json` on an exponent beyond any use.
 */
export function decimal(text: string): string {
  const sign = text.startsWith('-') ? '-' : '';
  const [mantissa = '', exponentText = ''] = text.slice(sign.length).split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const exponentSign = exponentText.startsWith('-') ? '-' : '';
  const exponentDigits = exponentText.replace(/^[+-]?0*/, '');
  const digits = whole + fraction;
  let from = 0;
  while (from < digits.length && digits.charCodeAt(from) === 0x30) from++;
  if (from === digits.length) return '0';
  let to = digits.length;
  while (digits.charCodeAt(to - 1) === 0x30) to--;
  if (exponentDigits.length > EXPONENT_DIGITS_MAX) {
    throw new RepriseError('invalid_json', 'A number has an exponent beyond any use.');
  }
  const exponent = Number(exponentSign + (exponentDigits || '0')) - fraction.length + (digits.length - to);
  return `${sign}${digits.slice(from, to)}e${exponent}`;
}

/** True when the text holds half of a surrogate pair, which UTF-8 can't carry. */
export function hasLoneSurrogate(text: string): boolean {
  return LONE_SURROGATE.test(text);
}

const LONE_SURROGATE = /\p{Surrogate}/u;
