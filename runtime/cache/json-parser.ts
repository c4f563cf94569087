import { RepriseError } from '../errors.ts';
import { DEPTH_CEILING, type JsonNumber, type JsonObject, type JsonValue, numberFrom } from './json-value.ts';

/** Bounds and leniency of `parseJson`. */
export interface JsonLimits {
  /** Deepest nesting that is read; never more than `DEPTH_CEILING`. */
  readonly depthMax: number;
  /** Keeps escaped lone surrogates, for fragments that are whole only when joined; refused otherwise. */
  readonly loneSurrogates?: 'keep';
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The value that UTF-8 JSON text stands for. Fails with `empty_body`, `invalid_json`, `invalid_unicode`,
 * `json_too_deep` or `duplicate_member` (whose `param` is the member's path).
 */
export function parseJson(bytes: Uint8Array, limits: JsonLimits): JsonValue {
  if (bytes.length === 0) throw new RepriseError('empty_body', 'The body is empty; send a JSON object.');
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw new RepriseError('invalid_unicode', 'The body is not valid UTF-8.', { cause });
  }
  return new JsonParser(text, limits, hasControlByte(bytes)).parse();
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
    this.#depthMax = Math.min(limits.depthMax, DEPTH_CEILING);
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
