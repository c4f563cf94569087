import { assert, RepriseError } from '../errors.ts';

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

/** Bounds and leniency of `parseJson`. */
export interface JsonLimits {
  /** Deepest nesting that is read; at most 4,096, since reading and writing recurse. */
  readonly depthMax: number;
  /** Keeps escaped lone surrogates, for fragments that are whole only when joined; refused otherwise. */
  readonly loneSurrogates?: 'keep';
}

const DEPTH_CEILING = 4_096;
const EXPONENT_DIGITS_MAX = 15;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The value that UTF-8 JSON text stands for. Fails with `empty_body`, `invalid_json`, `invalid_unicode`,
 * `json_too_deep` or `duplicate_member` (whose `param` is the member's path).
 */
export function parseJson(bytes: Uint8Array, limits: JsonLimits): JsonValue {
  assert(limits.depthMax >= 1 && limits.depthMax <= DEPTH_CEILING, 'depthMax is out of range');
  if (bytes.length === 0) throw new RepriseError('empty_body', 'The body is empty; send a JSON object.');
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw new RepriseError('invalid_unicode', 'The body is not valid UTF-8.', { cause });
  }
  return new JsonParser(text, limits, hasControlByte(bytes)).parse();
}

/** JSON text for forwarding: members in their order, large numbers in their own spelling. */
export function stringifyJson(value: JsonValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) {
    let out = '[';
    for (let i = 0; i < value.length; i++) {
      if (i > 0) out += ',';
      out += stringifyJson(value[i] as JsonValue);
    }
    return out + ']';
  }
  let out = '';
  for (const [name, member] of value) {
    out += (out === '' ? '{' : ',') + quoteName(name) + ':' + stringifyJson(member);
  }
  return out === '' ? '{}' : out + '}';
}

/**
 * The canonical form: text that is equal exactly for equal values. It is JSON, but for numbers, each in one spelling,
 * and strings, which stand unescaped behind their length; members are sorted by UTF-16 code units (see docs/keys.md).
 * `mapText` replaces string values (never member names) before they are written.
 */
export function canonicalJson(value: JsonValue, mapText?: (text: string) => string): string {
  if (typeof value === 'string') return canonicalText(mapText === undefined ? value : mapText(value));
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return value === 0 ? '0' : String(value);
  if (value instanceof JsonNumber) return decimal(value.text);
  if (Array.isArray(value)) {
    let out = '[';
    for (let i = 0; i < value.length; i++) {
      if (i > 0) out += ',';
      out += canonicalJson(value[i] as JsonValue, mapText);
    }
    return out + ']';
  }
  let out = '';
  for (const name of sortedNames(value)) {
    out += (out === '' ? '{' : ',') + canonicalText(name) + canonicalJson(value.get(name) as JsonValue, mapText);
  }
  return out === '' ? '{}' : out + '}';
}

/** A string, or a member name, in the canonical form: its length in UTF-16 code units, then itself. */
export function canonicalText(text: string): string {
  return `${text.length}:${text}`;
}

/** An ordinary JavaScript value as a `JsonValue`; members that are undefined are left out. Fails with `config_invalid`. */
export function fromPlain(value: unknown): JsonValue {
  return convertPlain(value, 0);
}

/** Names of an object's members in canonical order. */
export function sortedNames(object: JsonObject): string[] {
  const names = [...object.keys()];
  for (let i = 1; i < names.length; i++) {
    if ((names[i - 1] as string) > (names[i] as string)) return names.sort();
  }
  return names;
}

/** A member name as JSON text; plain ones need no escapes, and are most. */
function quoteName(name: string): string {
  if (name.length > 32) return JSON.stringify(name);
  for (let i = 0; i < name.length; i++) {
    const c = name.charCodeAt(i);
    if (c < 0x23 || c > 0x7e || c === 0x5c) return JSON.stringify(name);
  }
  return `"${name}"`;
}

