import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { MemoryGrid } from '../../grid/memory/memory-grid.ts';
import { SeededRandom } from '../../simulation/kernel/seeded-random.ts';
import { encodeEntry } from '../cache/entry-codec.ts';
import { entryName, tagName } from '../cache/ledger-names.ts';
import { Ledger } from '../cache/ledger.ts';
import { Tiers, type ReadTerms } from '../cache/tiers.ts';
import { hasCode } from '../errors.ts';
import type { Entry } from '../ports/entry.ts';
import type { ExportRequest, ImportCounts, TransferItem } from '../ports/transfer.ts';
import { CountingTelemetry } from '../semantic/testing/doubles.ts';
import { EntryTransfer } from './entry-transfer.ts';

const FAR = { deadlineAtMs: 1e12 };
const TERMS: ReadTerms = { strict: false, maxAgeMs: Infinity, graceAllowed: true };
const NOTHING: ImportCounts = {
  imported: 0,
  expired: 0,
  invalid: 0,
  kept: 0,
  foreign: 0,
  tooLarge: 0,
  unreadable: 0,
};
const KEYS = ['a', 'b', 'c'].map((letter) => letter.repeat(64)) as [string, string, string];
const [A, B, C] = KEYS;

/** A node's parts above a grid of its own, or that of another. */
class Site {
  readonly grid: MemoryGrid;
  readonly ledger: Ledger;
  readonly tiers: Tiers;
  readonly transfer: EntryTransfer;

  constructor(clock: ManualClock, name: string, shared?: MemoryGrid) {
    const options = { roles: { entries: { bytesMax: 1e6 }, vectors: { bytesMax: 1e6 } }, policy: 'lru' } as const;
    this.grid = shared ?? new MemoryGrid({ clock }, options);
    this.ledger = new Ledger(
      { grid: this.grid, clock, random: new SeededRandom(name), telemetry: new CountingTelemetry() },
      { stalenessBoundMs: 2_000, unconfirmedMs: 60_000, confirmIntervalMs: 500, callTimeoutMs: 200, marksMax: 8 },
    );
    const deps = { grid: this.grid, ledger: this.ledger, clock };
    this.tiers = new Tiers({ ...deps, nearCache: undefined }, { gridTier: 'exact-l2' });
    this.transfer = new EntryTransfer({ ...deps, tiers: this.tiers }, { entryBytesMax: 100, timeoutMs: 1_000 });
  }

  async store(key: string, text: string, changes: Partial<Entry> = {}): Promise<void> {
    await this.ledger.confirm(FAR);
    await this.tiers.store(this.entry(key, text, changes), FAR);
  }

  entry(key: string, text: string, changes: Partial<Entry> = {}): Entry {
    return {
      key,
      operation: 'chat.completions',
      kind: 'body',
      contentType: 'application/json',
      payload: new TextEncoder().encode(text),
      usageEventStart: 0,
      usageEventEnd: 0,
      usage: { promptTokens: 1, completionTokens: 1 },
      cost: 0.25,
      calledAtMs: clock.wallMs(),
      expiresAtMs: clock.wallMs() + 60_000,
      graceMs: 30_000,
      position: this.ledger.position!,
      tenant: 't',
      namespace: 'default',
      tags: ['prices'],
      model: 'm',
      modelVersion: 'u#1',
      scope: 'scope',
      askedText: 'what is asked',
      provenance: { node: 'n', upstream: 'u', systemFingerprint: '', modelMs: 1, firstTokenMs: 1 },
      ...changes,
    };
  }

  async served(key: string): Promise<string | undefined> {
    await this.ledger.confirm(FAR);
    const found = await this.tiers.get(key, TERMS, FAR);
    return found === undefined ? undefined : new TextDecoder().decode(found.entry.payload);
  }

