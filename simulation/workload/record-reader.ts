import { RECORD_SCHEMA } from '../../runtime/ports/recording.ts';
import { quoted, type TracePlace } from './bad-trace.ts';
import { BatchBuilder } from './batch-builder.ts';
import { objectOf } from './json-lines.ts';
import { NameTable } from './key-table.ts';
import { Lines } from './lines.ts';
import { FieldChecks, type ReaderOptions, type TraceReader } from './trace-reader.ts';

const TOKENS_MAX = 100_000_000;
/** Requests that ended so asked nothing of a cache. */
const NOT_ASKED: ReadonlySet<unknown> = new Set(['refused', 'cancelled', 'error']);
const UNGROUPED = '';

/**
 * Recordings of a node, `reprise/record/v1`: a header, then one line a request. Requests that ended in an error are passed over.
 * Sizes are the answers' bytes, costs what recomputing takes (`modelMs`), groups the scopes.
 */
export class RecordReader implements TraceReader {
  readonly out = new BatchBuilder(['sizes', 'timesMs', 'costs', 'groups']);
  readonly #keys = new NameTable();
  readonly #groups = new NameTable();
  readonly #checks: FieldChecks;
  readonly #lines: Lines;
  #isHeaderRead = false;

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
    const line = objectOf(bytes, { start, end }, this.#checks);
    if (line === undefined) return;
    if (this.#isHeaderRead) return this.#request(line);
    const { schema } = line;
    if (schema !== RECORD_SCHEMA) {
      const found = typeof schema === 'string' ? quoted(schema) : 'nothing';
      this.#checks.fail('schema', `${found} is not ${RECORD_SCHEMA}, the schema that is read`);
    }
    this.#isHeaderRead = true;
  };

  #request(line: Readonly<Record<string, unknown>>): void {
    const checks: FieldChecks = this.#checks;
    const { tMs, key, scope, bytes, modelMs, outcome, promptTokens, outputTokens } = line;
    const timeMs = checks.time('tMs', checks.amount('tMs', tMs));
    if (typeof key !== 'string' || key === '') checks.fail('key', 'the key is no text, or empty');
    const size = checks.size('bytes', bytes);
    const cost = modelMs === undefined ? 0 : checks.amount('modelMs', modelMs);
    if (promptTokens !== undefined) checks.whole('promptTokens', promptTokens, { most: TOKENS_MAX });
    if (outputTokens !== undefined) checks.whole('outputTokens', outputTokens, { most: TOKENS_MAX });
    if (NOT_ASKED.has(outcome)) return;
    const group = this.#groups.idOf(typeof scope === 'string' ? scope : UNGROUPED);
    this.out.add({ key: this.#keys.idOf(key), size, timeMs, cost, group });
  }
}
