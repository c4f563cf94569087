import { count, duration, oneLine, share } from '../cli/format.ts';
import { table } from '../cli/table.ts';
import type { Answered } from './demo-client.ts';

/** Price of a million tokens, in dollars: the demo's assumption, printed with the figures. */
const PROMPT_PRICE = 2.5;
const COMPLETION_PRICE = 10;
const MILLION = 1_000_000;
const TEXT_CHARS = 56;

/** Latencies and numbers of one outcome. */
export interface OutcomeRow {
  readonly outcome: string;
  readonly requests: number;
  readonly msP50: number;
  readonly msP99: number;
}

/** A semantic hit and the question whose answer it served. */
export interface SemanticPair {
  readonly asked: string;
  readonly stored: string;
  readonly similarity: number;
  readonly times: number;
  /** True when the two have different meanings: the worst bug. */
  readonly wrong: boolean;
}

/** What the demo found. */
export interface DemoSummary {
  readonly requests: number;
  readonly ms: number;
  readonly outcomes: readonly OutcomeRow[];
  readonly modelCalls: number;
  readonly costBilled: number;
  readonly costWithoutCache: number;
  readonly rephrasings: { readonly requests: number; readonly served: number };
  readonly traps: { readonly requests: number; readonly wrong: number };
  readonly semantic: readonly SemanticPair[];
  /** Hits of any kind whose answer was made for a question of another meaning, in words. */
  readonly wrong: readonly string[];
  /** Hits of entries that no request of this run made: their source can't be checked. */
  readonly unknownSources: number;
  readonly failures: readonly string[];
}

/** Judges all answers: where each came from, and whether its source means the same. */
export function summarise(answered: readonly Answered[], ms: number): DemoSummary {
  const sources = sourcesOf(answered);
  const hits = answered.filter(isHit);
  const isWrong = ({ ask, entryId }: Answered): boolean => {
    const source = sources.get(entryId);
    return source !== undefined && source.meaning !== ask.meaning;
  };
  const wrong = hits.filter(isWrong);
  const rephrasings = answered.filter(({ ask }) => ask.role === 'rephrasing');
  const traps = answered.filter(({ ask }) => ask.role !== 'question' && ask.role !== 'rephrasing');
  const called = answered.filter(isModelCall);
  return {
    requests: answered.length,
    ms,
    outcomes: outcomeRows(answered),
    modelCalls: called.length,
    costBilled: costOf(called),
    costWithoutCache: costOf(answered),
    rephrasings: { requests: rephrasings.length, served: rephrasings.filter(isHit).length },
    traps: { requests: traps.length, wrong: traps.filter((one) => isHit(one) && isWrong(one)).length },
    semantic: semanticPairs(hits, sources),
    wrong: wrong.map(({ ask, entryId }) => `“${ask.text}” got the answer to “${sources.get(entryId)?.text ?? ''}”`),
    unknownSources: hits.filter(({ entryId }) => !sources.has(entryId)).length,
    failures: answered.filter(({ failure }) => failure !== '').map(({ ask, failure }) => `“${ask.text}”: ${failure}`),
  };
}

interface Source {
  readonly text: string;
  readonly meaning: string;
}

/** The question that each entry answers: that of the request which called the model for it. */
function sourcesOf(answered: readonly Answered[]): ReadonlyMap<string, Source> {
  const made = answered.filter((one) => isModelCall(one) && one.entryId !== '');
  return new Map(made.map(({ entryId, ask }) => [entryId, { text: ask.text, meaning: ask.meaning }]));
}

function isHit({ outcome }: Answered): boolean {
  return outcome.startsWith('hit');
}

function isModelCall({ outcome }: Answered): boolean {
  return outcome === 'miss' || outcome === 'bypass';
}

function costOf(answered: readonly Answered[]): number {
  return answered.reduce(
    (sum, { promptTokens, completionTokens }) =>
      sum + (promptTokens * PROMPT_PRICE + completionTokens * COMPLETION_PRICE) / MILLION,
    0,
  );
}

