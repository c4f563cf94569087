import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Explanation } from '../node/index.ts';
import { EXIT } from './exit.ts';
import { runCaptured } from './testing/captured-terminal.ts';
import { startCliServer, type CliServer } from './testing/cli-server.ts';

const STORED = 'opening hours of the library';

let cli: CliServer;
let folder: string;
let log: string;
let pairs: string;
let entryId: string;

beforeAll(async () => {
  cli = await startCliServer();
  entryId = await cli.store(STORED);
});
afterAll(() => cli.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-review-'));
  log = join(folder, 'near-misses.jsonl');
  pairs = join(folder, 'pairs', 'reviewed.tsv');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const record = (b: string, changes: object = {}): string =>
  JSON.stringify({
    version: 1,
    at: '2026-01-01T00:00:00.000Z',
    tenant: 'local',
    namespace: 'default',
    domain: 'default',
    entryId,
    a: STORED,
    b,
    similarity: 0.9,
    similarityMin: 0.91,
    probability: 0.5,
    probabilityMin: 0.6,
    vetoes: [],
    reason: 'below-threshold',
    ...changes,
  });
const writeLog = (...lines: string[]): void => writeFileSync(log, `${lines.join('\n')}\n`);
const review = (keys: string, ...more: string[]) => runCaptured(['review', log, '--pairs', pairs, ...more], keys);
const rows = (): string[][] =>
  readFileSync(pairs, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));

describe('reprise review', () => {
  it('approves and refuses one by one into a pairs file', async () => {
    writeLog(record('first'), record('second', { domain: 'billing' }), record('third'), record('fourth'));
    const { code, out } = await review('arsq', '--offline');
    expect(code).toBe(EXIT.done);
    expect(out).toContain('1 approved, 1 refused, 1 skipped');
    expect(rows()).toEqual([
      ['id', 'domain', 'category', 'same', 'a', 'b'],
      ['review-000001', 'default', 'reviewed', '1', STORED, 'first'],
      ['review-000002', 'billing', 'reviewed', '0', STORED, 'second'],
    ]);
  });

  it('comes back to what is open only', async () => {
    writeLog(record('first'), record('second'));
    await review('a', '--offline');
    const { out } = await review('r', '--offline');
    expect(out).not.toContain('asked   first');
    expect(rows().map(([id, , , same, , b]) => [id, same, b])).toEqual([
      ['id', 'same', 'b'],
      ['review-000001', '1', 'first'],
      ['review-000002', '0', 'second'],
    ]);
  });

  it('takes the files that were put aside, oldest first, and each pair once', async () => {
    writeFileSync(`${log}.1`, `${record('old')}\n${record('both', { similarity: 0.8 })}\n`);
    writeLog(record('both'), record('new'));
    const run = await review('', '--json');
    const { open } = run.json<{ open: { b: string; similarity: number }[] }>();
    expect(open.map(({ b, similarity }) => [b, similarity])).toEqual([
      ['old', 0.9],
      ['both', 0.9],
      ['new', 0.9],
    ]);
  });

  it('says what it can’t read, and other keys do nothing', async () => {
    writeLog(record('first'), '{"torn":', '{"version":2}');
    const { out, err } = await review('xyz A', '--offline');
    expect(err).toContain('2 lines of the log');
    expect(out).toContain('1 approved, 0 refused, 0 skipped');
  });

  it('a tab or a line break in a text doesn’t break the file', async () => {
    writeLog(record('one\ttwo\nthree'));
    await review('a', '--offline');
    expect(rows()[1]).toEqual(['review-000001', 'default', 'reviewed', '1', STORED, 'one two three']);
    expect((await review('', '--json')).json<{ open: unknown[] }>().open).toEqual([]);
  });

  it('ctrl-C ends it, with what was judged kept', async () => {
    writeLog(record('first'), record('second'));
    const { code, out } = await review('a\u0003', '--offline');
    expect([code, rows()]).toEqual([EXIT.done, expect.arrayContaining([expect.arrayContaining(['first'])])]);
    expect(out).toContain('1 approved, 0 refused');
  });

  it('tells the node, which never serves a refused pair again', async () => {
    const asked = `${STORED} — please`;
    const explain = async (): Promise<Explanation> => {
      const args = ['explain', '--model', 'demo', '--user', asked, '--json', '--address', cli.address];
      return (await runCaptured(args)).json<Explanation>();
    };
    expect((await explain()).semantic.candidates[0]?.reason).toBe('served');
    writeLog(record(asked));
    const { out } = await review('r', '--address', cli.address);
    expect(out).toContain('0 approved, 1 refused');
    expect((await explain()).semantic.candidates[0]?.reason).toBe('refused');
  });

  it('a refusal that the node doesn’t take comes up again', async () => {
    writeLog(record('first'));
    const { out, err } = await review('r', '--address', '127.0.0.1:1');
    expect(err).toContain('not refused');
    expect(out).toContain('0 approved, 0 refused, 1 skipped');
    expect((await review('', '--json')).json<{ open: unknown[] }>().open).toHaveLength(1);
  });

  it('fails where there is no log, and where none is named', async () => {
    expect((await review('')).err).toContain('data_invalid');
    expect((await runCaptured(['review'])).code).toBe(EXIT.usage);
  });
});
