import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';
import { badTrace } from '../workload/bad-trace.ts';
import type { CsvColumns } from '../workload/csv-reader.ts';
import { detectFormat } from '../workload/detect-format.ts';
import { isGeneratorSpec, openGenerator } from '../workload/generators/open-generator.ts';
import { makeReader } from '../workload/make-reader.ts';
import type { TraceFormat, TraceSource } from '../workload/trace.ts';
import { DEFAULT_ITEM_BYTES_MAX, traceFromBytes } from '../workload/trace-reader.ts';

export interface OpenTraceOptions {
  readonly format: TraceFormat | 'auto';
  /** Of CSV; absent: by the names of its header. */
  readonly columns?: CsvColumns;
  /** Largest size of one item that is taken for right, bytes. */
  readonly itemBytesMax?: number;
  /** Told what `auto` took the trace for. */
  readonly onDetected?: (what: string) => void;
}

type Compression = 'gzip' | 'zstd' | 'none';

const COMPRESSED_END = /\.(gz|zst|zstd)$/iu;
const CHUNK_BYTES = 256 * 1_024;
const HEAD_BYTES = 64 * 1_024;
/** Small, since what is compressed may be a thousand times as large. */
const COMPRESSED_CHUNK_BYTES = 16 * 1_024;

/**
 * The trace in a file, plain or compressed (gzip, zstd; told by content), or made by a generator (`zipf:n=1000,…`). Reads the
 * beginning only. Fails with `data_invalid` where there is no such file, or its format can't be told.
 */
export async function openTrace(path: string, options: OpenTraceOptions): Promise<TraceSource> {
  if (isGeneratorSpec(path)) return openGenerator(path);
  const { columns, itemBytesMax = DEFAULT_ITEM_BYTES_MAX } = options;
  const compression = await compressionOf(path);
  const bytes = (): AsyncIterable<Uint8Array> => bytesOf(path, compression);
  let { format } = options;
  if (format === 'auto') {
    const head = await headOf(path, bytes);
    const name = basename(path).replace(COMPRESSED_END, '');
    const detected = detectFormat({ name, ...head });
    if (detected === undefined) {
      const problem = head.bytes.length === 0 ? 'there is no request in it' : 'its format can not be told; name it';
      throw badTrace(path, { unit: 'line', number: 1, column: '1' }, problem);
    }
    format = columns === undefined ? detected.format : 'csv';
    const why = columns === undefined ? detected.why : 'columns are declared';
    options.onDetected?.(`${path}: ${format} (${why}${compression === 'none' ? '' : `, ${compression}`})`);
  }
  const taken = format;
  return traceFromBytes(
    { name: traceName(path), file: path },
    { bytes, makeReader: () => makeReader(taken, { file: path, itemBytesMax }, columns) },
  );
}

/** What rows and charts call a trace: its file's name without folders and the usual ends. */
export function traceName(path: string): string {
  const name = basename(path).replace(COMPRESSED_END, '');
  return name.replace(/(?<=.)\.(lis|trace|txt|jsonl|ndjson|csv|tsv|(oracleGeneral\.)?bin|oracleGeneral)$/iu, '');
}

async function headOf(
  path: string,
  open: () => AsyncIterable<Uint8Array>,
): Promise<{ readonly bytes: Uint8Array; readonly isWhole: boolean }> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of open()) {
      parts.push(part);
      length += part.length;
      if (length >= HEAD_BYTES) return { bytes: Buffer.concat(parts), isWhole: false };
    }
    return { bytes: Buffer.concat(parts), isWhole: true };
  } catch (error) {
    // What can be read of a cut file tells its format; the reader then says where it is cut.
    if (length > 0) return { bytes: Buffer.concat(parts), isWhole: false };
    const problem = error instanceof Error ? error.message : String(error);
    throw badTrace(path, { unit: 'line', number: 1, column: '1' }, `the data can't be read: ${problem}`, error);
  }
}

async function compressionOf(path: string): Promise<Compression> {
  try {
    for await (const part of createReadStream(path, { start: 0, end: 3 })) {
      const [a, b, c, d] = part as Buffer;
      if (a === 0x1f && b === 0x8b) return 'gzip';
      if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return 'zstd';
    }
    return 'none';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw badTrace(path, undefined, code === 'ENOENT' ? 'there is no such file' : `it can't be read (${code})`, error);
  }
}

function bytesOf(path: string, compression: Compression): AsyncIterable<Uint8Array> {
  const file = createReadStream(path, {
    highWaterMark: compression === 'none' ? CHUNK_BYTES : COMPRESSED_CHUNK_BYTES,
  }) as AsyncIterable<Uint8Array>;
  if (compression === 'none') return file;
  return compression === 'zstd' ? unzstd(file) : gunzipped(file);
}

/** Hands out all that could be read before it fails, unlike a pipeline, so that the reader knows where a file is cut. */
async function* gunzipped(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  let out: Uint8Array[] = [];
  gunzip.on('data', (part: Uint8Array) => out.push(part));
  const failed = new Promise<never>((_, reject) => gunzip.once('error', reject));
  failed.catch(() => undefined);
  try {
    for await (const part of file) {
      await Promise.race([failed, new Promise<void>((resolve) => gunzip.write(part, () => resolve()))]);
      yield* out;
      out = [];
    }
    const ended = new Promise<void>((resolve) => gunzip.once('end', resolve));
    gunzip.end();
    await Promise.race([failed, ended]);
  } catch (error) {
    yield* out;
    throw error;
  } finally {
    gunzip.destroy();
  }
  yield* out;
}

async function* unzstd(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let out: Uint8Array[] = [];
  const decompress = new Decompress((part) => {
    if (part.length > 0) out.push(part.slice());
  });
  for await (const part of file) {
    decompress.push(part);
    yield* out;
    out = [];
  }
  decompress.push(new Uint8Array(0), true);
  yield* out;
}
