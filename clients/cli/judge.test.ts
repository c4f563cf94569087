import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureEmbeddingModel } from '../../scripts/lib/embedding-model.mjs';
import { EXIT } from './exit.ts';
import { progressOn } from './progress.ts';
import type { Terminal } from './terminal.ts';
import { runCaptured } from './testing/captured-terminal.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'reprise-judge-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('the command line of judge and calibrate', () => {
  it.each([
    [['judge']],
    [['judge', '--pairs', 'a.tsv', '--stream', 'b.json']],
    [['judge', '--stream', 'b.json', '--seeds', 'x']],
    [['calibrate', '--pairs', 'a.tsv', '--domain', 'default']],
    [['calibrate', '--domain', 'default', '--wrong-at-most', '1%']],
    [['calibrate', '--pairs', 'a.tsv', '--intents', 'b.csv', '--domain', 'default', '--wrong-at-most', '1%']],
    [['calibrate', '--pairs', 'a.tsv', '--domain', 'default', '--wrong-at-most', '2']],
    [['calibrate', '--pairs', 'a.tsv', '--domain', 'default', '--wrong-at-most', '1%', '--coefficients', 'mine']],
  ])('%o is a usage error', async (args) => {
    expect(await runCaptured(args)).toMatchObject({ code: EXIT.usage, out: '' });
  });

  it.each(['judge', 'calibrate'])('%s --help has examples', async (command) => {
    expect((await runCaptured([command, '--help'])).out).toMatch(new RegExp(`Examples:\n.*\\$ .*reprise ${command}`));
  });

  it('names file and line of what is wrong with the pairs', async () => {
    const { code, out, err } = await runCaptured(['judge', '--pairs', file('bad.tsv', 'a\tb\nx\n')]);
    expect([code, out]).toEqual([EXIT.failed, '']);
    expect(err).toMatch(/data_invalid: .*bad\.tsv:2: has 1 cell where/);
  });
});

/** A terminal that keeps what goes to standard error. */
function silent(told: string[]): Terminal {
  return {
    out: () => undefined,
    err: (text) => void told.push(text),
    stdin: () => Promise.resolve(new Uint8Array(0)),
    async *keys() {},
  };
}

describe('progress', () => {
  it('moves one line on a screen and clears it at the end', () => {
    const told: string[] = [];
    const terminal = silent(told);
    const onScreen = progressOn({ ...terminal, isInteractive: true }, 'texts:');
    onScreen(1, 2);
    onScreen(2, 2);
    expect(told).toEqual(['\r\u001b[Ktexts: 1 of 2', '\r\u001b[K']);
  });

  it('says nothing of what is soon done where it goes to a file', () => {
    const told: string[] = [];
    const terminal = silent(told);
    const toFile = progressOn(terminal, 'texts:');
    toFile(1, 2);
    toFile(2, 2);
    expect(told).toEqual([]);
  });
});

const model = await ensureEmbeddingModel({ sources: ['maven'] });
if ('unavailable' in model) console.log(`left out: judge with the real embedding model (${model.unavailable})`);

describe.runIf('modelPath' in model)('judge with the real embedding model', () => {
  const PAIRS =
    'a\tb\tsame\ndo I turn it on?\tDo I turn it on\t1\nturn the heating on\tturn the heating off\t0\nwhat is a cell?\thow do I cancel?\t\n';

  it('prints one object a line and writes summary and page', async () => {
    const config = file('reprise.yaml', `dataDir: ${join(folder, 'data')}\n`);
    const [summary, html] = [join(folder, 'summary.json'), join(folder, 'summary.html')];
    const args = ['judge', '--pairs', file('pairs.tsv', PAIRS), '--config', config, '--calibration', 'off'];
    const run = await runCaptured([...args, '--json', '--summary', summary, '--html', html]);
    expect([run.code, run.err]).toEqual([EXIT.done, '']);
    const lines = run.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ same }) => same)).toEqual([1, 0, null]);
    expect(lines[1]).toMatchObject({ probability: 0, serve: false });
    expect(lines[1]?.['vetoes']).not.toEqual([]);
    expect(lines[1]?.['similarity']).toBeGreaterThan(0.9);
    expect(JSON.parse(readFileSync(summary, 'utf8'))).toMatchObject({ version: 1, pairs: { count: 3 } });
    expect(readFileSync(html, 'utf8')).toContain('Judged pairs');
  }, 60_000);

  it('prints a table for people', async () => {
    const config = file('reprise.yaml', `dataDir: ${join(folder, 'data')}\n`);
    const run = await runCaptured([
      'judge',
      '--pairs',
      file('pairs.tsv', PAIRS),
      '--config',
      config,
      '--calibration',
      'off',
    ]);
    expect(run.out).toMatch(/^verdict +same +probability/);
    expect(run.out).toMatch(/of 3 pairs are served/);
  }, 60_000);
});
