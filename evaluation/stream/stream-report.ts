import type { Page, PageSection } from '../plot/page.ts';
import type { ClincStreamResult } from './clinc-stream.ts';
import type { StreamPoint } from './stream.ts';

/** Wrong hits of two rankings at one share of hits, summed over all runs. */
export interface StreamRow {
  /** Threshold of cosine alone. */
  readonly similarity: number;
  readonly requests: number;
  readonly hits: number;
  readonly wrong: number;
  readonly policyHits: number;
  readonly policyWrong: number;
  /** Wrong hits of the policy for one of cosine alone. */
  readonly ratio: number;
}

/** What a stream test found, summed over its runs. */
export function streamRows({ runs }: ClincStreamResult): readonly StreamRow[] {
  return (runs[0]?.compared ?? []).map(({ cosine }, index) => {
    const sum = (value: (at: { readonly cosine: StreamPoint; readonly policy: StreamPoint }) => number): number =>
      runs.reduce((total, { compared }) => total + (compared[index] === undefined ? 0 : value(compared[index])), 0);
    const wrong = sum((at) => at.cosine.wrong);
    const policyWrong = sum((at) => at.policy.wrong);
    return {
      similarity: cosine.threshold,
      requests: sum((at) => at.cosine.requests),
      hits: sum((at) => at.cosine.hits),
      wrong,
      policyHits: sum((at) => at.policy.hits),
      policyWrong,
      ratio: policyWrong / Math.max(1, wrong),
    };
  });
}

/** The curves of the first run and the table over all, as a page. */
export function streamPage(result: ClincStreamResult): Page {
  const percent = (part: number, whole: number): string => ((100 * part) / whole).toFixed(2);
  const points = (curve: readonly StreamPoint[]): readonly (readonly [number, number])[] =>
    curve.map(({ hits, wrong, requests }) => [(100 * hits) / requests, (100 * wrong) / requests] as const);
  const [first] = result.runs;
  const table: PageSection = {
    kind: 'table',
    title: 'Wrong hits at the same share of hits, all orders together',
    columns: ['cosine at least', 'hits, %', 'wrong, % (cosine alone)', 'wrong, % (policy)', 'policy for one of cosine'],
    rows: streamRows(result).map((row) => [
      String(row.similarity),
      percent(row.hits, row.requests),
      percent(row.wrong, row.requests),
      percent(row.policyWrong, row.requests),
      row.ratio.toFixed(2),
    ]),
    right: [0, 1, 2, 3, 4],
  };
  return {
    title: 'CLINC150 as a stream',
    sections: [
      {
        kind: 'text',
        text: `${result.requests} questions in ${result.runs.length} orders; the policy was fitted to ${result.trainingPairs} pairs of the training split.`,
      },
      table,
      {
        kind: 'chart',
        title: `Wrong hits against hits, seed ${first?.seed ?? 0}`,
        xLabel: 'hits, % of requests',
        yLabel: 'wrong hits, % of requests',
        series: [
          { name: 'cosine alone', points: points(first?.cosineCurve ?? []) },
          { name: 'calibrated policy', points: points(first?.policyCurve ?? []) },
        ],
      },
    ],
  };
}
