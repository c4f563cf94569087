import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../simulation/kernel/seeded-random.ts';
import { startTestServer, type TestServer } from './testing/test-server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const QUESTIONS_FILE = join(
  process.env['REPRISE_TEST_DATA'] ?? join(ROOT, '..', 'shared', 'data'),
  'text/banking77-test.csv',
);
const MODEL_FOLDER = join(process.env['REPRISE_DATA_DIR'] ?? join(ROOT, '.reprise'), 'models', 'all-minilm-l6-v2-q');
const REPORT_FILE = join(ROOT, '.reprise', 'reports', 'banking77.md');
const SEED = 'banking77-1';
const AT_ONCE = 8;
/** Share of the semantic hits of the first pass that must be semantic hits of the second. */
const AGAIN_MIN = 0.99;
const RUN_MS_MAX = 480_000;

function missing(): string {
  if (!existsSync(QUESTIONS_FILE)) return `there is no ${QUESTIONS_FILE} (REPRISE_TEST_DATA names the folder)`;
  if (!existsSync(MODEL_FOLDER)) return 'the embedding model is not set up';
  return '';
}

const cause = missing();
if (cause !== '') console.log(`Left out: the run on real questions; ${cause}.`);

/** What became of one question in one pass. */
interface Served {
  readonly status: number;
  /** `exact`, `semantic`, `model`, or the status text of anything else. */
  readonly how: string;
  /** Entry that served, or under which the answer was stored. */
  readonly entry: string;
  readonly similarity: number;
  readonly answer: string;
}

interface Exception {
  readonly question: string;
  readonly cause: string;
}

describe.skipIf(cause !== '')('3,080 real questions through HTTP against the demo model, twice', () => {
  const questions = cause === '' ? shuffled(readQuestions(), SEED) : [];
  let server: TestServer;
  let first: readonly Served[];
  let second: readonly Served[];

  beforeAll(async () => {
    server = await startTestServer(
      { demo: { firstTokenMs: 0, perTokenMs: 0 }, cache: { lookupBudgetMs: 2_000 }, semantic: { mode: 'serve' } },
      {},
    );
    first = await pass(server, questions);
    await server.settled();
    second = await pass(server, questions);
    await server.settled();
  }, RUN_MS_MAX);
  afterAll(async () => {
    await server.close();
  });

  it('loses no request', () => {
    expect(questions).toHaveLength(3_080);
    const lost = [...first, ...second].filter((served) => served.status !== 200 || served.answer === '');
    expect(lost).toEqual([]);
  });

  it('serves every question that went to the model in pass 1 as an exact hit in pass 2', () => {
    const notExact = questions.filter((_, index) => first[index]?.how === 'model' && second[index]?.how !== 'exact');
    expect(first.filter((served) => served.how === 'model').length).toBeGreaterThan(0);
    expect(notExact).toEqual([]);
  });

  it('serves the others semantically again from a valid source, each exception with its cause', async () => {
    // An exception of the second pass goes to the model, and is a source from then on.
    const sources = new Map<string, { readonly index: number; readonly answer: string }>();
    for (const served of [first, second]) {
      served.forEach(({ how, entry, answer }, index) => {
        if (how === 'model') sources.set(entry, { index, answer });
      });
    }
    const hits: string[] = [];
    const exceptions: Exception[] = [];
    let semantic = 0;
    for (const [index, question] of questions.entries()) {
      for (const [passIndex, served] of [first[index]!, second[index]!].entries()) {
        const source = served.how === 'semantic' ? sources.get(served.entry) : undefined;
        if (served.how !== 'semantic') continue;
        expect(served.answer, 'a semantic hit gives its source’s answer').toBe(source?.answer);
        hits.push(
          `| ${passIndex + 1} | ${served.similarity.toFixed(4)} | ${cell(question)} | ${cell(questions[source!.index]!)} |`,
        );
      }
      if (first[index]?.how === 'model') continue;
      semantic += 1;
      if (second[index]?.how === 'semantic') continue;
      exceptions.push({ question, cause: `${second[index]?.how}: ${await explained(server, question)}` });
    }
    await report({ server, first, second, hits, exceptions });
    expect(semantic).toBeGreaterThan(0);
    expect(exceptions.every((exception) => exception.cause !== '')).toBe(true);
    expect((semantic - exceptions.length) / semantic).toBeGreaterThanOrEqual(AGAIN_MIN);
  });

  it('counts every request once', async () => {
    const { requests, byOutcome } = (await server.get('/admin/stats')).json<{
      requests: number;
      byOutcome: Record<string, number>;
    }>();
    expect(requests).toBe(2 * questions.length);
    expect(Object.values(byOutcome).reduce((sum, count) => sum + count, 0)).toBe(requests);
  });
});

