import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../cli/exit.ts';
import type { DemoSummary } from './demo-report.ts';

const DEMO = fileURLToPath(new URL('./demo.ts', import.meta.url));
const TIMEOUT_MS = 120_000;

/** Runs the demo as a process, from its sources. */
async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', DEMO, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (part: Buffer) => out.push(part));
  child.stderr.on('data', (part: Buffer) => err.push(part));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() };
}

describe('npm run demo', () => {
  it(
    'starts its own server, asks through the official client, and finds no wrong answer',
    async () => {
      const { code, out, err } = await run('--families', '6', '--seed', 'test', '--json');
      expect([code, err]).toEqual([EXIT.done, expect.stringContaining('Semantic matching')]);
      const summary = JSON.parse(out) as DemoSummary;
      expect(summary).toMatchObject({ failures: [], wrong: [], unknownSources: 0 });
      expect(summary.outcomes.reduce((sum, { requests }) => sum + requests, 0)).toBe(summary.requests);
      const outcomes = summary.outcomes.map(({ outcome }) => outcome);
      expect(outcomes).toEqual(expect.arrayContaining(['hit exact-l1', 'hit coalesced', 'miss']));
      expect(summary.modelCalls).toBeLessThan(summary.requests / 2);
    },
    TIMEOUT_MS,
  );

  it(
    'says when nothing answers at the URL, or the command line is wrong',
    async () => {
      expect((await run('--url', 'http://127.0.0.1:1')).code).toBe(EXIT.unreachable);
      expect((await run('--families', '0')).code).toBe(EXIT.usage);
      expect((await run('--nonsense')).code).toBe(EXIT.usage);
    },
    TIMEOUT_MS,
  );
});
