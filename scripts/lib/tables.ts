import { ERROR_KINDS } from '../../runtime/errors.ts';
import { OUTSIDE_VARIABLES, SETTING_VARIABLES, SPECIAL_VARIABLES } from '../../runtime/config/environment.ts';
import { settingsJsonSchema } from '../../runtime/config/schema.ts';
import { METRICS, type MetricDefinition } from '../../runtime/ports/metrics.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A Markdown table; cells are escaped. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Every setting of `reprise.yaml`: path, values, default, meaning. */
export function settingsTable(): string {
  return markdownTable(['Setting', 'Values', 'Default', 'Meaning'], settingRows(settingsJsonSchema(), ''));
}

function settingRows(node: Schema, path: string): string[][] {
  const own = asSchema(node['properties']);
  if (own !== undefined) {
    return Object.entries(own).flatMap(([member, inner]) =>
      settingRows(asSchema(inner) ?? {}, path === '' ? member : `${path}.${member}`),
    );
  }
  const description = typeof node['description'] === 'string' ? node['description'] : '';
  const row = [`\`${path}\``, valuesOf(node, path), defaultOf(node, path), description];
  const items = asSchema(node['items']);
  if (items?.['properties'] !== undefined) return [row, ...settingRows(items, `${path}[]`)];
  const named = asSchema(node['additionalProperties']);
  if (named?.['properties'] !== undefined) return [row, ...settingRows(named, `${path}.NAME`)];
  return [row];
}

function asSchema(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined;
}

function valuesOf(node: Schema, path: string): string {
  const words = node['enum'];
  if (Array.isArray(words)) return words.map((word) => `\`${String(word)}\``).join(', ');
  const choices = Array.isArray(node['anyOf']) ? node['anyOf'] : node['oneOf'];
  if (Array.isArray(choices)) {
    return [...new Set(choices.map((inner) => valuesOf(asSchema(inner) ?? {}, path)))].join(', ');
  }
  if (typeof node['const'] === 'string') return `\`${node['const']}\``;
  const [min, max] = [node['minimum'], node['maximum']];
  if (path.endsWith('Ms')) return `duration, ${human(min, path)} to ${human(max, path)}`;
  if (/Bytes(Max)?$/.test(path))
    return max === Number.MAX_SAFE_INTEGER
      ? `size, at least ${human(min, path)}`
      : `size, ${human(min, path)} to ${human(max, path)}`;
  if (node['type'] === 'array') return `list of ${itemsOf(node, path)}`;
  if (node['type'] === 'object') return 'mapping';
  if (asSchema(node['properties'])?.['kind'] !== undefined) return 'mapping';
  const type = node['type'] === 'string' ? 'text' : node['type'] === 'boolean' ? '`true`, `false`' : 'number';
  return typeof min === 'number' && typeof max === 'number' ? `${type}, ${min} to ${max}` : type;
}

function itemsOf(node: Schema, path: string): string {
  const items = asSchema(node['items']) ?? {};
  return items['properties'] === undefined ? valuesOf(items, path) : 'mappings';
}

function defaultOf(node: Schema, path: string): string {
  const value = node['default'];
  if (value === undefined) return 'required';
  if (typeof value === 'number') return `\`${human(value, path)}\``;
  return value === '' ? 'empty' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

const DURATIONS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;
const SIZES = [
  ['GiB', 1_073_741_824],
  ['MiB', 1_048_576],
  ['KiB', 1_024],
] as const;

/** A number with the largest unit that divides it. */
function human(value: unknown, path: string): string {
  if (typeof value !== 'number') return '';
  const units = path.endsWith('Ms') ? DURATIONS : /Bytes(Max)?$/.test(path) ? SIZES : [];
  const unit = value === 0 ? undefined : units.find(([, size]) => value % size === 0);
  return unit === undefined ? String(value) : `${value / unit[1]}${unit[0]}`;
}

/** Every `REPRISE_*` variable: name, the setting that it sets, meaning. */
export function variablesTable(): string {
  const settings = Object.entries(SETTING_VARIABLES).map(([name, { path, doc }]) => [
    `\`${name}\``,
    `\`${path}\``,
    doc,
  ]);
  const others = Object.entries({ ...SPECIAL_VARIABLES, ...OUTSIDE_VARIABLES }).map(([name, doc]) => [
    `\`${name}\``,
    '',
    doc,
  ]);
  return markdownTable(['Variable', 'Setting', 'Meaning'], [...settings, ...others]);
}

/** Every metric: name, kind, labels, meaning. */
export function metricsTable(): string {
  const rows = Object.entries<MetricDefinition>(METRICS).map(([name, { kind, labels, help }]) => [
    `\`${name}\``,
    kind,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  return markdownTable(['Metric', 'Kind', 'Labels', 'Meaning'], rows);
}

/** Every error: code, how it leaves by HTTP and gRPC, whether a retry may help, and what `meanings` says of it. */
export function errorsTable(meanings: Readonly<Record<string, string>>): string {
  const rows = Object.entries(ERROR_KINDS).map(([code, { httpStatus, grpcStatus, type, retryable }]) => [
    `\`${code}\``,
    String(httpStatus),
    grpcStatus,
    `\`${type}\``,
    retryable ? 'yes' : 'no',
    meanings[code] ?? '',
  ]);
  return markdownTable(['Code', 'HTTP', 'gRPC', '`error.type`', 'Retry may help', 'Meaning and what to do'], rows);
}

/** The last cell of each row of the errors table, by code: the part that people write. */
export function errorMeanings(markdown: string): Record<string, string> {
  const rows = markdown.matchAll(/^\| `([a-z_]+)` +\|(?:[^|]*\|){4} (.*?) *\|$/gm);
  return Object.fromEntries([...rows].map(([, code = '', meaning = '']) => [code, meaning.trim()]));
}
