import type { TracePlace } from './bad-trace.ts';
import { quoted } from './bad-trace.ts';
import { BatchBuilder, type TraceColumn } from './batch-builder.ts';
import { csvFields, separatorOf } from './csv-fields.ts';
import { NameTable } from './key-table.ts';
import { Lines } from './lines.ts';
import { FieldChecks, type ReaderOptions, type TraceReader } from './trace-reader.ts';
import { wallTimeMs } from './wall-time.ts';

/** Which columns of a CSV file say what: by header name, or by number from 1 where there is no header. */
export interface CsvColumns {
  readonly key: string;
  readonly size?: string;
  readonly time?: string;
  /** Of numbers in the time column; written times need none. Absent: ms. */
  readonly timeUnit?: TimeUnit;
  readonly cost?: string;
  readonly group?: string;
}

export type TimeUnit = 's' | 'ms' | 'us' | 'ns';

export const TIME_UNITS_MS: Readonly<Record<TimeUnit, number>> = { s: 1_000, ms: 1, us: 1e-3, ns: 1e-6 };

type Role = 'key' | 'size' | 'time' | 'cost' | 'group';

/** Header names that are taken for a role where no columns are declared. */
const KNOWN_NAMES: Readonly<Record<Role, readonly string[]>> = {
  key: ['key', 'id', 'obj_id', 'object', 'object_id', 'lbn', 'block'],
  size: ['size', 'bytes', 'obj_size', 'object_size', 'value_size'],
  time: ['time', 'timestamp', 'ts', 'clock_time'],
  cost: ['cost'],
  group: ['group', 'session', 'client', 'client_id'],
};
const ROLES = Object.keys(KNOWN_NAMES) as readonly Role[];
const BATCH_COLUMNS: Readonly<Record<Exclude<Role, 'key'>, TraceColumn>> = {
  size: 'sizes',
  time: 'timesMs',
  cost: 'costs',
  group: 'groups',
};
const DECODER = new TextDecoder();

interface Layout {
  readonly separator: string;
  readonly width: number;
  /** 0-based. */
  readonly at: Readonly<Partial<Record<Role, number>>>;
  /** `3 (size)`, for errors. */
  readonly names: Readonly<Partial<Record<Role, string>>>;
}

/** CSV with declared columns, or with a header whose names are known. Keys are texts; sizes bytes. */
export class CsvReader implements TraceReader {
  #out = new BatchBuilder();
  readonly #keys = new NameTable();
  readonly #groups = new NameTable();
  readonly #checks: FieldChecks;
  readonly #lines: Lines;
  readonly #columns: CsvColumns | undefined;
  #layout: Layout | undefined;
  #startedAtMs = Number.NaN;

  constructor(options: ReaderOptions, columns: CsvColumns | undefined) {
    this.#columns = columns;
    this.#checks = new FieldChecks(this, options);
    this.#lines = new Lines(this.#onLine, () => this.#checks.fail(undefined, 'the line is too long'));
  }

  get out(): BatchBuilder {
    return this.#out;
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
    if (this.#layout !== undefined) return this.#row(this.#layout, line);
    const separator = separatorOf(line);
    const fields = this.#fields(line, separator);
    const isNumbered =
      this.#columns !== undefined && declared(this.#columns).every(([, name]) => /^[1-9]\d*$/u.test(name));
    const at = isNumbered ? this.#byNumber(fields.length) : this.#byName(fields);
    const names = Object.fromEntries(
      Object.entries(at).map(([role, index]) => [
        role,
        `${index + 1} (${isNumbered ? role : (fields[index] ?? role)})`,
      ]),
    );
    this.#layout = { separator, width: fields.length, at, names };
    this.#out = new BatchBuilder(
      ROLES.flatMap((role) => (role === 'key' || at[role] === undefined ? [] : [BATCH_COLUMNS[role]])),
    );
    if (isNumbered) this.#row(this.#layout, line);
  };

  #row(layout: Layout, line: string): void {
    const fields = this.#fields(line, layout.separator);
    if (fields.length !== layout.width) {
      const column = String(Math.min(fields.length, layout.width) + 1);
      this.#checks.fail(column, `the line has ${fields.length} columns, the first one ${layout.width}`);
    }
    const of = (role: Role): string => fields[layout.at[role] ?? -1] ?? '';
    const nameOf = (role: Role): string => layout.names[role] ?? role;
    const { at } = layout;
    const key = of('key');
    if (key === '') this.#checks.fail(nameOf('key'), 'the key is empty');
    this.#out.add({
      key: this.#keys.idOf(key),
      ...(at.size !== undefined && { size: this.#checks.size(nameOf('size'), of('size').trim()) }),
      ...(at.time !== undefined && { timeMs: this.#time(nameOf('time'), of('time')) }),
      ...(at.cost !== undefined && { cost: this.#checks.amount(nameOf('cost'), of('cost')) }),
      ...(at.group !== undefined && { group: this.#groups.idOf(of('group')) }),
    });
  }

  #time(column: string, text: string): number {
    const written = wallTimeMs(text);
    const unitMs = TIME_UNITS_MS[this.#columns?.timeUnit ?? 'ms'];
    const atMs = this.#checks.time(column, written ?? this.#checks.amount(column, text) * unitMs);
    if (Number.isNaN(this.#startedAtMs)) this.#startedAtMs = atMs;
    return atMs - this.#startedAtMs;
  }

  #fields(line: string, separator: string): readonly string[] {
    return (
      csvFields(line, separator) ?? this.#checks.fail(String(line.lastIndexOf('"') + 1), 'a quoted field does not end')
    );
  }

  #byNumber(width: number): Partial<Record<Role, number>> {
    return Object.fromEntries(
      declared(this.#columns!).map(([role, name]) => {
        if (Number(name) > width) this.#checks.fail(name, `the line has ${width} columns only; ${role} should be here`);
        return [role, Number(name) - 1];
      }),
    );
  }

  #byName(header: readonly string[]): Partial<Record<Role, number>> {
    const names = header.map((name) => name.trim());
    if (this.#columns !== undefined) {
      return Object.fromEntries(
        declared(this.#columns).map(([role, name]) => {
          const index = names.indexOf(name);
          if (index === -1)
            this.#checks.fail(quoted(name), `there is no such column for ${role}; there is ${names.join(', ')}`);
          return [role, index];
        }),
      );
    }
    const lower = names.map((name) => name.toLowerCase());
    const found = ROLES.flatMap((role): [Role, number][] => {
      const index = lower.findIndex((name) => KNOWN_NAMES[role].includes(name));
      return index === -1 ? [] : [[role, index]];
    });
    if (!found.some(([role]) => role === 'key')) {
      this.#checks.fail(
        '1',
        `no column is known to be the key (there is ${quoted(names.join(', '))}); declare the columns`,
      );
    }
    return Object.fromEntries(found);
  }
}

function declared(columns: CsvColumns): readonly (readonly [Role, string])[] {
  return ROLES.flatMap((role): [Role, string][] => {
    const name = columns[role];
    return name === undefined ? [] : [[role, name]];
  });
}
