import { describe, expect, it } from 'vitest';
import type { Answered } from './demo-client.ts';
import type { Ask } from './demo-plan.ts';
import { summarise, summaryText } from './demo-report.ts';

const QUESTION: Ask = { text: 'turn it on', meaning: 'on', role: 'question', streamed: false };
const REPHRASING: Ask = { text: 'switch it on', meaning: 'on', role: 'rephrasing', streamed: false };
const TRAP: Ask = { text: 'turn it off', meaning: 'off', role: 'opposite', streamed: false };

function answered(ask: Ask, outcome: string, entryId: string, fields: Partial<Answered> = {}): Answered {
  const usage = { promptTokens: 100, completionTokens: 1_000 };
  return { ask, outcome, entryId, ms: 10, similarity: undefined, failure: '', ...usage, ...fields };
}

describe('summarise', () => {
  it('finds a trap that got the answer to the question', () => {
    const summary = summarise(
      [answered(QUESTION, 'miss', 'e1'), answered(TRAP, 'hit semantic', 'e1', { similarity: 0.97 })],
      1_000,
    );
    expect(summary.traps).toEqual({ requests: 1, wrong: 1 });
    expect(summary.wrong).toEqual(['“turn it off” got the answer to “turn it on”']);
    expect(summaryText(summary)).toContain('WRONG');
  });

  it('finds a question that got the answer to a trap', () => {
    const summary = summarise([answered(TRAP, 'miss', 'e1'), answered(QUESTION, 'hit exact-l1', 'e1')], 1_000);
    expect(summary.wrong).toHaveLength(1);
    expect(summary.traps.wrong).toBe(0);
  });

  it('lets a rephrasing have the answer to its question', () => {
    const hit = answered(REPHRASING, 'hit semantic', 'e1', { similarity: 0.95 });
    const summary = summarise([hit, answered(QUESTION, 'miss', 'e1'), hit], 1_000);
    expect(summary.wrong).toEqual([]);
    expect(summary.rephrasings).toEqual({ requests: 2, served: 2 });
    expect(summary.semantic).toEqual([
      { asked: 'switch it on', stored: 'turn it on', similarity: 0.95, times: 2, wrong: false },
    ]);
  });

  it('counts model calls and what they cost', () => {
    const summary = summarise([answered(QUESTION, 'miss', 'e1'), answered(QUESTION, 'hit exact-l1', 'e1')], 1_000);
    expect(summary.modelCalls).toBe(1);
    expect(summary.costBilled).toBeCloseTo((100 * 2.5 + 1_000 * 10) / 1e6);
    expect(summary.costWithoutCache).toBeCloseTo(2 * summary.costBilled);
  });

  it('takes quantiles of each outcome', () => {
    const list = Array.from({ length: 100 }, (_, index) => answered(QUESTION, 'miss', '', { ms: index + 1 }));
    expect(summarise(list, 1_000).outcomes).toEqual([{ outcome: 'miss', requests: 100, msP50: 50, msP99: 99 }]);
  });

  it('tells of failures and of sources that it does not know', () => {
    const failed = answered(QUESTION, 'error', '', { failure: 'cut' });
    const summary = summarise([failed, answered(QUESTION, 'hit semantic', 'elsewhere')], 1_000);
    expect(summary.failures).toEqual(['“turn it on”: cut']);
    expect(summary.unknownSources).toBe(1);
  });
});