/** Asks every question once, a few at a time. */
async function pass(server: TestServer, questions: readonly string[]): Promise<readonly Served[]> {
  const served: Served[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < questions.length) {
      const index = next;
      next += 1;
      served[index] = await ask(server, questions[index]!);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return served;
}

async function ask(server: TestServer, question: string): Promise<Served> {
  const reply = await server.post('/v1/chat/completions', bodyOf(question));
  const answer =
    reply.status === 200
      ? reply.json<{ choices: { message: { content: string } }[] }>().choices[0]?.message.content
      : undefined;
  return {
    status: reply.status,
    how: howServed(reply.cache),
    entry: reply.headers.get('x-reprise-entry') ?? '',
    similarity: Number(reply.headers.get('x-reprise-similarity') ?? 0),
    answer: answer ?? '',
  };
}

function bodyOf(question: string): object {
  return { model: 'demo', temperature: 0, messages: [{ role: 'user', content: question }] };
}

function howServed(cache: string): string {
  if (cache.includes('detail=exact')) return 'exact';
  if (cache.includes('detail=semantic')) return 'semantic';
  return cache.startsWith('fwd=') && cache.includes('stored') ? 'model' : cache;
}

interface ExplainedCandidate {
  readonly similarity: number;
  readonly storedText: string;
  readonly reason: string;
  readonly vetoes: readonly string[];
}

async function explained(server: TestServer, question: string): Promise<string> {
  const reply = await server.post('/admin/explain', { operation: 'chat.completions', body: bodyOf(question) });
  const { reasons, semantic } = reply.json<{
    reasons: string[];
    semantic: { candidates: ExplainedCandidate[] };
  }>();
  const nearest = semantic.candidates[0];
  const candidate =
    nearest === undefined
      ? 'no candidate'
      : `${nearest.similarity.toFixed(4)} ${nearest.reason} ${nearest.vetoes.join('+')} “${nearest.storedText}”`;
  return `${reasons.join(' ')} ${candidate}`;
}

async function report(run: {
  readonly server: TestServer;
  readonly first: readonly Served[];
  readonly second: readonly Served[];
  readonly hits: readonly string[];
  readonly exceptions: readonly Exception[];
}): Promise<void> {
  const tally = (served: readonly Served[]): string => {
    const counts = new Map<string, number>();
    for (const { how } of served) counts.set(how, (counts.get(how) ?? 0) + 1);
    return [...counts].map(([how, count]) => `${how} ${count}`).join(', ');
  };
  const summary = `seed ${SEED}; pass 1: ${tally(run.first)}; pass 2: ${tally(run.second)}; exceptions ${run.exceptions.length}`;
  console.log(`banking77: ${summary}`);
  const lines = [
    '# banking77 through HTTP, twice',
    '',
    summary,
    '',
    '## Exceptions: semantic in pass 1, not in pass 2',
    '',
    ...run.exceptions.map((exception) => `- ${exception.question}: ${exception.cause}`),
    '',
    '## Semantic hits',
    '',
    '| pass | similarity | asked | stored |',
    '| --- | --- | --- | --- |',
    ...[...run.hits].sort(),
    '',
  ];
  await mkdir(join(REPORT_FILE, '..'), { recursive: true });
  await writeFile(REPORT_FILE, lines.join('\n'));
}

function cell(text: string): string {
  return text.replace(/\s+/gu, ' ').replaceAll('|', '\\|').trim();
}

/** The first column of a CSV file with quoted fields. */
function readQuestions(): string[] {
  const text = readFileSync(QUESTIONS_FILE, 'utf8');
  const rows = text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*)),[^\n]*(?:\n|$)/gu);
  return [...rows].slice(1).map(([, quoted, plain]) => (quoted ?? plain ?? '').replaceAll('""', '"'));
}

function shuffled(items: readonly string[], seed: string): string[] {
  const random = new SeededRandom(seed);
  const list = [...items];
  for (let at = list.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random.float() * (at + 1));
    [list[at], list[other]] = [list[other]!, list[at]!];
  }
  return list;
}
