import type { Page } from '../../../evaluation/plot/page.ts';
import type { ReplayRow } from '../../../simulation/policy/replay.ts';
import { hitRateCharts, missRatioCharts, type ReplayChart } from '../../../simulation/report/replay-charts.ts';
import { replayCells, REPLAY_RIGHT_FROM } from '../../../simulation/report/replay-text.ts';

/** A replay as a page: curves, misses over time, and the rows. */
export function replayPage(rows: readonly ReplayRow[], windowRequests: number): Page {
  const traces = [...new Set(rows.map(({ trace }) => trace))];
  const cells = replayCells(rows);
  const [columns = []] = cells;
  const section = (chart: ReplayChart) => ({ kind: 'chart' as const, ...chart });
  return {
    title: `Replay of ${traces.join(', ')}`,
    sections: [
      {
        kind: 'text',
        text:
          'belady knows the future: with keys of one size no policy has more hits. belady-size is an upper bound of the hits ' +
          'with sizes, which no policy reaches. A click on a name hides or shows its line; dragging zooms, a double click resets.',
      },
      ...hitRateCharts(rows).map(section),
      ...missRatioCharts(rows, windowRequests).map(section),
      {
        kind: 'table',
        title: 'Rows',
        columns,
        rows: cells.slice(1),
        right: columns.map((_, column) => column).slice(REPLAY_RIGHT_FROM),
      },
    ],
  };
}
