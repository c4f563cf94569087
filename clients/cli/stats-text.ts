import type { Stats } from '../node/index.ts';
import { count, duration, share, size } from './format.ts';
import { table } from './table.ts';

/** A node's counters for people. */
export function statsText(stats: Stats): string {
  const { requests, tokensBilled, tokensSaved } = stats;
  const outcomes = Object.entries(stats.byOutcome).sort(([, a], [, b]) => b - a);
  const hits = outcomes.reduce((sum, [name, times]) => (name.startsWith('hit') ? sum + times : sum), 0);
  const tokens = ({ promptTokens, completionTokens }: Stats['tokensBilled']): string =>
    count(promptTokens + completionTokens);
  return [
    table(
      [
        ['outcome', 'requests', 'share'],
        ...outcomes.map(([name, times]) => [name, count(times), share(times, requests)]),
        ['all', count(requests), requests === 0 ? '' : '100 %'],
      ],
      { right: [1, 2] },
    ),
    '\n',
    table([
      ['hit rate', share(hits, requests)],
      ['model calls', `${count(stats.modelCalls)} made, ${count(stats.modelCallsSaved)} saved`],
      ['tokens', `${tokens(tokensBilled)} billed, ${tokens(tokensSaved)} saved`],
      ['cost', `${money(stats.costBilled)} billed, ${money(stats.costSaved)} saved`],
      ['entries', `${count(stats.entries)} in ${size(stats.entryBytes)}, ${count(stats.evictions)} evicted`],
      ['vectors', count(stats.vectors)],
      ['ledger', `sequence ${stats.ledgerSequence}, ${confirmed(stats.ledgerConfirmedAgeMs)}`],
      ['semantic', stats.semantic],
      ['up', duration(stats.uptimeMs)],
    ]),
  ].join('');
}

/** An amount in the currency of the configured prices. */
function money(amount: number): string {
  return amount === 0 ? '0' : amount < 0.01 ? amount.toFixed(6) : amount.toFixed(2);
}

function confirmed(ageMs: number): string {
  return Number.isFinite(ageMs) ? `confirmed ${duration(ageMs)} ago` : 'not confirmed yet';
}
