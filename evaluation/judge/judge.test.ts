import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../runtime/config/index.ts';
import { TextEmbedder } from '../embedding/text-embedder.ts';
import type { LabelledPair, PairFile } from '../pairs/labelled-pair.ts';
import { LetterEmbedder } from '../testing/letter-embedder.ts';
import { judgedLine } from './judge-pairs.ts';
import { judge, type Judged } from './judge.ts';
import { summaryPage } from './summary-page.ts';

const config = loadConfig({
  file: false,
  env: {},
  overrides: {
    domains: { loose: { similarityMin: 0.5, guards: [] }, tight: { similarityMin: 0.999 } },
    domainRules: [{ domain: 'tight', words: ['billing'] }],
  },
});

function pair(a: string, b: string, more: Partial<LabelledPair> = {}): LabelledPair {
  return { a, b, same: null, domain: null, category: null, line: 1, ...more };
}

async function judged(pairs: readonly LabelledPair[], domain?: string): Promise<Judged> {
  const file: PairFile = { path: 'pairs.tsv', pairs, hash: 'f'.repeat(64) };
  const embedder = await TextEmbedder.open(new LetterEmbedder());
  return judge({ config, file, embedder, ...(domain !== undefined && { domain }) });
}

describe('judge', () => {
  it('prints one object a pair, of these members alone', async () => {
    const { pairs } = await judged([pair('open the door', 'Open the door!', { same: true, category: 'near' })]);
    const line = judgedLine(pairs[0]!);
    expect(line.endsWith('\n')).toBe(true);
    expect(Object.entries(JSON.parse(line) as object).map(([name]) => name)).toEqual([
      'a',
      'b',
      'same',
      'domain',
      'category',
      'similarity',
      'probability',
      'vetoes',
      'serve',
    ]);
    expect(JSON.parse(line)).toMatchObject({ same: 1, domain: null, category: 'near', vetoes: [], serve: true });
  });

  it('gives a vetoed pair the probability 0 and names the guards', async () => {
    const { pairs } = await judged([pair('heat the oven to 200 degrees', 'please heat the oven to 250 degrees')]);
    expect(pairs[0]).toMatchObject({ probability: 0, serve: false });
    expect(pairs[0]?.vetoes).toContain('numbers');
  });

  it('keeps a probability where only the threshold refuses', async () => {
    const { pairs } = await judged([pair('open the door', 'please do kindly open the door quickly')]);
    expect(pairs[0]).toMatchObject({ serve: false, reason: 'below-threshold' });
    expect(pairs[0]?.probability).toBeGreaterThan(0);
  });

  it('never serves a text beyond the window', async () => {
    const { pairs } = await judged([pair('open # door', 'open # door')]);
    expect(pairs[0]).toMatchObject({ similarity: 0, probability: 0, vetoes: ['window'], serve: false });
  });

  it("takes the row's domain, else the rules', else the namespace's; --domain holds for all", async () => {
    const rows = [
      pair('a b', 'a b c', { domain: 'loose' }),
      pair('x', 'billing'),
      pair('x', 'other', { domain: 'unknown' }),
    ];
    const domains = ({ pairs }: Judged): readonly string[] => pairs.map(({ policyDomain }) => policyDomain);
    expect(domains(await judged(rows))).toEqual(['loose', 'tight', 'default']);
    expect(domains(await judged(rows, 'loose'))).toEqual(['loose', 'loose', 'loose']);
    await expect(judged(rows, 'nowhere')).rejects.toMatchObject({ code: 'data_invalid' });
  });

  it('sums up right and wrong hits, by domain and category, with the pairs to read', async () => {
    const { summary } = await judged([
      pair('open the door', 'open the door!', { same: true, domain: 'd1', category: 'near' }),
      pair('listen', 'silent', { same: false, domain: 'd2', category: 'letters', line: 2 }),
      pair('open the door', 'zzz', { same: true, domain: 'd1', category: 'far', line: 3 }),
      pair('open', 'shut'),
    ]);
    expect(summary.labelled).toEqual({ same: 2, different: 1, unlabelled: 1 });
    expect(summary.operatingPoint.right).toMatchObject({ count: 1, of: 2, share: 0.5 });
    expect(summary.byDomain['d1']?.right).toMatchObject({ count: 1, of: 2 });
    expect(summary.byCategory['letters']?.wrong.of).toBe(1);
    expect(summary.misses.map(({ line }) => line)).toEqual([3]);
    expect(summary.cosine.coverage.map(({ wrongAtMost }) => wrongAtMost)).toEqual([0.01, 0.05]);
    const titles = summaryPage(summary).sections.map(({ title }) => title);
    expect(titles).toContain('Right hits against wrong hits');
  });
});
