import { badTrace, quoted, type TracePlace } from './bad-trace.ts';
import type { BatchBuilder } from './batch-builder.ts';
import type { TraceSource } from './trace.ts';

/** Turns the bytes of one trace into batches: a new one for each reading. */
export interface TraceReader {
  readonly out: BatchBuilder;
  /** The line or record that is being read. */
  readonly place: TracePlace;
  push(chunk: Uint8Array): void;
  end(): void;
}

/** What a reader is made with. */
export interface ReaderOptions {
  /** What errors call the trace. */
  readonly file: string;
  /** Largest size of one item, bytes: what is larger is taken for a mistake. */
  readonly itemBytesMax: number;
}

export const DEFAULT_ITEM_BYTES_MAX = 512 * 1_024 * 1_024;

/** The bytes of a trace from its beginning, decompressed; fails with what the disk or the decompressor says. */
export type TraceBytes = () => AsyncIterable<Uint8Array>;

/** A source over bytes: each reading makes a reader of its own. Errors call it `file`. */
export function traceFromBytes(
  { name, file }: { readonly name: string; readonly file: string },
  { bytes, makeReader }: { readonly bytes: TraceBytes; readonly makeReader: () => TraceReader },
): TraceSource {
  return {
    name,
    async *batches() {
      const reader = makeReader();
      const chunks = bytes()[Symbol.asyncIterator]();
      try {
        for (;;) {
          const { done, value } = await nextChunk(file, reader, chunks);
          if (done === true) break;
          reader.push(value);
          yield* reader.out.take();
        }
        reader.end();
      } finally {
        await chunks.return?.();
      }
      if (reader.out.total === 0) throw badTrace(file, reader.place, 'there is no request in it');
      yield* reader.out.takeLast();
    },
  };
}

/** A failure of the bytes (cut gzip, unreadable disk) is told with the place that was reached. */
async function nextChunk(
  file: string,
  reader: TraceReader,
  chunks: AsyncIterator<Uint8Array>,
): Promise<IteratorResult<Uint8Array>> {
  try {
    return await chunks.next();
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw badTrace(file, reader.place, `the data can't be read on from here: ${problem}`, error);
  }
}

/** Checks of fields that several formats share; each failure names the place. */
export class FieldChecks {
  readonly #reader: { readonly place: TracePlace };
  readonly #options: ReaderOptions;
  #lastTime = -Infinity;

  constructor(reader: { readonly place: TracePlace }, options: ReaderOptions) {
    this.#reader = reader;
    this.#options = options;
  }

  fail(column: string | undefined, problem: string, cause?: unknown): never {
    const { place } = this.#reader;
    throw badTrace(this.#options.file, column === undefined ? place : { ...place, column }, problem, cause);
  }

  /** A whole number from `least` to `most`. */
  whole(column: string, value: unknown, { least = 0, most = Number.MAX_SAFE_INTEGER } = {}): number {
    const number = typeof value === 'string' && /^-?\d+$/u.test(value) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isInteger(number)) {
      this.fail(column, `${shown(value)} is not a whole number`);
    }
    if (number < least) this.fail(column, `${number} is less than ${least}`);
    if (number > most) this.fail(column, `${number} is more than ${most}, the most that is taken for right`);
    return number;
  }

  /** A number that isn't negative. */
  amount(column: string, value: unknown): number {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number)) this.fail(column, `${shown(value)} is not a number`);
    if (number < 0) this.fail(column, `${number} is negative`);
    return number;
  }

  size(column: string, value: unknown): number {
    return this.whole(column, value, { most: this.#options.itemBytesMax });
  }

  /** A time that isn't before the one of the request before, in whatever unit. */
  time(column: string, time: number): number {
    if (time < this.#lastTime) this.fail(column, `time goes back from ${this.#lastTime} to ${time}`);
    this.#lastTime = time;
    return time;
  }
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'string' ? quoted(value) : (JSON.stringify(value) ?? typeof value);
}
