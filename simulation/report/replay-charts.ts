import { isBound } from '../policy/clairvoyant.ts';
import type { ReplayRow } from '../policy/replay.ts';
import { bytesText } from './replay-text.ts';

/** One line of a chart. */
export interface ReplaySeries {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly dots?: boolean;
  /** What no policy can pass. */
  readonly isBound?: boolean;
}

/** A chart of a replay, as a page draws it. */
export interface ReplayChart {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly series: readonly ReplaySeries[];
}

const MIB = 2 ** 20;
/** Points of one line over time: more than the screen shows. */
const WINDOWS_SHOWN_MAX = 240;
const PERCENT = 100;

/** Hit rate by size, a chart for each trace and unit, a line for each policy. */
export function hitRateCharts(rows: readonly ReplayRow[]): readonly ReplayChart[] {
  return groups(rows, ({ trace, unit }) => JSON.stringify([trace, unit])).map((group) => {
    const { trace, unit } = group[0]!;
    const series = groups(group, ({ policy }) => policy).map((ofPolicy): ReplaySeries => {
      const points = ofPolicy
        .map(({ size, hitPct }): [number, number] => [unit === 'bytes' ? size / MIB : size, hitPct])
        .sort(([a], [b]) => a - b);
      const { policy: name } = ofPolicy[0]!;
      return { name, points, ...(points.length === 1 && { dots: true }), ...(isBound(name) && { isBound: true }) };
    });
    const xLabel = unit === 'bytes' ? 'size, MiB' : 'size, entries';
    return { title: `${trace}: hit rate by size`, xLabel, yLabel: 'hit rate, %', series };
  });
}

/** Miss ratio over the course of each trace, at the middle one of its sizes. */
export function missRatioCharts(rows: readonly ReplayRow[], windowRequests: number): readonly ReplayChart[] {
  return groups(rows, ({ trace, unit }) => JSON.stringify([trace, unit])).map((group) => {
    const { trace, unit } = group[0]!;
    const sizes = [...new Set(group.map(({ size }) => size))].sort((a, b) => a - b);
    const size = sizes[Math.floor(sizes.length / 2)]!;
    const series = group
      .filter((row) => row.size === size)
      .map(({ policy, windows = [] }) => ({
        name: policy,
        points: overTime(windows, windowRequests),
        ...(isBound(policy) && { isBound: true }),
      }));
    const title = `${trace}: miss ratio over time at ${unit === 'bytes' ? bytesText(size) : `${size.toLocaleString('en-US')} entries`}`;
    return { title, xLabel: 'requests', yLabel: 'misses, %', series };
  });
}

/** Windows, joined until there are few enough to be seen. */
function overTime(windows: readonly number[], windowRequests: number): readonly (readonly [number, number])[] {
  const joined = Math.max(1, Math.ceil(windows.length / WINDOWS_SHOWN_MAX));
  const points: [number, number][] = [];
  for (let from = 0; from < windows.length; from += joined) {
    const part = windows.slice(from, from + joined);
    const mean = part.reduce((sum, share) => sum + share, 0) / part.length;
    points.push([(from + part.length) * windowRequests, mean * PERCENT]);
  }
  return points;
}

/** In the order in which each group came first. */
function groups(rows: readonly ReplayRow[], idOf: (row: ReplayRow) => string): readonly ReplayRow[][] {
  const found = new Map<string, ReplayRow[]>();
  for (const row of rows) {
    const group = found.get(idOf(row));
    if (group === undefined) found.set(idOf(row), [row]);
    else group.push(row);
  }
  return [...found.values()];
}
