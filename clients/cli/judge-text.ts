import type { JudgedPair } from '../../evaluation/judge/judge-pairs.ts';
import { shareText } from '../../evaluation/judge/share-text.ts';
import type { StreamRow } from '../../evaluation/stream/stream-report.ts';
import type { JudgeSummary, Share } from '../../evaluation/judge/summary.ts';
import { oneLine } from './format.ts';
import { table } from './table.ts';

const TEXT_CHARS_MAX = 60;

/** Judged pairs for people: one line each, then what they tell of the policy where they are labelled. */
export function judgedText(pairs: readonly JudgedPair[], summary: JudgeSummary): string {
  const rows = pairs.map(({ pair, similarity, probability, vetoes, serve, reason }) => [
    serve ? 'served' : reason,
    pair.same === null ? '–' : pair.same ? '1' : '0',
    probability.toFixed(4),
    similarity.toFixed(4),
    vetoes.length === 0 ? '–' : vetoes.join(','),
    oneLine(pair.a, TEXT_CHARS_MAX),
    oneLine(pair.b, TEXT_CHARS_MAX),
  ]);
  const header = ['verdict', 'same', 'probability', 'similarity', 'vetoes', 'stored', 'asked'];
  return `${table([header, ...rows], { right: [1, 2, 3] })}\n${figures(summary)}`;
}

function figures({ pairs, labelled, served, operatingPoint, probability, cosine, interval }: JudgeSummary): string {
  const lines = [`${served} of ${pairs.count} pairs are served.`];
  if (labelled.same + labelled.different === 0)
    return `${lines[0]} None is labelled: the column same is missing or empty.\n`;
  const rows = [
    ['', 'right hits', 'wrong hits'],
    ['policy in force', shareText(operatingPoint.right), shareText(operatingPoint.wrong)],
    ...probability.coverage.map(({ wrongAtMost, right }) => rankedRow('probability', wrongAtMost, right)),
    ...cosine.coverage.map(({ wrongAtMost, right }) => rankedRow('cosine alone', wrongAtMost, right)),
  ];
  return `${lines[0]}\n\n${table(rows)}\nIn brackets: ${interval}.\n`;
}

function rankedRow(name: string, wrongAtMost: number, right: Share): readonly string[] {
  return [`by ${name}`, shareText(right), `at most ${100 * wrongAtMost} %`];
}

/** A stream test for people: wrong hits of cosine alone and of the policy at the same share of hits. */
export function streamText(rows: readonly StreamRow[]): string {
  const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(2)} %`;
  const lines = rows.map(({ similarity, requests, hits, wrong, policyHits, policyWrong, ratio }) => [
    String(similarity),
    percent(hits, requests),
    `${percent(wrong, requests)} (${wrong})`,
    percent(policyHits, requests),
    `${percent(policyWrong, requests)} (${policyWrong})`,
    ratio.toFixed(2),
  ]);
  const header = ['cosine at least', 'hits', 'wrong', 'policy: hits', 'wrong', 'policy for one of cosine'];
  return table([header, ...lines], { right: [0, 1, 2, 3, 4, 5] });
}
