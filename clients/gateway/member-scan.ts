import { RepriseError } from '../../runtime/errors.ts';

/** A range of bytes: `start` included, `end` not. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const STREAM = new TextEncoder().encode('stream');
const STREAM_TOKEN = Buffer.from('"stream"');
const TRUE = new TextEncoder().encode('true');

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let index = from;
  while (isSpace(bytes[index])) index += 1;
  return index;
}

/** Index past the string that opens at `from`. */
function skipString(bytes: Uint8Array, from: number): number {
  let index = from + 1;
  const end = bytes.length;
  while (index < end) {
    const byte = bytes[index];
    if (byte === QUOTE) return index + 1;
    index += byte === BACKSLASH ? 2 : 1;
  }
  return end;
}

/** Index of the comma or brace that ends the value at `from`, at the value's own depth. */
function skipValue(bytes: Uint8Array, from: number): number {
  let depth = 0;
  let index = from;
  const end = bytes.length;
  while (index < end) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      index = skipString(bytes, index);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return index;
      depth -= 1;
    } else if (byte === COMMA && depth === 0) return index;
    index += 1;
  }
  return end;
}

function equalsAt(bytes: Uint8Array, from: number, expected: Uint8Array): boolean {
  if (from + expected.length > bytes.length) return false;
  for (let index = 0; index < expected.length; index += 1) {
    if (bytes[from + index] !== expected[index]) return false;
  }
  return true;
}

/**
 * Byte range of the value of a top-level member of a JSON object, without parsing it; undefined when there is none.
 * Names are compared as spelled, so an escaped spelling isn't found; what it says of invalid JSON means nothing.
 */
export function topLevelMember(bytes: Uint8Array, name: Uint8Array): ByteRange | undefined {
  let index = skipSpace(bytes, 0);
  if (bytes[index] !== OPEN_BRACE) return undefined;
  index = skipSpace(bytes, index + 1);
  while (bytes[index] === QUOTE) {
    const nameEnd = skipString(bytes, index);
    const isNamed = nameEnd - index === name.length + 2 && equalsAt(bytes, index + 1, name);
    index = skipSpace(bytes, nameEnd);
    if (bytes[index] !== COLON) return undefined;
    const start = skipSpace(bytes, index + 1);
    const next = skipValue(bytes, start);
    if (isNamed) {
      let end = next;
      while (end > start && isSpace(bytes[end - 1])) end -= 1;
      return { start, end };
    }
    index = skipSpace(bytes, next + 1);
  }
  return undefined;
}

/** True when whatever is open at `from`, an index outside strings, is closed by exactly one bracket up to the end. */
function isTopLevelAt(bytes: Uint8Array, from: number): boolean {
  let closed = 0;
  let index = from;
  const end = bytes.length;
  while (index < end) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      index = skipString(bytes, index);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) closed -= 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) closed += 1;
    index += 1;
  }
  return closed === 1;
}

/** True when the body's top-level `stream` is `true`. A body without the word costs one native search. */
export function asksForStream(body: Uint8Array): boolean {
  const buffer = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const last = buffer.lastIndexOf(STREAM_TOKEN);
  if (last < 0) return false;
  // Clients put `stream` near either end; walking from the nearer one skips the long part of a body.
  if (last > buffer.length / 2 && buffer[last - 1] !== BACKSLASH) {
    const colon = skipSpace(buffer, last + STREAM_TOKEN.length);
    const value = skipSpace(buffer, colon + 1);
    if (buffer[colon] === COLON && equalsAt(buffer, value, TRUE) && isTopLevelAt(buffer, value)) return true;
  }
  const range = topLevelMember(body, STREAM);
  return range !== undefined && range.end - range.start === TRUE.length && equalsAt(body, range.start, TRUE);
}

/** One open object or array on the way to a place: the member or item that the place is in. */
interface Frame {
  /** Undefined for an array. */
  readonly names: Set<string> | undefined;
  at: string | number;
}

/** Above what `server.jsonDepthMax` allows a request that the text may hold. */
const DEPTH_MAX = 1_100;

/**
 * Path of the first member that an object of a valid JSON text names twice, as `a.b[0].c`; undefined when there is none. Fails with
 * `json_too_deep`.
 */
export function repeatedMember(bytes: Uint8Array): string | undefined {
  const decoder = new TextDecoder();
  const open: Frame[] = [];
  let index = 0;
  while (index < bytes.length) {
    const byte = bytes[index];
    const frame = open.at(-1);
    if (byte === QUOTE) {
      const start = index;
      index = skipString(bytes, start);
      if (frame?.names === undefined || bytes[skipSpace(bytes, index)] !== COLON) continue;
      const name = JSON.parse(decoder.decode(bytes.subarray(start, index))) as string;
      frame.at = name;
      if (frame.names.has(name)) return pathOf(open);
      frame.names.add(name);
      continue;
    }
    if (open.length > DEPTH_MAX)
      throw new RepriseError('json_too_deep', `The JSON text nests deeper than ${DEPTH_MAX} levels.`);
    if (byte === OPEN_BRACE) open.push({ names: new Set(), at: '' });
    else if (byte === OPEN_BRACKET) open.push({ names: undefined, at: 0 });
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) open.pop();
    else if (byte === COMMA && typeof frame?.at === 'number') frame.at += 1;
    index += 1;
  }
  return undefined;
}

const PATH_CHARACTERS_MAX = 200;

function pathOf(open: readonly Frame[]): string {
  let path = '';
  for (const { at } of open) path += typeof at === 'number' ? `[${at}]` : path === '' ? at : `.${at}`;
  return path.slice(0, PATH_CHARACTERS_MAX);
}
