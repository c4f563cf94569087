import { CsvError, parse } from 'csv-parse/sync';
import { DATA_LINE_CHARS_MAX, dataInvalid, linesOf, type DataFile } from './data-file.ts';

/** One row below a header. */
export interface TableRow {
  /** Line of the file that the row ends on, 1-based. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A file with a header line. */
export interface Table {
  /** Names of the columns, without outer white space. */
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
}

/** A table whose cells are parted by tabs; a quote is a character like any other. */
export function readTsv(file: DataFile): Table {
  const rows: TableRow[] = [];
  for (const { line, text } of linesOf(file)) rows.push({ line, cells: text.split('\t') });
  return tableOf(file, rows);
}

/** A table of comma-separated values with RFC 4180 quoting. */
export function readCsv(file: DataFile): Table {
  interface Parsed {
    readonly record: string[];
    readonly info: { readonly lines: number };
  }
  try {
    const parsed = parse(file.text, {
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: DATA_LINE_CHARS_MAX,
    }) as unknown as readonly Parsed[];
    return tableOf(
      file,
      parsed.map(({ record, info }) => ({ line: info.lines, cells: record })),
    );
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    const line = typeof cause['lines'] === 'number' ? cause['lines'] : undefined;
    throw dataInvalid(file.path, line, `is no CSV (${cause.message})`, cause);
  }
}

function tableOf(file: DataFile, lines: readonly TableRow[]): Table {
  const [header, ...rows] = lines;
  if (header === undefined) throw dataInvalid(file.path, undefined, 'is empty');
  const columns = header.cells.map((name) => name.trim());
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice !== undefined) throw dataInvalid(file.path, header.line, `has the column ${JSON.stringify(twice)} twice`);
  for (const { line, cells } of rows) {
    if (cells.length === columns.length) continue;
    const found = `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`;
    throw dataInvalid(file.path, line, `has ${found} where the header has ${columns.length}`);
  }
  return { columns, rows };
}

/** Position of a column. Fails with `data_invalid`, naming the columns that are there. */
export function columnOf(file: DataFile, { columns }: Table, name: string): number {
  const at = columns.indexOf(name);
  if (at !== -1) return at;
  throw dataInvalid(file.path, 1, `has no column ${name}; its columns are ${columns.join(', ').slice(0, 200)}`);
}
