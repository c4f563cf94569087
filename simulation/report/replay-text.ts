import type { ReplayRow } from '../policy/replay.ts';

/** The columns of a replay's rows, as JSON and CSV name them. */
export const REPLAY_COLUMNS = [
  'trace',
  'policy',
  'size',
  'unit',
  'requests',
  'hits',
  'hitPct',
  'missBytes',
  'seconds',
] as const;

const HIT_PCT_DIGITS = 4;
const SECONDS_DIGITS = 3;

/** A row without what only charts show, its numbers rounded to what they tell. */
export function plainRow(row: ReplayRow): Pick<ReplayRow, (typeof REPLAY_COLUMNS)[number]> {
  const { trace, policy, size, unit, requests, hits, hitPct, missBytes, seconds } = row;
  return {
    trace,
    policy,
    size,
    unit,
    requests,
    hits,
    hitPct: rounded(hitPct, HIT_PCT_DIGITS),
    missBytes,
    seconds: rounded(seconds, SECONDS_DIGITS),
  };
}

/** Rows as CSV with a header. */
export function replayCsv(rows: readonly ReplayRow[]): string {
  const lines = rows.map((row) => {
    const plain = plainRow(row);
    return REPLAY_COLUMNS.map((column) => csvField(String(plain[column]))).join(',');
  });
  return [REPLAY_COLUMNS.join(','), ...lines, ''].join('\n');
}

/** The cells of a table for people, its header first; columns from `REPLAY_RIGHT_FROM` on are numbers. */
export function replayCells(rows: readonly ReplayRow[]): string[][] {
  const header = ['trace', 'policy', 'size', 'requests', 'hits', 'hit rate', 'missed', 'seconds', 'requests/s'];
  return [
    header,
    ...rows.map(({ trace, policy, size, unit, requests, hits, hitPct, missBytes, seconds }) => [
      trace,
      policy,
      unit === 'bytes' ? bytesText(size) : grouped(size),
      grouped(requests),
      grouped(hits),
      `${hitPct.toFixed(2)} %`,
      unit === 'bytes' ? bytesText(missBytes) : grouped(requests - hits),
      seconds.toFixed(2),
      seconds === 0 ? '–' : grouped(Math.round(requests / seconds)),
    ]),
  ];
}

/** The first column of `replayCells` that holds numbers. */
export const REPLAY_RIGHT_FROM = 2;

const UNITS: readonly (readonly [unit: string, bytes: number])[] = [
  ['TiB', 2 ** 40],
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
];

/** A size as the command line takes it: exact where that is short, else with one digit. */
export function bytesText(bytes: number): string {
  const [unit, each] = UNITS.find(([, least]) => bytes >= least) ?? ['B', 1];
  const value = bytes / each;
  return `${Number.isInteger(value) ? grouped(value) : value.toFixed(1)} ${unit}`;
}

function grouped(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** A quoted field where it needs to be; generators' specs have commas. */
function csvField(text: string): string {
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
