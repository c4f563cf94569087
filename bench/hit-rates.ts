import { join } from 'node:path';
import { POLICY_NAMES } from '../runtime/ports/options.ts';
import { replayTraces } from '../simulation/bin/replay-traces.ts';
import type { ReplayRow } from '../simulation/policy/replay.ts';

/**
 * Prints the hit rates of every policy on the traces of docs/policies.md, averaged over sizes:
 * `npx tsx bench/hit-rates.ts FOLDER` with the traces in it.
 */
interface Measured {
  readonly file: string;
  readonly sizes: readonly number[];
  readonly unit?: 'MiB';
}

const MIB = 2 ** 20;
const TRACES: readonly Measured[] = [
  {
    file: 'cloudPhysicsIO.oracleGeneral.bin',
    sizes: [128, 256, 384, 512, 640, 768, 896, 1_024],
    unit: 'MiB',
  },
  { file: 'corda-small.trace.gz', sizes: [512, 2_048, 8_192] },
  { file: 'gli.trace.gz', sizes: [250, 500, 750, 1_000, 1_250, 1_500, 1_750, 2_000] },
  { file: 'loop.trace.gz', sizes: [100, 250, 500, 750, 1_000, 1_250] },
  { file: 'mooncake-conversation.jsonl.gz', sizes: [1_000, 5_859, 10_000, 30_000, 50_000, 100_000] },
  { file: 'multi1.trace.gz', sizes: [200, 600, 1_400] },
  { file: 'multi2.trace.gz', sizes: [200, 1_000, 2_200] },
  { file: 'multi3.trace.gz', sizes: [200, 1_200, 2_600] },
  { file: 'OLTP.lis.gz', sizes: [250, 500, 1_000, 2_000, 5_000, 10_000] },
  { file: 'zigzag.trace.gz', sizes: [250, 500, 750] },
];

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('npx tsx bench/hit-rates.ts FOLDER: where are the traces?');

function average(rows: readonly ReplayRow[], policy: string): string {
  const rates = rows.filter((row) => row.policy === policy).map(({ hitPct }) => hitPct);
  return rates.length === 0 ? '–' : (rates.reduce((sum, rate) => sum + rate, 0) / rates.length).toFixed(2);
}

const columns = [...POLICY_NAMES, 'belady', 'belady-size'];
console.log(`| trace | ${columns.join(' | ')} |`);
console.log(`| --- | ${columns.map(() => '---').join(' | ')} |`);
for (const { file, sizes, unit } of TRACES) {
  const bound = unit === undefined ? 'belady' : 'belady-size';
  const rows = await replayTraces({
    traces: [{ path: join(folder, file), format: 'auto' }],
    policies: [...POLICY_NAMES, bound],
    sizes: sizes.map((size) =>
      unit === undefined ? { size, unit: 'entries' as const } : { size: size * MIB, unit: 'bytes' as const },
    ),
    jobs: 1,
  });
  console.log(`| ${rows[0]?.trace} | ${columns.map((policy) => average(rows, policy)).join(' | ')} |`);
}
