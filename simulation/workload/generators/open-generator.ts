import { SeededRandom } from '../../kernel/seeded-random.ts';
import { badTrace } from '../bad-trace.ts';
import { BatchBuilder } from '../batch-builder.ts';
import { KeyTable } from '../key-table.ts';
import type { TraceSource } from '../trace.ts';
import type { GeneratorMaker } from './generator.ts';
import { personalKeys } from './personal-keys.ts';
import { popularKeys } from './popular-keys.ts';
import { scanKeys } from './scan-keys.ts';
import { sessionBlocks } from './session-blocks.ts';
import { SpecValues } from './spec-values.ts';

/** Every kind of made-up workload, by the name that its spec begins with. */
export const GENERATORS: Readonly<Record<string, GeneratorMaker>> = {
  zipf: popularKeys,
  users: personalKeys,
  scan: scanKeys,
  sessions: sessionBlocks,
};

const REQUESTS_MAX = 1e10;
const SPEC = /^([a-z]+):(.*)$/u;

/** True for what names a generator (`zipf:n=1000`), not a file. */
export function isGeneratorSpec(text: string): boolean {
  const kind = SPEC.exec(text)?.[1];
  return kind !== undefined && Object.hasOwn(GENERATORS, kind);
}

/**
 * A made-up trace: `kind:name=value,…`, the same whenever it is read. All kinds take `requests`, `seed`, `rate` (a second),
 * `daily`, `weekly`, `bursts` (a day), `burstFactor`, `burstSeconds`, `size`, `sizeSpread`, `cost`, `costSpread`. Fails with
 * `data_invalid` on what there isn't.
 */
export function openGenerator(spec: string): TraceSource {
  const [, kind = '', body = ''] = SPEC.exec(spec) ?? [];
  const maker = Object.hasOwn(GENERATORS, kind) ? GENERATORS[kind] : undefined;
  if (maker === undefined) {
    throw badTrace(spec, undefined, `there is no such generator; there is ${Object.keys(GENERATORS).join(', ')}`);
  }
  const values = new SpecValues(spec, body);
  const requests = values.count('requests', 1_000_000, REQUESTS_MAX);
  const seed = values.number('seed', 1, { least: 0, most: 2 ** 31, isWhole: true });
  const generator = maker(values, seed);
  values.checkAllKnown();
  return {
    name: spec,
    requests,
    async *batches() {
      const out = new BatchBuilder(generator.columns);
      const keys = new KeyTable();
      for (const request of generator.requests(new SeededRandom(`workload/${kind}/${seed}`))) {
        const { key, size = 1, timeMs = 0, cost = 0, group = 0, parent = -1 } = request;
        // In full, not by spreading: spread objects are slow to read.
        const dense = { key: keys.idOf(key), size, timeMs, cost, group, parent: parent < 0 ? -1 : keys.idOf(parent) };
        out.add(dense);
        const full = out.take();
        if (full.length > 0) yield* full;
        if (out.total === requests) break;
      }
      yield* out.takeLast();
    },
  };
}
