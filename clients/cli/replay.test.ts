import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { columnsOf, sizesOf } from './replay/replay-options.ts';
import { runCaptured } from './testing/captured-terminal.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-replay-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function traceFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const POLICIES = ['lru', 'sieve', 'w-tinylfu', 'belady'];
const LOOP = '1\n2\n3\n1\n2\n3\n1\n2\n3\n';
const SIZED = 'key,size\na,10\nb,20\na,10\nc,30\nb,20\na,10\n';

describe('reprise replay', () => {
  it('tells hits of policies at sizes', async () => {
    const run = await runCaptured([
      'replay',
      traceFile('loop.trace', LOOP),
      '--policy',
      'lru,fifo',
      '--size',
      '2,3',
      '--json',
    ]);
    expect(run.code).toBe(0);
    const row = { trace: 'loop', unit: 'entries', requests: 9, seconds: expect.any(Number) as number };
    expect(run.json<unknown[]>()).toEqual([
      { ...row, policy: 'lru', size: 2, hits: 0, hitPct: 0, missBytes: 9 },
      { ...row, policy: 'lru', size: 3, hits: 6, hitPct: 66.6667, missBytes: 3 },
      { ...row, policy: 'fifo', size: 2, hits: 0, hitPct: 0, missBytes: 9 },
      { ...row, policy: 'fifo', size: 3, hits: 6, hitPct: 66.6667, missBytes: 3 },
    ]);
    expect(run.err).toContain('loop.trace: lirs (lines of one number)');
  });

  it('prints one form at a time', async () => {
    const path = traceFile('loop.trace', LOOP);
    const run = await runCaptured(['replay', path, '--policy', 'lru', '--size', '2', '--json', '--csv']);
    expect(run.code).toBe(2);
    expect(run.out).toBe('');
    expect(run.err).toMatch(/--csv.*--json/u);
  });

  it('counts bytes where sizes are bytes, and leaves them out for traces without sizes', async () => {
    const paths = [traceFile('loop.trace', LOOP), traceFile('sized.csv', SIZED)];
    const run = await runCaptured(['replay', ...paths, '--policy', 'lru', '--size', '2,60B', '--csv']);
    expect(run.code).toBe(0);
    const [header, ...lines] = run.out.trimEnd().split('\n');
    expect(header).toBe('trace,policy,size,unit,requests,hits,hitPct,missBytes,seconds');
    expect(lines.map((line) => line.replace(/,[^,]*$/u, ''))).toEqual([
      'loop,lru,2,entries,9,0,0,9',
      'sized,lru,2,entries,6,1,16.6667,90',
      'sized,lru,60,bytes,6,3,50,60',
    ]);
    expect(run.err).toContain('loop.trace: it has no sizes, so those in bytes are left out');
    const none = await runCaptured(['replay', paths[0]!, '--policy', 'lru', '--size', '60B']);
    expect(none.code).toBe(1);
    expect(none.out).toBe('');
  });

  it('has the same rows whether one thread makes them or several', async () => {
    const args = ['replay', traceFile('sized.csv', SIZED), 'users:requests=3000,users=20'];
    args.push('--policy', POLICIES.join(','), '--size', '5,50', '--json');
    const rowsOf = async (jobs: string): Promise<unknown[]> => {
      const run = await runCaptured([...args, '--jobs', jobs]);
      expect(run.code).toBe(0);
      return run.json<{ seconds: number }[]>().map(({ seconds: _seconds, ...row }) => row);
    };
    const alone = await rowsOf('1');
    expect(alone).toHaveLength(2 * 2 * POLICIES.length);
    expect(await rowsOf('2')).toEqual(alone);
  });

  it('prints a table', async () => {
    const run = await runCaptured(['replay', 'scan:n=10,requests=2000', '--policy', 'fifo', '--size', '20']);
    expect(run.out).toMatch(/^trace +policy +size +requests +hits +hit rate/u);
    expect(run.out).toMatch(/scan:n=10,requests=2000 +fifo +20 +2,000 +1,990 +99\.50 %/u);
  });

  it('writes a page that needs no network, with the bounds in it', async () => {
    const html = join(folder, 'page.html');
    const path = traceFile('<b>.csv', SIZED);
    const run = await runCaptured(['replay', path, '--policy', 'lru', '--size', '1,2,40B', '--html', html, '--json']);
    expect(run.code).toBe(0);
    expect(run.json<{ policy: string }[]>().every(({ policy }) => policy === 'lru')).toBe(true);
    const page = readFileSync(html, 'utf8');
    for (const text of ['hit rate by size', 'miss ratio over time', 'belady-size', 'uPlot'])
      expect(page).toContain(text);
    expect(page).not.toMatch(/(src|href)="?https?:/u);
    expect(page).not.toContain('<b>: hit');
    expect(readdirSync(folder).sort()).toEqual(['<b>.csv', 'page.html']);
  });

  it('prints and writes nothing for a trace that is wrong', async () => {
    const html = join(folder, 'page.html');
    const bad = traceFile('bad.csv', 'key,size\na,1\nb,-1\n');
    for (const jobs of ['1', '2']) {
      const run = await runCaptured([
        'replay',
        bad,
        '--policy',
        'lru,fifo',
        '--size',
        '5',
        '--html',
        html,
        '--jobs',
        jobs,
      ]);
      expect(run.code).toBe(1);
      expect(run.out).toBe('');
      expect(run.err).toContain(`data_invalid: ${bad}, line 3, column 2 (size): -1 is less than 0`);
    }
    expect(readdirSync(folder)).toEqual(['bad.csv']);
  });

  it('tells what it takes', async () => {
    for (const [args, told] of [
      [['--policy', 'mru', '--size', '5'], "There is no policy 'mru'"],
      [['--size', 'big'], "'big' is no size"],
      [['--size', '0'], "'0' is no size"],
      [['--size', '5', '--format', 'xml'], 'Allowed choices are auto, lirs'],
      [['--size', '5', '--jobs', '0'], '--jobs takes a whole number'],
      [['--size', '5', '--columns', 'size=1'], 'The columns have no key'],
      [[], "required option '--size"],
    ] as const) {
      const run = await runCaptured(['replay', 'scan:n=2,requests=4', ...args]);
      expect(run.code).toBe(2);
      expect(run.err).toContain(told);
    }
    const help = await runCaptured(['replay', '--help']);
    expect(help.out).toContain('Examples:');
  });

  it('reads sizes and columns as they are written', () => {
    expect(sizesOf('5000, 512MiB,1.5kB,1e6')).toEqual([
      { size: 5_000, unit: 'entries' },
      { size: 536_870_912, unit: 'bytes' },
      { size: 1_500, unit: 'bytes' },
      { size: 1_000_000, unit: 'entries' },
    ]);
    expect(columnsOf('key=3,time=1,unit=s')).toEqual({ key: '3', time: '1', timeUnit: 's' });
  });
});

describe('reprise workload', () => {
  it('writes what replay reads with the same hits', async () => {
    const out = join(folder, 'made.jsonl.gz');
    const spec = 'sessions:requests=5000,sessions=20,size=300';
    expect((await runCaptured(['workload', spec, '--out', out])).code).toBe(0);
    expect(gunzipSync(readFileSync(out)).toString().split('\n')).toHaveLength(5_002);
    const run = await runCaptured(['replay', spec, out, '--policy', 'lru', '--size', '300,64KiB', '--json']);
    const rows = run.json<{ trace: string; hits: number; missBytes: number }[]>();
    const pick = (at: number) => ({ hits: rows[at]?.hits, missBytes: rows[at]?.missBytes });
    expect(pick(0)).toEqual(pick(2));
    expect(pick(1)).toEqual(pick(3));
  });

  it('leaves no file of a trace that is wrong', async () => {
    const bad = traceFile('bad.trace', '1\nx\n');
    const run = await runCaptured(['workload', bad, '--format', 'lirs', '--out', join(folder, 'out.jsonl')]);
    expect(run.code).toBe(1);
    expect(run.err).toContain('bad.trace, line 2, column 1: "x" is not a whole number');
    expect(readdirSync(folder)).toEqual(['bad.trace']);
  });
});
