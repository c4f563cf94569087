import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryGrid } from '../../grid/memory/memory-grid.ts';
import { SeededRandom } from '../../simulation/kernel/seeded-random.ts';
import { RepriseError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Grid, Versioned } from '../ports/grid.ts';
import type { InvalidationKind, LedgerPosition } from '../ports/ledger.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { decodeHead } from './ledger-codec.ts';
import { modelName } from './ledger-names.ts';
import { Ledger } from './ledger.ts';

const NODES = 3;
const FAR: CallOptions = { deadlineAtMs: 1e12 };
const NO_CHILD = { add: () => undefined, set: () => undefined, observe: () => undefined };
const SILENT: Telemetry = {
  counter: () => NO_CHILD,
  gauge: () => NO_CHILD,
  histogram: () => NO_CHILD,
  log: () => undefined,
};

type Fault = 'none' | 'before' | 'after';
type NodeStep =
  | { readonly kind: 'append'; readonly model: string; readonly how: InvalidationKind }
  | { readonly kind: 'store'; readonly model: string }
  | { readonly kind: 'check' };
type Disaster = 'lose head' | 'keep head' | 'restore head' | 'lose marks' | 'pause';

interface StoredEntry {
  readonly model: string;
  readonly position: LedgerPosition;
  readonly at: number;
}

interface Appended {
  readonly model: string;
  readonly how: InvalidationKind;
  readonly begunAt: number;
}

const model = fc.constantFrom('a', 'b', 'c');
const how = fc.constantFrom<InvalidationKind>('hard', 'soft');
const nodeStep: fc.Arbitrary<NodeStep> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('append' as const), model, how }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('store' as const), model }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('check' as const) }) },
);
const scripts = fc.tuple(
  ...Array.from({ length: 2 * NODES }, () => fc.array(nodeStep, { maxLength: 5 })),
) as fc.Arbitrary<NodeStep[][]>;
const fault = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Fault>('none') },
  { weight: 1, arbitrary: fc.constant<Fault>('before') },
  { weight: 1, arbitrary: fc.constant<Fault>('after') },
);
const faults = fc.array(fault, { maxLength: 60 });

/** Several ledgers on one grid whose every call, before and after its effect, waits for fast-check's scheduler. */
class Fleet {
  readonly ledgers: Ledger[];
  readonly grid: MemoryGrid;
  readonly #scheduler: fc.Scheduler;
  readonly #faults: Fault[];
  readonly #restored: boolean;
  readonly #entries: StoredEntry[] = [];
  readonly #appended: Appended[] = [];
  readonly #written = new Set<string>();
  #kept: Versioned | undefined;
  #stamp = 0;
  #disasters = 0;
  #nowMs = 0;
  checks = 0;

  constructor(
    scheduler: fc.Scheduler,
    options: { faults: readonly Fault[]; recordsMax: number; marksMax: number; restored: boolean },
  ) {
    this.#scheduler = scheduler;
    this.#faults = [...options.faults];
    this.#restored = options.restored;
    const clock = this.#clock();
    this.grid = new MemoryGrid(
      { clock },
      { roles: { entries: { bytesMax: 1_000 }, vectors: { bytesMax: 1_000 } }, policy: 'lru' },
    );
    const { recordsMax, marksMax } = options;
    this.ledgers = Array.from({ length: NODES }, (_, index) => {
      const random = new SeededRandom('interleavings').fork(String(index));
      return new Ledger(
        { grid: this.#faultyGrid(), clock, random, telemetry: SILENT },
        { stalenessBoundMs: 1, unconfirmedMs: 1, confirmIntervalMs: 1, callTimeoutMs: 1e6, recordsMax, marksMax },
      );
    });
  }

  async run(script: readonly (readonly NodeStep[])[], disasters: readonly Disaster[]): Promise<void> {
    const parts = script.map((steps, index) => this.#runNode(this.#ledgerAt(index), steps));
    await this.#scheduler.waitFor(Promise.all([...parts, this.#runDisasters(disasters)]));
    this.#faults.length = 0;
    await this.#scheduler.waitFor(this.#converge());
  }

  /** Two scripts run on each ledger at once. */
  #ledgerAt(index: number): Ledger {
    const ledger = this.ledgers[index % NODES];
    if (ledger === undefined) throw new Error('the fleet has no nodes');
    return ledger;
  }

  async #runNode(ledger: Ledger, steps: readonly NodeStep[]): Promise<void> {
    for (const step of steps) {
      await this.#turn();
      if (step.kind === 'append') await this.#append(ledger, step.model, step.how);
      else if (step.kind === 'check') await this.#check(ledger);
      else if (ledger.position !== undefined) {
        this.#entries.push({ model: step.model, position: ledger.position, at: this.#stamp++ });
      }
    }
  }

  async #runDisasters(disasters: readonly Disaster[]): Promise<void> {
    for (const disaster of disasters) {
      await this.#turn();
      this.#disasters++;
      if (disaster === 'keep head') this.#kept = await this.grid.get('ledger', 'head', FAR);
      if (disaster === 'lose head') await this.grid.remove('ledger', 'head', FAR);
      if (disaster === 'restore head' && this.#kept !== undefined) {
        await this.grid.set('ledger', { key: 'head', value: this.#kept.value }, FAR);
      }
      if (disaster === 'lose marks') {
        for (const name of ['a', 'b', 'c']) await this.grid.remove('ledger', `mark/${modelName(name)}`, FAR);
      }
    }
  }

  async #append(ledger: Ledger, name: string, kind: InvalidationKind): Promise<void> {
    const begunAt = this.#stamp++;
    const isDone = await succeeds(() => ledger.append(modelName(name), kind, FAR));
    if (!isDone) return;
    const appended = { model: name, how: kind, begunAt };
    this.#appended.push(appended);
    // The node itself obeys before anything else happens.
    this.#expectObeyed(ledger, [appended]);
  }

