import { RepriseError } from '../errors.ts';
import { decimal, DEPTH_CEILING, hasLoneSurrogate, JsonNumber, type JsonObject, type JsonValue } from './json-value.ts';

export { type JsonLimits, parseJson } from './json-parser.ts';
export { hasLoneSurrogate, JsonNumber, type JsonObject, type JsonValue } from './json-value.ts';

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
