import type { TracePlace } from './bad-trace.ts';
import { quoted } from './bad-trace.ts';
import { BatchBuilder } from './batch-builder.ts';
import { csvFields } from './csv-fields.ts';
import { Lines } from './lines.ts';
import { FieldChecks, type ReaderOptions, type TraceReader } from './trace-reader.ts';
import { wallTimeMs } from './wall-time.ts';

/** The header of the Azure LLM inference traces. */
export const AZURE_COLUMNS = ['TIMESTAMP', 'ContextTokens', 'GeneratedTokens'] as const;

const TOKENS_MAX = 100_000_000;
const DECODER = new TextDecoder();

/**
 * The Azure LLM inference traces: `TIMESTAMP,ContextTokens,GeneratedTokens`. They say nothing of what was asked, so each request
 * has a key of its own and none is ever a hit; what they tell is arrivals and costs (tokens read and written).
 */
export class AzureReader implements TraceReader {
  readonly out = new BatchBuilder(['timesMs', 'costs']);
  readonly #checks: FieldChecks;
  readonly #lines: Lines;
  #isHeaderRead = false;
  #startedAtMs = Number.NaN;

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
    const line = DECODER.decode(bytes.subarray(start, end));
    if (line.trim() === '') return;
    const fields = csvFields(line, ',') ?? [];
    const wrong = AZURE_COLUMNS.findIndex((_, at) => fields[at] === undefined);
    const width = AZURE_COLUMNS.length;
    if (wrong !== -1 || fields.length !== width) {
      const column = wrong === -1 ? String(width + 1) : `${wrong + 1} (${AZURE_COLUMNS[wrong]!})`;
      this.#checks.fail(column, `the line has ${fields.length} columns, but this format ${width}`);
    }
    if (this.#isHeaderRead) return this.#row(fields);
    AZURE_COLUMNS.forEach((name, at) => {
      if (fields[at] !== name) this.#checks.fail(String(at + 1), `${quoted(fields[at] ?? '')} should be ${name}`);
    });
    this.#isHeaderRead = true;
  };

  #row([timestamp = '', context, generated]: readonly string[]): void {
    const checks = this.#checks;
    const atMs = wallTimeMs(timestamp) ?? checks.fail('1 (TIMESTAMP)', `${quoted(timestamp)} is not a time`);
    checks.time('1 (TIMESTAMP)', atMs);
    if (Number.isNaN(this.#startedAtMs)) this.#startedAtMs = atMs;
    const cost =
      checks.whole('2 (ContextTokens)', context, { most: TOKENS_MAX }) +
      checks.whole('3 (GeneratedTokens)', generated, { most: TOKENS_MAX });
    this.out.add({ key: this.out.total, timeMs: atMs - this.#startedAtMs, cost });
  }
}
