import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { MemoryGrid } from '../../grid/memory/memory-grid.ts';
import { NearCache } from '../../grid/near-cache/near-cache.ts';
import { SeededRandom } from '../../simulation/kernel/seeded-random.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Entry } from '../ports/entry.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { Ledger } from './ledger.ts';
import { Tiers } from './tiers.ts';
import type { ReadTerms } from './tiers.ts';

const FAR: CallOptions = { deadlineAtMs: 1e12 };
const TERMS: ReadTerms = { strict: false, maxAgeMs: Infinity, graceAllowed: false };
const NO_CHILD = { add: () => undefined, set: () => undefined, observe: () => undefined };
const SILENT: Telemetry = {
  counter: () => NO_CHILD,
  gauge: () => NO_CHILD,
  histogram: () => NO_CHILD,
  log: () => undefined,
};

let clock: ManualClock;
let ledger: Ledger;
let nearCache: NearCache<Entry>;
let grid: MemoryGrid;

beforeEach(async () => {
  clock = new ManualClock();
  const options = { roles: { entries: { bytesMax: 1e6 }, vectors: { bytesMax: 1e6 } }, policy: 'lru' } as const;
  grid = new MemoryGrid({ clock }, options);
  ledger = new Ledger(
    { grid, clock, random: new SeededRandom('tiers'), telemetry: SILENT },
    { stalenessBoundMs: 2_000, unconfirmedMs: 60_000, confirmIntervalMs: 500, callTimeoutMs: 200 },
  );
  await ledger.confirm(FAR);
  nearCache = new NearCache<Entry>({ bytesMax: 1e6, policy: 'lru' });
});

function tiersOver(gridTier: 'exact-l1' | 'exact-l2'): Tiers {
  return new Tiers({ grid, ledger, clock, nearCache }, { gridTier });
}

function answer(text: string, calledAtMs: number): Entry {
  const { position } = ledger;
  if (position === undefined) throw new Error('the ledger was confirmed');
  return {
    key: 'k',
    operation: 'chat.completions',
    kind: 'body',
    contentType: 'application/json',
    payload: new TextEncoder().encode(text),
    usageEventStart: 0,
    usageEventEnd: 0,
    usage: { promptTokens: 1, completionTokens: 1 },
    cost: 0,
    calledAtMs,
    expiresAtMs: clock.wallMs() + 60_000,
    graceMs: 0,
    position,
    tenant: 't',
    namespace: 'default',
    tags: [],
    model: 'm',
    modelVersion: 'u#1',
    scope: '',
    askedText: '',
    provenance: { node: 'n', upstream: 'u', systemFingerprint: '', modelMs: 1, firstTokenMs: 1 },
  };
}

function textOf(entry: Entry | undefined): string | undefined {
  return entry === undefined ? undefined : new TextDecoder().decode(entry.payload);
}

describe('L1 above an in-process grid', () => {
  it('takes in what is asked for, not what is stored', async () => {
    const tiers = tiersOver('exact-l1');
    await tiers.store(answer('one', 1), FAR);
    expect(tiers.getNear('k', TERMS)).toBeUndefined();
    expect(textOf((await tiers.get('k', TERMS, FAR))?.entry)).toBe('one');
    expect(textOf(tiers.getNear('k', TERMS)?.entry)).toBe('one');
  });

  it('never holds an answer that was replaced', async () => {
    const tiers = tiersOver('exact-l1');
    await tiers.store(answer('one', 1), FAR);
    await tiers.get('k', TERMS, FAR);
    await tiers.store(answer('two', 2), FAR);
    expect(textOf((await tiers.get('k', TERMS, FAR))?.entry)).toBe('two');
  });

  it('nor takes one in from a load that began before it was replaced', async () => {
    const tiers = tiersOver('exact-l1');
    await tiers.store(answer('one', 1), FAR);
    const [, early] = await Promise.all([tiers.store(answer('two', 2), FAR), tiers.get('k', TERMS, FAR)]);
    expect(['one', 'two']).toContain(textOf(early?.entry));
    expect(textOf((await tiers.get('k', TERMS, FAR))?.entry)).toBe('two');
  });
});

describe('a candidate', () => {
  it('is unusable when only this reader refuses it, and nothing when it is gone', async () => {
    const tiers = tiersOver('exact-l1');
    await tiers.store(answer('one', clock.wallMs() - 1_000), FAR);
    expect(await tiers.getCandidate('k', { ...TERMS, maxAgeMs: 10 }, FAR)).toBe('unusable');
    const found = await tiers.getCandidate('k', TERMS, FAR);
    expect(found === 'unusable' ? undefined : textOf(found?.entry)).toBe('one');
    expect(await tiers.getCandidate('other', TERMS, FAR)).toBeUndefined();
    clock.advance(61_000);
    expect(await tiers.getCandidate('k', TERMS, FAR)).toBeUndefined();
  });

  it('is read from the grid once', async () => {
    let reads = 0;
    const get = grid.get.bind(grid);
    grid.get = (...args) => {
      reads += 1;
      return get(...args);
    };
    const tiers = tiersOver('exact-l2');
    await tiers.getCandidate('absent', TERMS, FAR);
    expect(reads).toBe(1);
  });
});

describe('contents', () => {
  it('tell whether what was absent may be there now', async () => {
    const tiers = tiersOver('exact-l1');
    const before = tiers.contents;
    expect(before).toBeDefined();
    await tiers.get('k', TERMS, FAR);
    expect(tiers.contents).toBe(before);
    await tiers.store(answer('one', 1), FAR);
    expect(tiers.contents).not.toBe(before);
  });

  it('are unknown above a grid that others write to', () => {
    expect(tiersOver('exact-l2').contents).toBeUndefined();
  });
});

describe('L1 above a remote grid', () => {
  it('takes in what is stored', async () => {
    const tiers = tiersOver('exact-l2');
    await tiers.store(answer('one', 1), FAR);
    expect(tiers.getNear('k', TERMS)?.tier).toBe('exact-l1');
  });
});
