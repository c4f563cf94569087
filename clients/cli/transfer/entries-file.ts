import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { RepriseError } from '../../../runtime/errors.ts';
import { ENTRIES_SCHEMA, type TransferTerms } from '../../../runtime/ports/transfer.ts';

/** First line of a file of entries. */
export interface EntriesHeader extends TransferTerms {
  readonly schema: typeof ENTRIES_SCHEMA;
  /** Wall clock, ISO 8601. */
  readonly exportedAt: string;
}

/** An entry as it stands on a line, and as a node sends and takes it. */
export interface EntryLine {
  readonly key: string;
  /** Base64. */
  readonly entry: string;
  readonly stale?: true;
}

/** A line that was read, with its number from 1. */
export interface ReadLine extends EntryLine {
  readonly line: number;
}

const LINE_BYTES_MAX = 512 * 1_024 * 1_024;
const LINE_FEED = 10;
const SUM_DIGITS = 32;

export function headerLine(terms: TransferTerms, exportedAt: Date): string {
  const header: EntriesHeader = { schema: ENTRIES_SCHEMA, exportedAt: exportedAt.toISOString(), ...terms };
  return `${JSON.stringify(header)}\n`;
}

export function entryLine({ key, entry, stale }: EntryLine): string {
  return `${JSON.stringify({ key, entry, ...(stale === true && { stale }), sum: sumOf(key, entry) })}\n`;
}

/** The last line: a file without it was cut off. */
export function endLine(entries: number): string {
  return `${JSON.stringify({ end: true, entries })}\n`;
}

function sumOf(key: string, entry: string): string {
  return createHash('sha256').update(`${key}\n${entry}`).digest('hex').slice(0, SUM_DIGITS);
}

/** A file of entries that is open for reading. */
export interface EntriesFile {
  readonly header: EntriesHeader;
  /** Ends after the last line; fails with `data_invalid`, naming line and byte, where the file is damaged or cut off. */
  readonly entries: AsyncIterable<ReadLine>;
  close(): Promise<void>;
}

/** Opens a file, gzip where its name ends with .gz. Fails with `data_invalid`. */
export async function openEntries(path: string): Promise<EntriesFile> {
  const lines = linesOf(path);
  const first = await lines.next();
  const header = first.done === true ? undefined : headerOf(first.value.text);
  if (header === undefined) {
    await lines.return(undefined);
    throw invalid(`${path} is no file of entries: its first line is not a header of ${ENTRIES_SCHEMA}.`);
  }
  return { header, entries: entriesOf(path, lines), close: async () => void (await lines.return(undefined)) };
}

interface TextLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
  /** Where it begins, in bytes of the file as it is unpacked. */
  readonly at: number;
}

async function* entriesOf(path: string, lines: AsyncGenerator<TextLine>): AsyncGenerator<ReadLine> {
  let entries = 0;
  let last = 1;
  for await (const { text, number, at } of lines) {
    const where = `line ${number} of ${path} (at byte ${at})`;
    const value = parsed(text);
    if (value?.['end'] === true) {
      if (value['entries'] !== entries) throw invalid(`${where} counts other entries than the ${entries} before it.`);
      const after = await lines.next();
      if (after.done !== true) throw invalid(`${path} goes on after its end, at line ${after.value.number}.`);
      return;
    }
    const { key, entry, sum, stale } = value ?? {};
    if (typeof key !== 'string' || typeof entry !== 'string' || sum !== sumOf(key, entry)) {
      throw invalid(`${where} is damaged: it is no entry with its right sum.`);
    }
    entries += 1;
    last = number;
    yield { key, entry, ...(stale === true && { stale }), line: number };
  }
  throw invalid(`${path} is cut off after line ${last}: its last line, which counts the entries, is missing.`);
}

async function* linesOf(path: string): AsyncGenerator<TextLine> {
  const file = createReadStream(path);
  const source = path.endsWith('.gz') ? pipeline(file, createGunzip(), () => undefined) : file;
  let rest: Buffer[] = [];
  let restBytes = 0;
  let [number, at] = [0, 0];
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      let start = 0;
      for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
        const line = Buffer.concat([...rest, chunk.subarray(start, end)]);
        start = end + 1;
        number += 1;
        yield { text: line.toString('utf8'), number, at };
        at += line.length + 1;
        [rest, restBytes] = [[], 0];
      }
      rest.push(chunk.subarray(start));
      restBytes += chunk.length - start;
      if (restBytes > LINE_BYTES_MAX) throw invalid(`Line ${number + 1} of ${path} is too long to be an entry.`);
    }
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    throw unreadable(path, number, error);
  } finally {
    file.destroy();
  }
  if (restBytes > 0) throw invalid(`${path} is cut off in line ${number + 1} (at byte ${at}).`);
}

function unreadable(path: string, linesRead: number, cause: unknown): RepriseError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  if (code === 'Z_BUF_ERROR') return invalid(`${path} is cut off: gzip ends early after line ${linesRead}.`, cause);
  if (code.startsWith('Z_')) return invalid(`${path} is no whole gzip file after line ${linesRead} (${code}).`, cause);
  return invalid(`${path} can't be read (${code}).`, cause);
}

function headerOf(text: string): EntriesHeader | undefined {
  const value = parsed(text);
  const { schema, keyVersion, layoutVersion, incarnation, exportedAt } = value ?? {};
  const { counter, random } = (incarnation ?? {}) as Record<string, unknown>;
  const isHeader =
    schema === ENTRIES_SCHEMA &&
    typeof keyVersion === 'number' &&
    typeof layoutVersion === 'number' &&
    typeof exportedAt === 'string' &&
    typeof counter === 'number' &&
    typeof random === 'string';
  return isHeader ? { schema, exportedAt, keyVersion, layoutVersion, incarnation: { counter, random } } : undefined;
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function invalid(message: string, cause?: unknown): RepriseError {
  return new RepriseError('data_invalid', message, { cause });
}
