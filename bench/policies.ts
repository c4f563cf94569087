import { parseArgs } from 'node:util';
import { LRUCache } from 'lru-cache';
import { replay } from '../simulation/policy/replay.ts';
import { openTrace } from '../simulation/bin/open-trace.ts';
import type { TraceBatch, TraceSource } from '../simulation/workload/trace.ts';

/**
 * Prints how many requests a second each policy replays, beside a loop through `lru-cache`:
 * `npx tsx bench/policies.ts TRACE [--policy lru,sieve,…] [--size 1000,…] [--rounds 5]`. The trace lies in memory; what is
 * measured is processor time of this process, the median of rounds in which all take their turns, so that a busy machine
 * or a warm cache favours none.
 */
const DEFAULT_POLICIES = 'lru,sieve,s3-fifo,lirs,arc,w-tinylfu,w-tinylfu-fixed,adaptive';
const LOOP = 'lru-cache';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    policy: { type: 'string', default: DEFAULT_POLICIES },
    size: { type: 'string', default: '1000,2000,10000' },
    rounds: { type: 'string', default: '5' },
  },
});
const [path] = positionals;
if (path === undefined) throw new Error('npx tsx bench/policies.ts TRACE: which trace?');
const trace = await openTrace(path, { format: 'auto' });
const batches: TraceBatch[] = [];
let requests = 0;
for await (const batch of trace.batches()) {
  batches.push(batch);
  requests += batch.count;
}
const kept: TraceSource = {
  name: trace.name,
  async *batches() {
    await Promise.resolve();
    yield* batches;
  },
};

function loopThroughLruCache(size: number): void {
  const cache = new LRUCache<number, number>({ max: size });
  for (const { keys, count } of batches) {
    for (let at = 0; at < count; at += 1) {
      const key = keys[at]!;
      if (cache.get(key) === undefined) cache.set(key, 1);
    }
  }
}

/** Microseconds of processor time. */
async function timed(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function median(times: readonly number[]): number {
  return times.toSorted((left, right) => left - right)[Math.floor(times.length / 2)]!;
}

const names = [LOOP, ...values.policy.split(',')];
console.log(`${trace.name}, ${requests.toLocaleString('en-US')} requests; node ${process.version}`);
console.log('| size | policy | requests/s | × lru-cache | × lru |');
console.log('| ---: | --- | ---: | ---: | ---: |');
for (const size of values.size.split(',').map(Number)) {
  const times = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const name of names) {
      const runs = [{ policy: name, size, unit: 'entries' as const }];
      const took = await timed(() => (name === LOOP ? loopThroughLruCache(size) : replay(kept, runs)));
      // The first round is for the compiler.
      if (round > 0) times.get(name)?.push(took);
    }
  }
  const [loopTime = NaN, lruTime = NaN] = [LOOP, 'lru'].map((name) => median(times.get(name) ?? []));
  for (const [name, all] of times) {
    const time = median(all);
    const perSecond = Math.round((requests / time) * 1e6).toLocaleString('en-US');
    console.log(
      `| ${size} | ${name} | ${perSecond} | ${(loopTime / time).toFixed(2)} | ${(lruTime / time).toFixed(2)} |`,
    );
  }
}
