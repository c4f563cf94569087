import type { Hash } from '../ports/hash.ts';
import { countsForAnswer } from './canonical-request.ts';
import { canonicalJson, type JsonObject, type JsonValue } from './json.ts';

/** Short marks of a body's fields in place of their values: equal values have equal marks. */
export interface FieldMarks {
  readonly names: readonly string[];
  /** In the order of `names`; 53 bits each. */
  readonly marks: readonly number[];
}

/** Longer texts are marked by SHA-256, which is the faster one from there on. */
const SHORT_CHARACTERS_MAX = 128;
/** Hex digits that fit into a whole number. */
const MARK_DIGITS = 13;

/** Marks each field that counts, messages field by field: tells in which fields two requests differ. */
export function fieldMarks(tree: JsonObject, hash: Hash, isolateUser = false): FieldMarks {
  const names: string[] = [];
  const marks: number[] = [];
  const add = (path: string, value: JsonValue): void => {
    names.push(path);
    marks.push(markOf(value, hash));
  };
  for (const [name, value] of tree) {
    if (!countsForAnswer(name, isolateUser)) continue;
    if (name !== 'messages' || !Array.isArray(value)) {
      add(name, value);
      continue;
    }
    for (let i = 0; i < value.length; i++) {
      const message = value[i];
      if (!(message instanceof Map)) add(`messages[${i}]`, message as JsonValue);
      else for (const [member, inner] of message) add(`messages[${i}].${member}`, inner);
    }
  }
  return { names, marks };
}

/** Marks a text as fields are marked. */
export function textMark(text: string, hash: Hash): number {
  return markOf(text, hash);
}

/** A string needs no canonical form of its own: another start, or other digits, tell it from JSON text. */
function markOf(value: JsonValue, hash: Hash): number {
  const isString = typeof value === 'string';
  const text = isString ? value : canonicalJson(value);
  if (text.length <= SHORT_CHARACTERS_MAX) return shortMark(text, isString ? 1 : 2);
  const from = isString ? 0 : MARK_DIGITS;
  return Number.parseInt(hash.sha256Hex(text).slice(from, from + MARK_DIGITS), 16);
}

/** 53 bits of two hashes over UTF-16 code units: FNV-1a (Fowler, Noll, Vo), and the same with a shift of its own. */
function shortMark(text: string, start: number): number {
  let low = 0x811c9dc5 ^ start;
  let high = 0x01234567 ^ start;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x01000193) ^ (high >>> 15);
  }
  return (high & 0x1f_ffff) * 0x1_0000_0000 + (low >>> 0);
}
