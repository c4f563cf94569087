import { describe, expect, it } from 'vitest';
import type { ReplayRow } from '../policy/replay.ts';
import { hitRateCharts, missRatioCharts } from './replay-charts.ts';
import { bytesText, plainRow, replayCells, replayCsv } from './replay-text.ts';

function row(changes: Partial<ReplayRow> = {}): ReplayRow {
  return {
    trace: 't',
    policy: 'lru',
    size: 10,
    unit: 'entries',
    requests: 3_000,
    hits: 1_000,
    hitPct: 100 / 3,
    missBytes: 2_000,
    seconds: 0.001_234,
    ...changes,
  };
}

describe('a replay as text', () => {
  it('rounds to what numbers tell, and leaves windows out', () => {
    expect(plainRow(row({ windows: [0.5] }))).toEqual(row({ hitPct: 33.3333, seconds: 0.001 }));
  });

  it('quotes what has commas or quotes in CSV', () => {
    const [, line] = replayCsv([row({ trace: 'zipf:n=1,s="2"' })]).split('\n');
    expect(line).toBe('"zipf:n=1,s=""2""",lru,10,entries,3000,1000,33.3333,2000,0.001');
  });

  it('shows sizes and misses in the unit that was asked for', () => {
    expect(
      replayCells([row(), row({ unit: 'bytes', size: 2 ** 29, missBytes: 3 * 2 ** 29, seconds: 0 })]).slice(1),
    ).toEqual([
      ['t', 'lru', '10', '3,000', '1,000', '33.33 %', '2,000', '0.00', '2,431,118'],
      ['t', 'lru', '512 MiB', '3,000', '1,000', '33.33 %', '1.5 GiB', '0.00', '–'],
    ]);
    expect([1, 1_536, 2 ** 40].map(bytesText)).toEqual(['1 B', '1.5 KiB', '1 TiB']);
  });
});

describe('a replay as charts', () => {
  it('draws a line for each policy by rising size, one chart for each trace and unit', () => {
    const charts = hitRateCharts([
      row({ size: 20, hitPct: 40 }),
      row({ size: 10, hitPct: 30 }),
      row({ policy: 'belady', hitPct: 50 }),
      row({ unit: 'bytes', size: 2 ** 21, hitPct: 5 }),
      row({ trace: 'u', hitPct: 7 }),
    ]);
    expect(charts.map(({ title, xLabel }) => [title, xLabel])).toEqual([
      ['t: hit rate by size', 'size, entries'],
      ['t: hit rate by size', 'size, MiB'],
      ['u: hit rate by size', 'size, entries'],
    ]);
    expect(charts[0]?.series).toEqual([
      {
        name: 'lru',
        points: [
          [10, 30],
          [20, 40],
        ],
      },
      { name: 'belady', points: [[10, 50]], dots: true, isBound: true },
    ]);
    expect(charts[1]?.series).toEqual([{ name: 'lru', points: [[2, 5]], dots: true }]);
  });

  it('shows misses over time at the middle size, in few enough points', () => {
    const windows = Array.from({ length: 1_000 }, (_, at) => (at < 500 ? 1 : 0.5));
    const [chart] = missRatioCharts([row({ size: 1 }), row({ size: 2, windows }), row({ size: 3 })], 100);
    expect(chart?.title).toBe('t: miss ratio over time at 2 entries');
    const points = chart?.series[0]?.points ?? [];
    expect(points.length).toBeLessThanOrEqual(240);
    expect(points[0]).toEqual([500, 100]);
    expect(points.at(-1)).toEqual([100_000, 50]);
  });
});
