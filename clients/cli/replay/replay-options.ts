import type { ReplayRun } from '../../../simulation/policy/replay.ts';
import { TIME_UNITS_MS, type CsvColumns, type TimeUnit } from '../../../simulation/workload/csv-reader.ts';
import { UsageError } from '../exit.ts';

const SIZE = /^(\d+(?:\.\d+)?(?:e\d+)?)\s*([A-Za-z]*)$/u;
const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};
const JOBS_MAX = 256;

/** The sizes of `--size`: `5000` counts entries, `512MiB` bytes. */
export function sizesOf(text: string): readonly Pick<ReplayRun, 'size' | 'unit'>[] {
  return parts(text).map((part) => {
    const [, number = '', unit = ''] = SIZE.exec(part) ?? [];
    const each = unit === '' ? 1 : UNITS[unit.toLowerCase()];
    const size = Number(number) * (each ?? Number.NaN);
    if (number === '' || !Number.isSafeInteger(Math.round(size)) || size < 1) {
      throw new UsageError(`'${part}' is no size: say 5000 for entries, or 512MiB for bytes.`);
    }
    if (unit === '' && !Number.isInteger(size)) throw new UsageError(`'${part}' is no number of entries.`);
    return { size: Math.round(size), unit: unit === '' ? 'entries' : 'bytes' };
  });
}

/** The policies of `--policy`; `all`: every policy, without the bounds. */
export async function policiesOf(text: string): Promise<readonly string[]> {
  const [{ POLICY_NAMES }, { REPLAY_NAMES }] = await Promise.all([
    import('../../../runtime/ports/options.ts'),
    import('../../../simulation/policy/replay.ts'),
  ]);
  const names = parts(text).flatMap((part): readonly string[] =>
    part.toLowerCase() === 'all' ? POLICY_NAMES : [part.toLowerCase()],
  );
  for (const name of names) {
    if (!REPLAY_NAMES.includes(name)) {
      throw new UsageError(`There is no policy '${name}'; there is ${REPLAY_NAMES.join(', ')}, and all.`);
    }
  }
  return [...new Set(names)];
}

/** The columns of `--columns`. */
export function columnsOf(text: string): CsvColumns {
  const columns: Record<string, string> = {};
  for (const part of parts(text)) {
    const at = part.indexOf('=');
    const role = part.slice(0, Math.max(0, at));
    const name = part.slice(at + 1);
    if (!ROLES.includes(role) || name === '' || columns[role] !== undefined) {
      throw new UsageError(`'${part}' is no column: say each of ${ROLES.join(', ')} once at most, as in key=3.`);
    }
    columns[role] = name;
  }
  const { key, unit, ...rest } = columns;
  if (key === undefined) throw new UsageError('The columns have no key: say which column it is, as in key=3.');
  if (unit !== undefined && !Object.hasOwn(TIME_UNITS_MS, unit)) {
    throw new UsageError(`'${unit}' is no unit of time; there is ${Object.keys(TIME_UNITS_MS).join(', ')}.`);
  }
  return { key, ...rest, ...(unit !== undefined && { timeUnit: unit as TimeUnit }) };
}

const ROLES: readonly string[] = ['key', 'size', 'time', 'unit', 'cost', 'group'];

/** The number of `--jobs`. */
export function jobsOf(text: string): number {
  const jobs = Number(text);
  if (Number.isInteger(jobs) && jobs >= 1 && jobs <= JOBS_MAX) return jobs;
  throw new UsageError(`--jobs takes a whole number from 1 to ${JOBS_MAX}.`);
}

function parts(text: string): readonly string[] {
  return text.split(',').map((part) => part.trim());
}