  /** What was invalidated before the check began is never found valid by a node that confirmed since. */
  async #check(ledger: Ledger): Promise<void> {
    const marks = [...this.#appended];
    const disasters = this.#disasters;
    const isConfirmed = await succeeds(async () => {
      // A head from another time is only seen by those who knew more: all of them must have looked, and it must have stayed.
      if (this.#restored) for (const other of this.ledgers) await other.confirm(FAR);
      await ledger.confirm(FAR);
    });
    if (isConfirmed && (!this.#restored || disasters === this.#disasters)) this.#expectObeyed(ledger, marks);
  }

  #expectObeyed(ledger: Ledger, marks: readonly Appended[]): void {
    for (const entry of this.#entries) {
      for (const mark of marks) {
        if (mark.model !== entry.model || mark.begunAt <= entry.at) continue;
        const judged = {
          tenant: 't',
          namespace: 'n',
          tags: [],
          key: 'k',
          model: entry.model,
          position: entry.position,
        };
        this.checks++;
        expect(ledger.validity(judged)).not.toBe('valid');
        if (mark.how === 'hard') expect(ledger.validity(judged)).toBe('invalid');
        expect(ledger.markedSince(judged)).toBe(true);
      }
    }
  }

  /** Without faults all nodes come to agree with the grid, and every successful append counts everywhere. */
  async #converge(): Promise<void> {
    for (const round of [1, 2]) {
      for (const ledger of this.ledgers) await ledger.confirm(FAR);
      if (round === 2) for (const ledger of this.ledgers) this.#expectObeyed(ledger, this.#appended);
    }
    const head = await this.grid.get('ledger', 'head', FAR);
    const decoded = head === undefined ? 'malformed' : decodeHead(head.value);
    if (typeof decoded === 'string') throw new Error('the fleet left no readable head');
    for (const ledger of this.ledgers) {
      expect(ledger.position).toMatchObject({ incarnation: decoded.incarnation, sequence: decoded.sequence });
    }
  }

  #turn(): Promise<void> {
    return this.#scheduler.schedule(Promise.resolve());
  }

  #clock(): Clock {
    return {
      monotonicMs: () => this.#nowMs,
      wallMs: () => this.#nowMs,
      sleep: async (ms) => {
        await this.#turn();
        this.#nowMs += ms;
      },
      setTimer: () => ({ cancel: () => undefined }),
    };
  }

  #faultyGrid(): Grid {
    return new Proxy(this.grid, {
      get: (target, property) => {
        const call = (Reflect.get(target, property) as (...values: unknown[]) => Promise<unknown>).bind(target);
        return async (...values: unknown[]): Promise<unknown> => {
          const drawn = this.#faults.shift() ?? 'none';
          await this.#turn();
          if (drawn === 'before') throw new RepriseError('grid_unavailable', 'fault');
          const result = await call(...values);
          if (property === 'replaceIfSame' && result !== undefined) this.#observeWrite(result as Versioned);
          await this.#turn();
          if (drawn === 'after') throw new RepriseError('grid_timeout', 'fault');
          return result;
        };
      },
    });
  }

  /** A sequence that was given out is never given out again with the same nonce. */
  #observeWrite(written: Versioned): void {
    const head = decodeHead(written.value);
    if (typeof head === 'string') return;
    const last = head.records[head.records.length - 1];
    if (last === undefined) return;
    const id = `${head.incarnation.random} ${last.sequence} ${last.nonce} ${head.floor}`;
    expect(this.#written.has(id)).toBe(false);
    this.#written.add(id);
  }
}

async function succeeds(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(RepriseError);
    return false;
  }
}

describe('several ledgers on one grid', () => {
  const losses = fc.array(fc.constantFrom<Disaster>('lose head', 'pause', 'pause'), { maxLength: 6 });
  const forks = fc.array(fc.constantFrom<Disaster>('lose head', 'keep head', 'restore head', 'lose marks', 'pause'), {
    maxLength: 10,
  });

  it('never serve what was invalidated, under any order of calls, faults and lost heads', async () => {
    const limits = fc.record({ recordsMax: fc.integer({ min: 2, max: 5 }), marksMax: fc.integer({ min: 2, max: 4 }) });
    let checks = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        scripts,
        faults,
        losses,
        limits,
        async (scheduler, script, drawn, lost, limit) => {
          const fleet = new Fleet(scheduler, { ...limit, faults: drawn, restored: false });
          await fleet.run(script, lost);
          checks += fleet.checks;
        },
      ),
      { numRuns: 150 },
    );
    expect(checks).toBeGreaterThan(0);
  });

  it('never serve what was invalidated once all have confirmed after a fork', async () => {
    let checks = 0;
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), scripts, faults, forks, async (scheduler, script, drawn, disasters) => {
        const fleet = new Fleet(scheduler, { faults: drawn, restored: true, recordsMax: 256, marksMax: 1_000 });
        await fleet.run(script, disasters);
        checks += fleet.checks;
      }),
      { numRuns: 150 },
    );
    expect(checks).toBeGreaterThan(0);
  });
});
