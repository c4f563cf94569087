import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { hasCode, RepriseError } from '../../runtime/errors.ts';
import { parseJson } from '../../runtime/cache/json.ts';

/** A data file, read whole. */
export interface DataFile {
  readonly path: string;
  /** Without a byte order mark. */
  readonly text: string;
  /** SHA-256 of the file's bytes, lower-case hex. */
  readonly hash: string;
}

/** Larger files aren't read. */
export const DATA_FILE_BYTES_MAX = 256 * 1024 * 1024;
/** Longest line, in UTF-16 units: far above any text that an embedder takes. */
export const DATA_LINE_CHARS_MAX = 1024 * 1024;
const JSON_DEPTH_MAX = 64;
const LINE_FEED = 10;

/** Reads a UTF-8 file. Fails with `data_invalid`, naming the line of the first bytes that aren't UTF-8. */
export async function readDataFile(path: string): Promise<DataFile> {
  let bytes: Uint8Array;
  try {
    const { size } = await stat(path);
    if (size > DATA_FILE_BYTES_MAX) throw dataInvalid(path, undefined, `is larger than ${DATA_FILE_BYTES_MAX} bytes`);
    bytes = await readFile(path);
  } catch (cause) {
    if (cause instanceof RepriseError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw dataInvalid(
      path,
      undefined,
      code === 'ENOENT' ? "doesn't exist" : `can't be read (${code ?? 'unknown'})`,
      cause,
    );
  }
  return { path, text: decoded(path, bytes), hash: createHash('sha256').update(bytes).digest('hex') };
}

/** The error of a data file: `FILE:LINE: what is wrong.` */
export function dataInvalid(path: string, line: number | undefined, fault: string, cause?: unknown): RepriseError {
  const place = line === undefined ? path : `${path}:${line}`;
  return new RepriseError('data_invalid', `${place}: ${fault}.`, cause === undefined ? {} : { cause });
}

/** The JSON value of a text in a file. Fails with `data_invalid` where it is none, or names a member twice and could be read two ways. */
export function jsonOf(path: string, line: number | undefined, text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    parseJson(new TextEncoder().encode(text), { depthMax: JSON_DEPTH_MAX, loneSurrogates: 'keep' });
    return value;
  } catch (cause) {
    if (hasCode(cause, 'duplicate_member'))
      throw dataInvalid(path, line, `has the member ${cause.param ?? ''} twice`, cause);
    if (hasCode(cause, 'json_too_deep'))
      throw dataInvalid(path, line, `is nested deeper than ${JSON_DEPTH_MAX}`, cause);
    throw dataInvalid(path, line, 'is not JSON', cause);
  }
}

function decoded(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw dataInvalid(path, faultyLine(bytes), 'is not UTF-8 text', cause);
  }
}

function faultyLine(bytes: Uint8Array): number {
  let line = 1;
  for (let at = 0; at < bytes.length; line += 1) {
    const found = bytes.indexOf(LINE_FEED, at);
    const end = found === -1 ? bytes.length : found;
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(at, end));
    } catch {
      break;
    }
    at = end + 1;
  }
  return line;
}

/** A line that isn't empty. */
export interface DataLine {
  readonly line: number;
  readonly text: string;
}

/** The lines of a file that aren't empty. Fails with `data_invalid` on one that is too long. */
export function* linesOf({ path, text }: DataFile): Generator<DataLine> {
  let line = 1;
  for (let at = 0; at < text.length; line += 1) {
    const found = text.indexOf('\n', at);
    const end = found === -1 ? text.length : found;
    if (end - at > DATA_LINE_CHARS_MAX)
      throw dataInvalid(path, line, `is longer than ${DATA_LINE_CHARS_MAX} characters`);
    const content = text.slice(at, text[end - 1] === '\r' && end > at ? end - 1 : end);
    if (content.trim() !== '') yield { line, text: content };
    at = end + 1;
  }
}