/** True when the text holds half of a surrogate pair, which UTF-8 can't carry. */
export function hasLoneSurrogate(text: string): boolean {
  return LONE_SURROGATE.test(text);
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function convertPlain(value: unknown, depth: number): JsonValue {
  if (depth > DEPTH_CEILING) throw new RepriseError('config_invalid', 'A JSON value nests too deeply.');
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') {
    if (hasLoneSurrogate(value)) throw new RepriseError('config_invalid', 'A string is not valid Unicode.');
    return value;
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RepriseError('config_invalid', 'JSON has no such number.');
    return value;
  }
  if (Array.isArray(value)) return value.map((item) => convertPlain(item, depth + 1));
  if (typeof value === 'object' && isPlainObject(value)) {
    const object: JsonObject = new Map();
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      if (hasLoneSurrogate(name)) throw new RepriseError('config_invalid', 'A member name is not valid Unicode.');
      object.set(name, convertPlain(member, depth + 1));
    }
    return object;
  }
  throw new RepriseError('config_invalid', `A JSON value can't be a ${typeof value}.`);
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The one spelling of a decimal: sign, digits without zeros at the ends, `e`, exponent; `0` for every zero. */
function decimal(text: string): string {
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

/** A number from its spelling: a double when its shortest spelling is the same decimal, else the spelling. */
function numberFrom(text: string): number | JsonNumber {
  const value = Number(text);
  const shortest = String(value);
  if (shortest === text) return value;
  if (Number.isFinite(value) && decimal(text) === decimal(shortest)) return value === 0 ? 0 : value;
  decimal(text);
  return new JsonNumber(text);
}

/** True when any byte is below 0x20; reads four at a time. */
function hasControlByte(bytes: Uint8Array): boolean {
  const length = bytes.length;
  let i = 0;
  const head = Math.min(length, (4 - (bytes.byteOffset & 3)) & 3);
  for (; i < head; i++) if ((bytes[i] as number) < 0x20) return true;
  const wordCount = (length - head) >> 2;
  if (wordCount > 0) {
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, wordCount);
    for (let w = 0; w < wordCount; w++) {
      const word = words[w] as number;
      if (((word - 0x20202020) & ~word & 0x80808080) !== 0) return true;
    }
  }
  for (i = head + wordCount * 4; i < length; i++) if ((bytes[i] as number) < 0x20) return true;
  return false;
}

const CONTROL = /[\u0000-\u001f]/g; // oxlint-disable-line no-control-regex -- JSON forbids exactly these in strings

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** One pass over one text. Strings end where `indexOf` finds the quote, so that long ones cost little. */
class JsonParser {
  readonly #text: string;
  readonly #depthMax: number;
  readonly #keepLone: boolean;
  /** Name or index at each depth on the way to here; for messages only. */
  readonly #path: (string | number)[] = [];
  #pos = 0;
  #depth = 0;
  /** First backslash at or after the last place asked for; the text's length when there is none. */
  #backslash = -1;
  #control = -1;

  constructor(text: string, limits: JsonLimits, hasControl: boolean) {
    this.#text = text;
    this.#depthMax = limits.depthMax;
    this.#keepLone = limits.loneSurrogates === 'keep';
    if (!hasControl) this.#control = text.length;
  }

  parse(): JsonValue {
    const value = this.#value(this.#skip());
    this.#skip();
    if (this.#pos < this.#text.length) this.#fail('Something follows the JSON value');
    return value;
  }

  /** Passes white space; the code of the character that follows, NaN at the end. */
  #skip(): number {
    const text = this.#text;
    let pos = this.#pos;
    let c = text.charCodeAt(pos);
    while (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) c = text.charCodeAt(++pos);
    this.#pos = pos;
    return c;
  }