  async exported(request: Partial<ExportRequest> = {}): Promise<TransferItem[]> {
    const items: TransferItem[] = [];
    let after: string | undefined;
    do {
      const page = await this.transfer.exportPage({ limit: 2, ...request, ...(after !== undefined && { after }) });
      items.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    return items;
  }

  async adopt(items: readonly TransferItem[]): Promise<ImportCounts> {
    const { incarnation } = await this.transfer.terms();
    return await this.transfer.importItems({ items, adoptInto: incarnation });
  }
}

let clock: ManualClock;
let home: Site;
let away: Site;
beforeEach(async () => {
  clock = new ManualClock();
  home = new Site(clock, 'home');
  away = new Site(clock, 'away');
  for (const site of [home, away]) await site.ledger.confirm(FAR);
});

describe('an export', () => {
  it('has every entry that may be served once, page by page', async () => {
    for (const key of KEYS) await home.store(key, key[0]!);
    const items = await home.exported();
    expect(items.map(({ key }) => key).sort()).toEqual(KEYS);
    const page = await home.transfer.exportPage({ limit: 2 });
    expect(page.scanned).toBe(2);
    expect(page.scannedBytes).toBe(page.items.reduce((sum, { value }) => sum + value.byteLength, 0));
  });

  it('leaves out what was invalidated or has expired, and says what is stale', async () => {
    await home.store(A, 'marked');
    await home.ledger.append(entryName(A), 'hard', FAR);
    await home.store(B, 'soft');
    await home.ledger.append(entryName(B), 'soft', FAR);
    await home.store(C, 'short', { expiresAtMs: clock.wallMs() + 10 });
    clock.advance(11);
    expect(await home.exported()).toMatchObject([{ key: B, isStale: true }]);
  });

  it('obeys an invalidation that another node has just made', async () => {
    const other = new Site(clock, 'other', home.grid);
    await home.store(A, 'a');
    await other.ledger.append(tagName('t', 'prices'), 'hard', FAR);
    expect(await home.exported()).toEqual([]);
  });

  it('keeps to the tenant and the namespace that it is asked for', async () => {
    await home.store(A, 'a', { tenant: 'x' });
    await home.store(B, 'b', { namespace: 'y' });
    await home.store(C, 'c', { tenant: 'x', namespace: 'y' });
    expect((await home.exported({ tenant: 'x' })).map(({ key }) => key).sort()).toEqual([A, C]);
    expect((await home.exported({ namespace: 'y' })).map(({ key }) => key).sort()).toEqual([B, C]);
    expect((await home.exported({ tenant: 'x', namespace: 'y' })).map(({ key }) => key)).toEqual([C]);
  });
});

describe('an import into the same ledger', () => {
  it('brings back what was lost, as it was', async () => {
    await home.store(A, 'a');
    const items = await home.exported();
    await home.tiers.remove(A, FAR);
    expect(await home.transfer.importItems({ items })).toEqual({ ...NOTHING, imported: 1 });
    expect((await home.tiers.get(A, TERMS, FAR))?.entry).toMatchObject({
      askedText: 'what is asked',
      cost: 0.25,
      tags: ['prices'],
      position: items[0] === undefined ? undefined : (await home.tiers.peek(A, FAR))?.position,
    });
    expect(await home.transfer.importItems({ items })).toEqual({ ...NOTHING, imported: 1 });
  });

  it('leaves out what was invalidated since, and a later mark still counts', async () => {
    await home.store(A, 'a');
    await home.store(B, 'b');
    const items = await home.exported();
    await home.ledger.append(entryName(A), 'hard', FAR);
    expect(await home.transfer.importItems({ items })).toEqual({ ...NOTHING, imported: 1, invalid: 1 });
    expect(await home.served(A)).toBeUndefined();
    expect(await home.served(B)).toBe('b');
    await home.ledger.append(tagName('t', 'prices'), 'hard', FAR);
    expect(await home.served(B)).toBeUndefined();
  });

  it('keeps the newer answer that is there', async () => {
    await home.store(A, 'old');
    const items = await home.exported();
    clock.advance(5);
    await home.store(A, 'new');
    expect(await home.transfer.importItems({ items })).toEqual({ ...NOTHING, kept: 1 });
    expect(await home.served(A)).toBe('new');
  });

  it('leaves out what has expired, whatever its grace', async () => {
    await home.store(A, 'a');
    const items = await home.exported();
    clock.advance(60_001);
    expect(await home.transfer.importItems({ items })).toEqual({ ...NOTHING, expired: 1 });
  });

  it('refuses a position that the ledger has not reached', async () => {
    const position = { ...home.ledger.position!, sequence: 7, nonce: 9 };
    const value = encodeEntry(home.entry(A, 'from nowhere', { position }));
    const items = [{ key: A, value, isStale: false }];
    expect(await home.transfer.importItems({ items })).toEqual({ ...NOTHING, invalid: 1 });
  });

  it('counts what it cannot read and what is too large', async () => {
    const value = encodeEntry(home.entry(A, 'a'));
    const items = [
      { key: A, value: value.subarray(0, value.length - 1), isStale: false },
      { key: 'no key', value, isStale: false },
      { key: B, value: encodeEntry(home.entry(B, 'x'.repeat(101))), isStale: false },
    ];
    expect(await home.transfer.importItems({ items })).toEqual({ ...NOTHING, unreadable: 2, tooLarge: 1 });
  });
});

describe('an import into another ledger', () => {
  it('takes nothing unless it adopts', async () => {
    await home.store(A, 'a');
    const items = await home.exported();
    expect(await away.transfer.importItems({ items })).toEqual({ ...NOTHING, foreign: 1 });
    expect(await away.served(A)).toBeUndefined();
    expect(await away.adopt(items)).toEqual({ ...NOTHING, imported: 1 });
    expect(await away.served(A)).toBe('a');
  });

  it('holds every mark that its ledger remembers against what it adopts', async () => {
    await home.store(A, 'a');
    await home.store(B, 'b', { tags: [] });
    const items = await home.exported();
    await away.ledger.append(tagName('t', 'prices'), 'hard', FAR);
    expect(await away.adopt(items)).toEqual({ ...NOTHING, imported: 1, invalid: 1 });
    expect(await away.served(A)).toBeUndefined();
    expect(await away.served(B)).toBe('b');
    await away.ledger.append(entryName(B), 'hard', FAR);
    expect(await away.served(B)).toBeUndefined();
    expect(await away.adopt(items)).toEqual({ ...NOTHING, invalid: 2 });
  });

  it('adopts nothing once its ledger has forgotten marks', async () => {
    await home.store(A, 'a');
    const items = await home.exported();
    for (let at = 0; at < 12; at += 1) await away.ledger.append(`t/tag/${at}`, 'hard', FAR);
    expect(await away.adopt(items)).toEqual({ ...NOTHING, invalid: 1 });
  });

  it('adopts nothing that was stale where it came from', async () => {
    await home.store(A, 'a');
    await home.ledger.append(entryName(A), 'soft', FAR);
    expect(await away.adopt(await home.exported())).toEqual({ ...NOTHING, invalid: 1 });
  });

  it('prefers what was stored there', async () => {
    await home.store(A, 'home');
    clock.advance(5);
    await away.store(A, 'away');
    expect(await away.adopt(await home.exported())).toEqual({ ...NOTHING, kept: 1 });
    expect(await away.served(A)).toBe('away');
  });

  it('breaks off when its ledger began anew since', async () => {
    await home.store(A, 'a');
    const items = await home.exported();
    const failure: unknown = await away.transfer
      .importItems({ items, adoptInto: { counter: 1, random: '0'.repeat(16) } })
      .catch((error: unknown) => error);
    expect(hasCode(failure, 'invalid_request')).toBe(true);
    expect(await away.served(A)).toBeUndefined();
  });
});

describe('whatever the order of things', () => {
  const step = fc.record({
    act: fc.constantFrom('store', 'mark', 'export', 'import'),
    site: fc.constantFrom('home', 'twin', 'away'),
    key: fc.constantFrom(...KEYS),
  });

  it('nothing is served that was invalidated after it was stored', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        clock = new ManualClock();
        const first = new Site(clock, 'home');
        const sites = { home: first, twin: new Site(clock, 'twin', first.grid), away: new Site(clock, 'away') };
        for (const site of Object.values(sites)) await site.ledger.confirm(FAR);
        /** When a key was last marked on a grid. */
        const marked = new Map<string, number>();
        let file: TransferItem[] = [];
        for (const [at, { act, site: name, key }] of steps.entries()) {
          const site = sites[name];
          clock.advance(1);
          if (act === 'store') await site.store(key, `${gridOf(name)}/${at}`);
          else if (act === 'export') file = await site.exported();
          else if (act === 'import') await site.adopt(file);
          else {
            await site.ledger.append(entryName(key), 'hard', FAR);
            marked.set(`${gridOf(name)}/${key}`, at);
          }
          for (const served of KEYS) {
            const text = await site.served(served);
            if (text === undefined) continue;
            const [grid, storedAt] = text.split('/');
            const markedAt = marked.get(`${gridOf(name)}/${served}`) ?? -1;
            // A mark here counts against what was stored elsewhere, whenever that was.
            if (grid === gridOf(name)) expect(Number(storedAt)).toBeGreaterThan(markedAt);
            else expect(markedAt).toBe(-1);
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});

/** The twin shares the grid of home. */
function gridOf(site: string): string {
  return site === 'away' ? 'away' : 'home';
}
