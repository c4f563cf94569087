import { describe, expect, it } from 'vitest';
import { hasCode } from '../../../runtime/errors.ts';
import { SeededRandom } from '../../kernel/seeded-random.ts';
import { makeReader } from '../make-reader.ts';
import { recordLines } from '../record-lines.ts';
import { traceFromBytes } from '../trace-reader.ts';
import type { TraceSource } from '../trace.ts';
import { GENERATORS, isGeneratorSpec, openGenerator } from './open-generator.ts';
import { ZipfSampler } from './zipf-sampler.ts';

interface Columns {
  readonly keys: number[];
  readonly sizes: number[];
  readonly timesMs: number[];
  readonly costs: number[];
  readonly groups: number[];
  readonly parents: number[];
}

async function read(source: TraceSource): Promise<Columns> {
  const columns: Columns = { keys: [], sizes: [], timesMs: [], costs: [], groups: [], parents: [] };
  for await (const batch of source.batches()) {
    for (const name of Object.keys(columns) as (keyof Columns)[]) {
      for (const value of batch[name]?.subarray(0, batch.count) ?? []) columns[name].push(value);
    }
  }
  return columns;
}

const make = (spec: string): Promise<Columns> => read(openGenerator(spec));
const rises = (values: readonly number[]): boolean => values.every((value, at) => at === 0 || value >= values[at - 1]!);
const countOf = (values: readonly number[], wanted: (value: number) => boolean): number => values.filter(wanted).length;

