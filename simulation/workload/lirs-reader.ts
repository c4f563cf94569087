import { quoted, type TracePlace } from './bad-trace.ts';
import { BatchBuilder } from './batch-builder.ts';
import { KeyTable } from './key-table.ts';
import { Lines } from './lines.ts';
import { readNumbers } from './number-line.ts';
import { FieldChecks, type ReaderOptions, type TraceReader } from './trace-reader.ts';

const STAR = 42;

/** Traces of the LIRS authors: one number a line; lines with a `*`, which mark phases, and empty ones are passed over. */
export class LirsReader implements TraceReader {
  readonly out = new BatchBuilder();
  readonly #keys = new KeyTable();
  readonly #numbers = new Float64Array(1);
  readonly #checks: FieldChecks;
  readonly #lines: Lines;

  constructor(options: ReaderOptions) {
    this.#checks = new FieldChecks(this, options);
    this.#lines = new Lines(this.#onLine, () => this.#checks.fail(undefined, 'the line is too long'));
  }

  get place(): TracePlace {
    return this.#lines.place;
  }

  push(chunk: Uint8Array): void {
    this.#lines.push(chunk);
  }

  end(): void {
    this.#lines.end();
  }

  readonly #onLine = (bytes: Uint8Array, start: number, end: number): void => {
    const count = readNumbers(bytes, start, end, this.#numbers);
    if (count === 0) return;
    if (count === 1) return this.out.addKey(this.#keys.idOf(this.#numbers[0]!));
    if (bytes.subarray(start, end).includes(STAR)) return;
    if (count === 2) this.#checks.fail('2', 'a line of this format has one column');
    if (typeof count === 'object') this.#checks.fail(String(count.column), `${quoted(count.text)} ${count.problem}`);
  };
}
