import { quoted, type TracePlace } from './bad-trace.ts';
import { BatchBuilder } from './batch-builder.ts';
import { KeyTable } from './key-table.ts';
import { Lines } from './lines.ts';
import { readNumbers } from './number-line.ts';
import { FieldChecks, type ReaderOptions, type TraceReader } from './trace-reader.ts';

/** Keys that one line may stand for: a larger count is taken for a mistake, since it would make a trace of its own. */
const COUNT_MAX = 1_000_000;
const COLUMNS = 4;

/** The `.lis` traces of the ARC authors: `start count ignored number`; a line stands for `count` keys from `start` on. */
export class ArcReader implements TraceReader {
  readonly out = new BatchBuilder();
  readonly #keys = new KeyTable();
  readonly #numbers = new Float64Array(COLUMNS);
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
    const columns = readNumbers(bytes, start, end, this.#numbers);
    if (columns === 0) return;
    if (typeof columns === 'object') {
      this.#checks.fail(String(columns.column), `${quoted(columns.text)} ${columns.problem}`);
    }
    if (columns !== COLUMNS) {
      this.#checks.fail(String(Math.min(columns, COLUMNS) + 1), `a line of this format has ${COLUMNS} columns`);
    }
    const first = this.#numbers[0]!;
    const count = this.#checks.whole('2 (count)', this.#numbers[1]!, { least: 1, most: COUNT_MAX });
    // Beyond, the next key can't be told from the one before.
    this.#checks.whole('1 (start)', first, { most: Number.MAX_SAFE_INTEGER - count });
    for (let key = first; key < first + count; key += 1) this.out.addKey(this.#keys.idOf(key));
  };
}