describe('generators', () => {
  it.each(Object.keys(GENERATORS))('%s: the same seed gives the same trace, another one another', async (kind) => {
    const common = 'requests=3000,size=100,cost=5,daily=0.5,bursts=100';
    const [first, again, other] = await Promise.all([
      make(`${kind}:seed=7,${common}`),
      make(`${kind}:seed=7,${common}`),
      make(`${kind}:seed=8,${common}`),
    ]);
    expect(again).toEqual(first);
    expect(other.timesMs).not.toEqual(first.timesMs);
    expect(first.keys).toHaveLength(3_000);
    expect(rises(first.timesMs)).toBe(true);
    expect(Math.max(...first.keys)).toBe(new Set(first.keys).size - 1);
    expect(first.sizes.every((size) => Number.isInteger(size) && size >= 1)).toBe(true);
    const sizeOf = new Map<number, number>();
    first.keys.forEach((key, at) => {
      expect(sizeOf.get(key) ?? first.sizes[at]).toBe(first.sizes[at]);
      sizeOf.set(key, first.sizes[at]!);
    });
  });

  it('zipf: ranks come as often as the law says', () => {
    const ranks = 1_000;
    for (const exponent of [0.6, 1, 1.3]) {
      const sampler = new ZipfSampler(new SeededRandom(`zipf ${exponent}`), { ranks, exponent });
      const counts = new Array<number>(ranks + 1).fill(0);
      const draws = 200_000;
      for (let draw = 0; draw < draws; draw += 1) counts[sampler.next()]! += 1;
      const weights = Array.from({ length: ranks }, (_, at) => (at + 1) ** -exponent);
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      for (const rank of [1, 2, 10, 100]) {
        const expected = (draws * weights[rank - 1]!) / total;
        expect(Math.abs(counts[rank]! - expected)).toBeLessThan(5 * Math.sqrt(expected) + 1);
      }
      expect(counts[0]).toBe(0);
    }
  });

  it('zipf: drift changes which keys are popular', async () => {
    const top = async (drift: number): Promise<number> => {
      const { keys } = await make(`zipf:n=500,s=1.1,requests=40000,drift=${drift}`);
      const popular = (part: readonly number[]): Set<number> => {
        const counts = new Map<number, number>();
        for (const key of part) counts.set(key, (counts.get(key) ?? 0) + 1);
        return new Set(
          [...counts]
            .sort(([, a], [, b]) => b - a)
            .slice(0, 20)
            .map(([key]) => key),
        );
      };
      const [early, late] = [popular(keys.slice(0, 10_000)), popular(keys.slice(-10_000))];
      return [...early].filter((key) => late.has(key)).length;
    };
    expect(await top(0)).toBeGreaterThan(14);
    expect(await top(0.05)).toBeLessThan(10);
  });

  it('zipf: scans run over keys of their own, in order', async () => {
    const { keys } = await make('zipf:n=10,requests=20000,scanEvery=1000,scanLength=300,scanKeys=100000,scanShare=1');
    const scanned = countOf(keys, (key) => key >= 10);
    expect(scanned).toBeGreaterThan(2_000);
    const first = keys.findIndex((key) => key >= 10);
    expect(keys.slice(first, first + 300)).toEqual(Array.from({ length: 300 }, (_, at) => keys[first]! + at));
  });

  it('daily and weekly seasons move the rate', async () => {
    const { timesMs } = await make('zipf:n=10,rate=0.2,requests=150000,daily=0.8,weekly=0.6');
    const hourOf = (atMs: number): number => Math.floor(atMs / 3_600_000) % 24;
    const weekMs = 7 * 86_400_000;
    const inWeek = timesMs.filter((atMs) => atMs < weekMs);
    expect(timesMs.at(-1)).toBeGreaterThan(weekMs);
    const night = countOf(inWeek, (atMs) => hourOf(atMs) < 4);
    const noon = countOf(inWeek, (atMs) => hourOf(atMs) >= 10 && hourOf(atMs) < 14);
    expect(noon).toBeGreaterThan(4 * night);
    const weekend = countOf(inWeek, (atMs) => atMs >= 5 * 86_400_000) / 2;
    const workday = countOf(inWeek, (atMs) => atMs < 5 * 86_400_000) / 5;
    expect(weekend / workday).toBeCloseTo(0.4, 1);
  });

  it('bursts ask for one key, faster', async () => {
    const { keys, timesMs } = await make(
      'zipf:n=10000,s=0.2,rate=10,requests=50000,bursts=48,burstFactor=20,burstSeconds=30',
    );
    const counts = new Map<number, number>();
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    const [hotKey, count] = [...counts].sort(([, a], [, b]) => b - a)[0]!;
    expect(count).toBeGreaterThan(2_000);
    const times = timesMs.filter((_, at) => keys[at] === hotKey).sort((a, b) => a - b);
    const middle = times.slice(Math.floor(times.length * 0.25), Math.ceil(times.length * 0.75));
    expect(middle.at(-1)! - middle[0]!).toBeLessThan(60_000);
  });

  it('users: what is their own is asked for by nobody else', async () => {
    const { keys, groups } = await make('users:users=20,own=1,items=50,requests=5000');
    const owner = new Map<number, number>();
    keys.forEach((key, at) => {
      expect(owner.get(key) ?? groups[at]).toBe(groups[at]);
      owner.set(key, groups[at]!);
    });
    const shared = await make('users:users=20,own=0,n=50,requests=5000');
    expect(new Set(shared.keys).size).toBeLessThanOrEqual(50);
  });

  it('sessions: a prompt begins with all of the one before it', async () => {
    const { keys, groups, parents, timesMs } = await make('sessions:sessions=10,requests=20000,turns=4,prompts=3');
    const last = new Map<number, string>();
    let turns = 0;
    for (let from = 0; from < keys.length;) {
      let to = from + 1;
      while (to < keys.length && parents[to] !== -1) to += 1;
      if (to === keys.length) break;
      const prompt = keys.slice(from, to);
      expect(parents.slice(from, to)).toEqual([-1, ...prompt.slice(0, -1)]);
      expect(new Set(timesMs.slice(from, to)).size).toBe(1);
      const text = prompt.join(' ');
      const before = last.get(groups[from]!);
      if (before !== undefined) {
        expect(text.startsWith(`${before} `)).toBe(true);
        turns += 1;
      }
      last.set(groups[from]!, text);
      from = to;
    }
    expect(turns).toBeGreaterThan(100);
    expect(last.size).toBeGreaterThan(10);
  });

  it('scan: round and round, or back and forth', async () => {
    expect((await make('scan:n=3,requests=7')).keys).toEqual([0, 1, 2, 0, 1, 2, 0]);
    expect((await make('scan:n=4,zigzag=1,requests=9')).keys).toEqual([0, 1, 2, 3, 2, 1, 0, 1, 2]);
  });

  it('are written as recordings that read the same', async () => {
    const source = openGenerator('users:requests=9000,size=1000,cost=20');
    const encoder = new TextEncoder();
    const recorded = traceFromBytes(
      { name: 'r', file: 'r' },
      {
        async *bytes() {
          for await (const text of recordLines(source)) yield encoder.encode(text);
        },
        makeReader: () => makeReader('record', { file: 'r', itemBytesMax: 1e9 }),
      },
    );
    const [made, read_] = await Promise.all([read(source), read(recorded)]);
    expect(read_.keys).toEqual(made.keys);
    expect(read_.sizes).toEqual(made.sizes);
    expect(read_.timesMs).toEqual(made.timesMs);
    expect(read_.costs).toEqual(made.costs);
    const firstSeen = new Map<number, number>();
    expect(read_.groups).toEqual(
      made.groups.map((group) => {
        if (!firstSeen.has(group)) firstSeen.set(group, firstSeen.size);
        return firstSeen.get(group);
      }),
    );
  });

  it('refuse what there is not', () => {
    const cases: readonly [spec: string, told: string][] = [
      ['zipf:m=1', 'there is no m; there is requests, seed'],
      ['zipf:n=many', 'n=many is not a number'],
      ['zipf:n=1.5', 'n=1.5 is not a whole number'],
      ['zipf:n=0', 'n=0 is not between 1 and'],
      ['zipf:n=1,n=2', 'n is given twice'],
      ['zipf:n', '"n" is not name=value'],
      ['zipf:drift=2', 'drift=2 is not between 0 and 1'],
      ['scan:requests=-1', 'requests=-1 is not between 1 and'],
      ['nothing:n=1', 'there is no such generator; there is zipf'],
    ];
    for (const [spec, told] of cases) {
      let failure: unknown;
      try {
        openGenerator(spec);
      } catch (error) {
        failure = error;
      }
      expect(hasCode(failure, 'data_invalid')).toBe(true);
      expect((failure as Error).message).toContain(`${spec}: ${told}`);
    }
    expect(isGeneratorSpec('zipf:')).toBe(true);
    expect(isGeneratorSpec('c:/trace')).toBe(false);
    expect(isGeneratorSpec('zipf')).toBe(false);
  });
});