  #value(c: number): JsonValue {
    switch (c) {
      case 0x22:
        return this.#string();
      case 0x7b:
        return this.#object();
      case 0x5b:
        return this.#array();
      case 0x74:
        return this.#word('true', true);
      case 0x66:
        return this.#word('false', false);
      case 0x6e:
        return this.#word('null', null);
      default:
        if (c === 0x2d || (c >= 0x30 && c <= 0x39)) return this.#number();
        return this.#fail(this.#pos >= this.#text.length ? 'The JSON text ends early' : 'Unexpected character');
    }
  }

  #object(): JsonObject {
    const text = this.#text;
    const depth = this.#enter();
    const object: JsonObject = new Map();
    this.#pos++;
    let c = this.#skip();
    while (c !== 0x7d) {
      if (c !== 0x22) this.#fail('A member name was expected');
      const name = this.#string();
      this.#path[depth] = name;
      c = text.charCodeAt(this.#pos);
      if (c !== 0x3a && this.#skip() !== 0x3a) this.#fail('A colon was expected');
      this.#pos++;
      const before = object.size;
      object.set(name, this.#value(this.#skip()));
      if (object.size === before) this.#failDuplicate(depth);
      c = this.#skip();
      if (c === 0x2c) {
        this.#pos++;
        c = this.#skip();
        if (c !== 0x22) this.#fail('A member name was expected');
      } else if (c !== 0x7d) this.#fail('A comma or closing brace was expected');
    }
    this.#pos++;
    this.#depth--;
    return object;
  }

  #array(): JsonValue[] {
    const depth = this.#enter();
    const array: JsonValue[] = [];
    this.#pos++;
    let c = this.#skip();
    if (c === 0x5d) {
      this.#pos++;
      this.#depth--;
      return array;
    }
    for (;;) {
      this.#path[depth] = array.length;
      array.push(this.#value(c));
      c = this.#skip();
      this.#pos++;
      if (c === 0x5d) break;
      if (c !== 0x2c) {
        this.#pos--;
        this.#fail('A comma or closing bracket was expected');
      }
      c = this.#skip();
    }
    this.#depth--;
    return array;
  }

  #enter(): number {
    const depth = this.#depth++;
    if (this.#depth > this.#depthMax) {
      throw new RepriseError('json_too_deep', `The JSON text nests deeper than ${this.#depthMax} levels.`);
    }
    return depth;
  }

  #word<V extends JsonValue>(word: string, value: V): V {
    if (!this.#text.startsWith(word, this.#pos)) this.#fail('Unexpected character');
    this.#pos += word.length;
    return value;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#pos + 1;
    const end = text.indexOf('"', start);
    if (end < 0) this.#fail('A string has no end');
    if (this.#backslash < start) {
      const found = text.indexOf('\\', start);
      this.#backslash = found < 0 ? text.length : found;
    }
    if (this.#backslash < end) return this.#escapedString(start);
    this.#refuseControl(start, end);
    this.#pos = end + 1;
    return text.slice(start, end);
  }

  #refuseControl(start: number, end: number): void {
    if (this.#control < start) {
      CONTROL.lastIndex = start;
      this.#control = CONTROL.exec(this.#text)?.index ?? this.#text.length;
    }
    if (this.#control < end) {
      this.#pos = this.#control;
      this.#fail('A control character in a string must be escaped');
    }
  }

  #escapedString(start: number): string {
    const text = this.#text;
    let out = '';
    let from = start;
    let end = text.indexOf('"', start);
    for (;;) {
      const at = this.#backslash;
      if (at > end) break;
      this.#pos = at;
      const c = text.charAt(at + 1);
      const plain = ESCAPES[c];
      if (plain !== undefined) {
        out += text.slice(from, at) + plain;
        from = at + 2;
      } else if (c === 'u') {
        out += text.slice(from, at) + this.#codeUnits(at);
        from = this.#pos;
      } else this.#fail('Unknown escape');
      const found = text.indexOf('\\', from);
      this.#backslash = found < 0 ? text.length : found;
      if (end < from) end = text.indexOf('"', from);
      if (end < 0) this.#fail('A string has no end');
    }
    this.#refuseControl(start, end);
    this.#pos = end + 1;
    return out + text.slice(from, end);
  }

  /** The characters of the `\u` escape at `at`, a surrogate pair as one; moves past them. */
  #codeUnits(at: number): string {
    const first = this.#hex(at);
    this.#pos = at + 6;
    if (first < 0xd800 || first > 0xdfff) return String.fromCharCode(first);
    if (first <= 0xdbff && this.#text.startsWith('\\u', at + 6)) {
      const second = this.#hex(at + 6);
      if (second >= 0xdc00 && second <= 0xdfff) {
        this.#pos = at + 12;
        return String.fromCharCode(first, second);
      }
    }
    if (this.#keepLone) return String.fromCharCode(first);
    throw new RepriseError('invalid_unicode', 'A string holds half of a surrogate pair.', this.#param(this.#depth));
  }

  #hex(at: number): number {
    const digits = this.#text.slice(at + 2, at + 6);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.#fail('A \\u escape needs four hexadecimal digits');
    return Number.parseInt(digits, 16);
  }

  #number(): number | JsonNumber {
    const text = this.#text;
    const start = this.#pos;
    let pos = start;
    let c = text.charCodeAt(pos);
    const negative = c === 0x2d;
    if (negative) c = text.charCodeAt(++pos);
    const first = pos;
    let value = 0;
    while (c >= 0x30 && c <= 0x39) {
      value = value * 10 + (c - 0x30);
      c = text.charCodeAt(++pos);
    }
    const count = pos - first;
    this.#pos = pos;
    if (count === 0) this.#fail('A digit was expected');
    if (count > 1 && text.charCodeAt(first) === 0x30) this.#fail('A number starts with a needless zero');
    const whole = c !== 0x2e && c !== 0x65 && c !== 0x45;
    if (whole && count <= 15) return negative && value !== 0 ? -value : value;
    if (c === 0x2e) c = this.#digits(pos + 1);
    if (c === 0x65 || c === 0x45) {
      const sign = text.charCodeAt(this.#pos + 1);
      this.#digits(this.#pos + (sign === 0x2b || sign === 0x2d ? 2 : 1));
    }
    return numberFrom(text.slice(start, this.#pos));
  }

  /** Passes at least one digit from `from` on; the code of what follows. */
  #digits(from: number): number {
    let pos = from;
    let c = this.#text.charCodeAt(pos);
    while (c >= 0x30 && c <= 0x39) c = this.#text.charCodeAt(++pos);
    this.#pos = pos;
    if (pos === from) this.#fail('A digit was expected');
    return c;
  }

  #fail(message: string): never {
    throw new RepriseError('invalid_json', `${message} (at character ${this.#pos}).`);
  }

  #failDuplicate(depth: number): never {
    const options = this.#param(depth + 1);
    throw new RepriseError('duplicate_member', `The member ${options.param ?? ''} appears twice.`, options);
  }

  #param(depth: number): { readonly param?: string } {
    let param = '';
    for (const step of this.#path.slice(0, depth)) {
      if (typeof step === 'number') param += `[${step}]`;
      else param += param === '' ? step : `.${step}`;
    }
    return param === '' ? {} : { param: param.slice(0, 200) };
  }
}
