import { parseArgs } from 'node:util';
import { POLICY_NAMES } from '../runtime/ports/options.ts';
import { openGenerator } from '../simulation/workload/generators/open-generator.ts';
import { replay } from '../simulation/policy/replay.ts';
import { BATCH_REQUESTS, type TraceSource } from '../simulation/workload/trace.ts';

/**
 * Prints hit rates on made-up workloads that no constant of a policy was chosen on: `npx tsx bench/held-out.ts [--policy
 * lru,adaptive,…] [--seed 1]`. Seven kinds at three sizes each; the last one changes its kind again and again.
 */
const REQUESTS = 150_000;
const PHASE_REQUESTS = 25_000;
const SIZES = [300, 2_000, 8_000];

const { values } = parseArgs({
  options: {
    policy: { type: 'string', default: POLICY_NAMES.filter((name) => name !== 'prefix-lru').join(',') },
    seed: { type: 'string', default: '1' },
  },
});
const policies = values.policy.split(',');
const tail = `requests=${REQUESTS},seed=${values.seed}`;

const SPECS: Readonly<Record<string, string>> = {
  zipf: `zipf:n=30000,s=0.8,${tail}`,
  drift: `zipf:n=30000,s=0.9,drift=0.05,${tail}`,
  scans: `zipf:n=10000,s=0.9,scanEvery=15000,scanLength=5000,scanShare=1,${tail}`,
  loop: `zipf:n=5000,s=0.9,scanEvery=1,scanLength=6000,scanKeys=6000,scanShare=0.5,${tail}`,
  sessions: `sessions:sessions=200,turns=30,first=3,grow=4,${tail}`,
  users: `users:users=300,own=0.7,${tail}`,
};

const sources: TraceSource[] = Object.entries(SPECS).map(([name, spec]) => ({ ...openGenerator(spec), name }));
sources.push(phases(['zipf', 'loop', 'sessions']));

/** Workloads that take turns, each with keys of its own. */
function phases(names: readonly string[]): TraceSource {
  return {
    name: 'phases',
    async *batches() {
      const parts: number[][] = [];
      for (const name of names) {
        const keys: number[] = [];
        for await (const batch of openGenerator(SPECS[name]!).batches())
          keys.push(...batch.keys.subarray(0, batch.count));
        parts.push(keys);
      }
      for (let from = 0; from < REQUESTS; from += BATCH_REQUESTS) {
        const count = Math.min(BATCH_REQUESTS, REQUESTS - from);
        const keys = Float64Array.from({ length: count }, (_, at) => {
          const part = Math.floor((from + at) / PHASE_REQUESTS) % parts.length;
          return parts[part]![from + at]! * parts.length + part;
        });
        yield { count, keys };
      }
    },
  };
}

const sums = new Map<string, number>();
console.log(`| workload | size | ${policies.join(' | ')} | belady |`);
console.log(`| --- | ---: | ${policies.map(() => '---: | ').join('')}---: |`);
for (const source of sources) {
  const runs = SIZES.flatMap((size) =>
    [...policies, 'belady'].map((policy) => ({ policy, size, unit: 'entries' as const })),
  );
  const rows = await replay(source, runs);
  for (const size of SIZES) {
    const ofSize = rows.filter((row) => row.size === size);
    for (const { policy, hitPct } of ofSize) sums.set(policy, (sums.get(policy) ?? 0) + hitPct);
    console.log(`| ${source.name} | ${size} | ${ofSize.map(({ hitPct }) => hitPct.toFixed(2)).join(' | ')} |`);
  }
}
const count = sources.length * SIZES.length;
console.log(`| average | | ${[...sums.values()].map((sum) => (sum / count).toFixed(2)).join(' | ')} |`);
