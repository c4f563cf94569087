import type { ChartSeries, Page, PageSection } from '../plot/page.ts';
import { shareText } from './share-text.ts';
import type { JudgeSummary, OperatingPoint, RankingSummary, ReadingPair } from './summary.ts';

/** A summary as a page to read. */
export function summaryPage(summary: JudgeSummary): Page {
  const { pairs, labelled, served, operatingPoint, embedderId } = summary;
  const sections: PageSection[] = [
    {
      kind: 'text',
      text: [
        `${pairs.count} pairs of ${pairs.path} (SHA-256 ${pairs.hash.slice(0, 16)}…), embedder ${embedderId}.`,
        `${labelled.same} same, ${labelled.different} different, ${labelled.unlabelled} unlabelled; ${served} are served.`,
        `Of the same ${shareText(operatingPoint.right)} are served, of the different ${shareText(operatingPoint.wrong)}.`,
        `Intervals: ${summary.interval}.`,
      ].join('\n'),
    },
    {
      kind: 'table',
      title: 'Policies in force',
      columns: ['domain', 'similarity at least', 'probability at least', 'calibrated', 'guards'],
      rows: summary.policies.map(({ domain, similarityMin, probabilityMin, calibrated, guards }) => [
        domain,
        similarityMin.toFixed(4),
        probabilityMin.toFixed(4),
        calibrated ? 'yes' : 'no',
        guards.join(', '),
      ]),
      right: [1, 2],
    },
  ];
  if (labelled.same > 0 && labelled.different > 0) sections.push(...labelledSections(summary));
  return { title: 'Judged pairs', sections };
}

function labelledSections(summary: JudgeSummary): readonly PageSection[] {
  const { labelled, operatingPoint } = summary;
  const line = (name: string, { curve }: RankingSummary): ChartSeries => ({
    name,
    points: curve.map(
      ({ right, wrong }) => [percent(wrong, labelled.different), percent(right, labelled.same)] as const,
    ),
  });
  const here: ChartSeries = {
    name: 'policy in force',
    dots: true,
    points: [[100 * (operatingPoint.wrong.share ?? 0), 100 * (operatingPoint.right.share ?? 0)]],
  };
  return [
    {
      kind: 'chart',
      title: 'Right hits against wrong hits',
      xLabel: 'wrong hits, % of different pairs served',
      yLabel: 'right hits, % of same pairs served',
      series: [line('probability', summary.probability), line('cosine alone', summary.cosine), here],
      xMax: 10,
    },
    {
      kind: 'table',
      title: 'Right hits at a bound of wrong hits',
      columns: ['wrong at most', 'probability', 'cosine alone'],
      rows: summary.probability.coverage.map(({ wrongAtMost, right }, index) => [
        `${100 * wrongAtMost} %`,
        shareText(right),
        shareText(summary.cosine.coverage[index]?.right),
      ]),
    },
    pointTable('By domain', summary.byDomain),
    pointTable('By category', summary.byCategory),
    readingTable('Wrong hits', summary.wrongHits),
    readingTable('Different, not served, ranked highest', summary.nearWrong),
    readingTable('Misses', summary.misses),
  ];
}

function percent(part: number, whole: number): number {
  return (100 * part) / whole;
}

function pointTable(title: string, points: Readonly<Record<string, OperatingPoint>>): PageSection {
  const rows = Object.entries(points).map(([name, { right, wrong }]) => [name, shareText(right), shareText(wrong)]);
  return { kind: 'table', title, columns: ['', 'right hits', 'wrong hits'], rows };
}

function readingTable(title: string, pairs: readonly ReadingPair[]): PageSection {
  return {
    kind: 'table',
    title,
    columns: ['line', 'probability', 'similarity', 'why not', 'stored', 'asked'],
    rows: pairs.map(({ line, probability, similarity, vetoes, reason, a, b }) => [
      String(line),
      probability.toFixed(4),
      similarity.toFixed(4),
      reason === 'served' ? '' : vetoes.length > 0 ? vetoes.join(', ') : reason,
      a,
      b,
    ]),
    right: [0, 1, 2],
  };
}
