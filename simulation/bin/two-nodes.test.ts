import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { NodeHash } from '../../runtime/host/node-hash.ts';
import { runTwoNodes, type TwoNodesResult } from '../scenarios/two-nodes.ts';
import { drainMicrotasks } from './drain.ts';

const PROGRAM = fileURLToPath(new URL('./print-two-nodes.ts', import.meta.url));

async function inAnotherProcess(seed: string, times: number): Promise<TwoNodesResult[]> {
  const args = ['--import', 'tsx', PROGRAM, seed, String(times)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 170_000 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TwoNodesResult);
}

describe('two nodes on one memory grid', () => {
  it('gives the same digest 20 times in two processes', { timeout: 180_000 }, async () => {
    const [first, second] = await Promise.all([inAnotherProcess('reprise', 10), inAnotherProcess('reprise', 10)]);

    const results = [...first!, ...second!];
    expect(results).toHaveLength(20);
    expect(new Set(results.map((result) => result.digest)).size).toBe(1);
    expect(results.every((result) => result.requests === 500)).toBe(true);
  });

  it('accounts for every request and reuses answers of every kind', { timeout: 60_000 }, async () => {
    const result = await runTwoNodes({ seed: 'accounts', hash: new NodeHash(), drain: drainMicrotasks });

    expect(Object.values(result.byOutcome).reduce((sum, count) => sum + count, 0)).toBe(500);
    for (const outcome of ['miss', 'hit-exact-l1', 'hit-exact-l2', 'hit-semantic', 'hit-coalesced', 'cancelled']) {
      expect(result.byOutcome[outcome], outcome).toBeGreaterThan(0);
    }
  });

  it('gives another digest for another seed', { timeout: 60_000 }, async () => {
    const one = await runTwoNodes({ seed: 'one', hash: new NodeHash(), drain: drainMicrotasks });
    const two = await runTwoNodes({ seed: 'two', hash: new NodeHash(), drain: drainMicrotasks });

    expect(one.digest).not.toBe(two.digest);
  });
});