function outcomeRows(answered: readonly Answered[]): OutcomeRow[] {
  const byOutcome = new Map<string, number[]>();
  for (const { outcome, ms } of answered) {
    const list = byOutcome.get(outcome);
    if (list === undefined) byOutcome.set(outcome, [ms]);
    else list.push(ms);
  }
  return [...byOutcome]
    .map(([outcome, list]) => {
      list.sort((a, b) => a - b);
      return { outcome, requests: list.length, msP50: quantile(list, 0.5), msP99: quantile(list, 0.99) };
    })
    .sort((a, b) => b.requests - a.requests);
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? 0;
}

function semanticPairs(hits: readonly Answered[], sources: ReadonlyMap<string, Source>): SemanticPair[] {
  const pairs = new Map<string, SemanticPair>();
  for (const { ask, entryId, outcome, similarity } of hits) {
    if (outcome !== 'hit semantic') continue;
    const source = sources.get(entryId);
    const stored = source?.text ?? '(not of this run)';
    const name = JSON.stringify([ask.text, stored]);
    const times = (pairs.get(name)?.times ?? 0) + 1;
    const wrong = source !== undefined && source.meaning !== ask.meaning;
    pairs.set(name, { asked: ask.text, stored, similarity: similarity ?? Number.NaN, times, wrong });
  }
  return [...pairs.values()].sort((a, b) => a.similarity - b.similarity);
}

/** The summary for people. */
export function summaryText(summary: DemoSummary): string {
  const { requests, modelCalls, costBilled, costWithoutCache, rephrasings, traps, semantic } = summary;
  const saved = costWithoutCache - costBilled;
  return [
    outcomeTable(summary),
    '\n',
    table([
      [
        'model calls',
        `${count(modelCalls)} for ${count(requests)} requests: ${share(requests - modelCalls, requests)} saved`,
      ],
      [
        'cost',
        `$${costBilled.toFixed(4)} instead of $${costWithoutCache.toFixed(4)}: $${saved.toFixed(4)} saved, at $${PROMPT_PRICE.toFixed(2)} a million prompt tokens and $${COMPLETION_PRICE.toFixed(2)} a million others`,
      ],
      ['rephrasings', `${count(rephrasings.served)} of ${count(rephrasings.requests)} answered from memory`],
      ['traps', `${count(traps.wrong)} of ${count(traps.requests)} got the answer to another question`],
      ['wrong answers', `${count(summary.wrong.length)} in all`],
    ]),
    semanticTable(semantic),
    ...(summary.unknownSources > 0
      ? [
          `\n${count(summary.unknownSources)} hits came from entries that this run didn't make; they were not checked.\n`,
        ]
      : []),
    ...listed('Failed requests', summary.failures),
    ...listed('WRONG ANSWERS', summary.wrong),
  ].join('');
}

function outcomeTable({ requests, ms, outcomes }: DemoSummary): string {
  const rows = outcomes.map(({ outcome, requests: number, msP50, msP99 }) => [
    outcome === '' ? 'not from Reprise' : outcome,
    count(number),
    share(number, requests),
    `${msP50.toFixed(1)} ms`,
    `${msP99.toFixed(1)} ms`,
  ]);
  return table(
    [['outcome', 'requests', 'share', 'p50', 'p99'], ...rows, ['all', count(requests), '', '', duration(ms)]],
    {
      right: [1, 2, 3, 4],
    },
  );
}

function semanticTable(pairs: readonly SemanticPair[]): string {
  if (pairs.length === 0) return '\nNo semantic hits.\n';
  const rows = pairs.map(({ asked, stored, similarity, times, wrong }) => [
    similarity.toFixed(4),
    String(times),
    oneLine(asked, TEXT_CHARS),
    oneLine(stored, TEXT_CHARS),
    wrong ? 'WRONG' : '',
  ]);
  const head = ['similarity', 'times', 'asked', 'answered with the answer to', ''];
  return `\nSemantic hits, the least alike first\n${table([head, ...rows], { right: [0, 1], indent: '  ' })}`;
}

const LISTED_MAX = 20;

function listed(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const shown = lines.slice(0, LISTED_MAX).map((line) => `  ${oneLine(line, 200)}\n`);
  const more = lines.length - shown.length;
  return [`\n${title}\n`, ...shown, ...(more > 0 ? [`  and ${more} more\n`] : [])];
}
