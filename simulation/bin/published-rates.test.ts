import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { replay, type ReplayRow } from '../policy/replay.ts';
import { openTrace } from './open-trace.ts';

const FOLDER = join(process.env['REPRISE_TEST_DATA'] ?? '../shared/data', 'traces');
const RATES_FILE = join(FOLDER, 'HITRATES.csv');
const isThere = existsSync(RATES_FILE);
if (!isThere)
  console.log(`Left out: published hit rates; there is no ${RATES_FILE} (REPRISE_TEST_DATA names the folder).`);

const FILES: Readonly<Record<string, string>> = {
  OLTP: 'OLTP.lis.gz',
  cloudPhysicsIO: 'cloudPhysicsIO.oracleGeneral.bin',
  'mooncake-conversation': 'mooncake-conversation.jsonl.gz',
};
const CLAIRVOYANT = ['OPT(MIN)', 'Optimal', 'Belady', 'BeladySize'];
const EXACT_TINY_LFU = 'W-TinyLFU(exact,1%win)';
const MIB = 2 ** 20;

interface Rate {
  readonly trace: string;
  readonly policy: string;
  readonly size: number;
  readonly unit: 'entries' | 'bytes';
  readonly hitPct: number;
  readonly kind: string;
  /** Where the source tells them. */
  readonly misses: number | undefined;
}

function rates(): readonly Rate[] {
  const rows = parse<Record<string, string>>(readFileSync(RATES_FILE), { columns: true });
  return rows.map(({ trace = '', policy = '', cache_size, unit, hit_pct, kind = '', source = '' }) => {
    const misses = /(\d+) misses/u.exec(source)?.[1];
    return {
      trace,
      policy,
      size: Number(cache_size) * (unit === 'MiB' ? MIB : 1),
      unit: unit === 'MiB' ? 'bytes' : 'entries',
      hitPct: Number(hit_pct),
      kind,
      misses: misses === undefined ? undefined : Number(misses),
    };
  });
}

/** Replays what each rate is about through one of our policies. */
async function replayed(trace: string, policy: string, wanted: readonly Rate[]): Promise<readonly ReplayRow[]> {
  const source = await openTrace(join(FOLDER, FILES[trace] ?? `${trace}.trace.gz`), { format: 'auto' });
  return replay(
    source,
    wanted.map(({ size, unit }) => ({ policy, size, unit })),
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe.skipIf(!isThere)('published and computed hit rates', { timeout: 600_000 }, () => {
  const all = isThere ? rates() : [];
  const of = (trace: string, policy: string, kind?: string): readonly Rate[] =>
    all.filter((rate) => rate.trace === trace && rate.policy === policy && (kind === undefined || rate.kind === kind));

  it.each([
    ['LRU', 'lru'],
    ['Sieve', 'sieve'],
    ['LFU', 'lfu'],
  ])('%s misses on cloudPhysicsIO to the unit', async (published, ours) => {
    const wanted = of('cloudPhysicsIO', published, 'published');
    expect(wanted).toHaveLength(8);
    const rows = await replayed('cloudPhysicsIO', ours, wanted);
    expect(rows.map(({ requests, hits }) => requests - hits)).toEqual(wanted.map(({ misses }) => misses));
  });

  it.each([
    ['OLTP', 'LRU', 'lru'],
    ['OLTP', 'ARC', 'arc'],
    ['gli', 'LRU', 'lru'],
    ['gli', 'ARC', 'arc'],
  ])('on %s, %s is within 0.05 points', async (trace, published, ours) => {
    const wanted = of(trace, published, 'published');
    expect(wanted).toHaveLength(8);
    const rows = await replayed(trace, ours, wanted);
    for (const [at, { hitPct }] of rows.entries())
      expect(Math.abs(hitPct - wanted[at]!.hitPct)).toBeLessThanOrEqual(0.05);
  });

  it.each(['OLTP', 'gli'])('on %s, W-TinyLFU is within a point, with an adaptive window never below', async (trace) => {
    const wanted = of(trace, EXACT_TINY_LFU);
    expect(wanted.length).toBeGreaterThan(0);
    const fixed = await replayed(trace, 'w-tinylfu-fixed', wanted);
    const adaptive = await replayed(trace, 'w-tinylfu', wanted);
    for (const [at, { hitPct }] of wanted.entries()) {
      expect(Math.abs(fixed[at]!.hitPct - hitPct)).toBeLessThanOrEqual(1);
      expect(adaptive[at]!.hitPct).toBeGreaterThanOrEqual(hitPct - 1);
    }
  });

  it('adaptive is above every online policy on average, near LRU at least, and near the best of three traces', async () => {
    const online = all.filter(({ policy }) => !CLAIRVOYANT.includes(policy));
    const ours = new Map<string, number>();
    const nameOf = ({ trace, size, unit }: Pick<Rate, 'trace' | 'size' | 'unit'>): string => `${trace} ${size} ${unit}`;
    for (const trace of new Set(online.map((rate) => rate.trace))) {
      const asked = [
        ...new Map(online.filter((rate) => rate.trace === trace).map((rate) => [nameOf(rate), rate])).values(),
      ];
      for (const row of await replayed(trace, 'adaptive', asked)) ours.set(nameOf({ ...row, trace }), row.hitPct);
    }
    const oursOf = (rate: Rate): number => ours.get(nameOf(rate)) ?? NaN;
    for (const policy of new Set(online.map((rate) => rate.policy))) {
      const its = online.filter((rate) => rate.policy === policy);
      expect(mean(its.map(oursOf)), policy).toBeGreaterThan(mean(its.map(({ hitPct }) => hitPct)));
    }
    for (const rate of online.filter(({ policy }) => policy === 'LRU'))
      expect(oursOf(rate), nameOf(rate)).toBeGreaterThanOrEqual(rate.hitPct - 1);
    for (const trace of ['cloudPhysicsIO', 'OLTP', 'gli']) {
      const best = new Map<string, number>();
      for (const rate of online.filter((other) => other.trace === trace))
        best.set(nameOf(rate), Math.max(best.get(nameOf(rate)) ?? 0, rate.hitPct));
      const names = [...best.keys()];
      expect(mean(names.map((name) => ours.get(name) ?? NaN)), trace).toBeGreaterThanOrEqual(
        mean([...best.values()]) - 1,
      );
    }
    expect(ours.get('mooncake-conversation 5859 entries')).toBeGreaterThan(15.26);
  });
});
