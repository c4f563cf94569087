import { extname } from 'node:path';
import { dataInvalid, jsonOf, linesOf, readDataFile, type DataFile } from './data-file.ts';
import type { LabelledPair, PairFile } from './labelled-pair.ts';
import { columnOf, readCsv, readTsv, type Table } from './tables.ts';

type Format = 'tsv' | 'csv' | 'jsonl';

const FORMATS: Readonly<Record<string, Format>> = {
  '.tsv': 'tsv',
  '.csv': 'csv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
};

/**
 * The pairs of a file: TSV without quoting, CSV or JSONL by the end of its name, else by its first line. Columns or members: `a`, `b`,
 * optional `same`, `domain`, `category`; others are passed over. Fails with `data_invalid`, naming file and line.
 */
export async function readPairs(path: string): Promise<PairFile> {
  const file = await readDataFile(path);
  const format = FORMATS[extname(path).toLowerCase()] ?? guessedFormat(file);
  const pairs =
    format === 'jsonl' ? jsonlPairs(file) : tablePairs(file, format === 'tsv' ? readTsv(file) : readCsv(file));
  if (pairs.length === 0) throw dataInvalid(path, undefined, 'has no pairs');
  return { path, pairs, hash: file.hash };
}

function guessedFormat(file: DataFile): Format {
  const first = linesOf(file).next();
  const line = first.done === true ? '' : first.value.text;
  if (line.trimStart().startsWith('{')) return 'jsonl';
  return line.includes('\t') ? 'tsv' : 'csv';
}

function tablePairs(file: DataFile, table: Table): readonly LabelledPair[] {
  const at = { a: columnOf(file, table, 'a'), b: columnOf(file, table, 'b') };
  const optional = (name: string): number => table.columns.indexOf(name);
  const [same, domain, category] = [optional('same'), optional('domain'), optional('category')];
  return table.rows.map(({ line, cells }) => ({
    a: textOf(file, line, 'a', cells[at.a]),
    b: textOf(file, line, 'b', cells[at.b]),
    same: labelOf(file, line, cells[same]?.trim()),
    domain: nameOf(file, line, 'domain', cells[domain]),
    category: nameOf(file, line, 'category', cells[category]),
    line,
  }));
}

function jsonlPairs(file: DataFile): readonly LabelledPair[] {
  const pairs: LabelledPair[] = [];
  for (const { line, text } of linesOf(file)) {
    const { a, b, same, domain, category } = parsedObject(file, line, text);
    pairs.push({
      a: textOf(file, line, 'a', a),
      b: textOf(file, line, 'b', b),
      same: labelOf(file, line, same),
      domain: nameOf(file, line, 'domain', domain),
      category: nameOf(file, line, 'category', category),
      line,
    });
  }
  return pairs;
}

function parsedObject(file: DataFile, line: number, text: string): Readonly<Record<string, unknown>> {
  const value = jsonOf(file.path, line, text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw dataInvalid(file.path, line, 'is not a JSON object');
}

function textOf(file: DataFile, line: number, name: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw dataInvalid(
    file.path,
    line,
    value === undefined ? `has no ${name}` : `${name} must be a text that isn't empty`,
  );
}

function nameOf(file: DataFile, line: number, name: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw dataInvalid(file.path, line, `${name} must be a text`);
  return value.trim() === '' ? null : value.trim();
}

const LABELS: ReadonlyMap<unknown, boolean | null> = new Map<unknown, boolean | null>([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
  [1, true],
  [0, false],
  [true, true],
  [false, false],
  ['', null],
  [null, null],
  [undefined, null],
]);

function labelOf(file: DataFile, line: number, value: unknown): boolean | null {
  const label = LABELS.get(typeof value === 'string' ? value.toLowerCase() : value);
  if (label !== undefined) return label;
  throw dataInvalid(
    file.path,
    line,
    `same must be 1, 0, true, false or empty, not ${JSON.stringify(value)?.slice(0, 40)}`,
  );
}
