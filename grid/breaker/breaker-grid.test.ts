import { beforeEach, describe, expect, it } from 'vitest';
import { type ErrorCode, RepriseError } from '../../runtime/errors.ts';
import type { CallOptions } from '../../runtime/ports/call-options.ts';
import type { Timer } from '../../runtime/ports/clock.ts';
import type { Grid, GridItem, GridRole, Versioned } from '../../runtime/ports/grid.ts';
import type { Random } from '../../runtime/ports/random.ts';
import type { Telemetry } from '../../runtime/ports/telemetry.ts';
import { gridContract } from '../conformance/grid-contract.ts';
import { ManualClock } from '../conformance/manual-clock.ts';
import { MemoryGrid } from '../memory/memory-grid.ts';
import { BreakerGrid, type BreakerGridOptions } from './breaker-grid.ts';

type Health = 'well' | 'hanging' | 'failing' | 'throwing' | 'broken';

/** Counts by metric and labels; draws are all 0. */
class Ports implements Telemetry {
  readonly counts = new Map<string, number>();
  readonly random: Random = { uint32: () => 0, float: () => 0, fork: () => this.random };

  counter(...name: readonly string[]): { add(amount?: number): void } {
    return { add: (amount = 1) => this.#add(name.join(' '), amount) };
  }

  gauge(): { set(): void } {
    return { set: () => undefined };
  }

  histogram(...name: readonly string[]): { observe(value: number): void } {
    return { observe: () => this.#add(name.join(' '), 1) };
  }

  log(): void {
    // Nothing to assert on.
  }

  #add(name: string, amount: number): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + amount);
  }
}

/** A memory grid of several members, each of which may fall ill. A key's owner is what stands before its colon. */
class SickGrid extends MemoryGrid {
  readonly health_ = new Map<string, Health>();
  /** Calls that reached a member. */
  readonly calls: string[] = [];
  /** Settle the calls that hang, late. */
  readonly late: (() => void)[] = [];

  override ownerOf(_role: GridRole, key: string): string {
    return key.split(':')[0] as string;
  }

  override get(role: GridRole, key: string, options: CallOptions): Promise<Versioned | undefined> {
    return this.#answer(this.ownerOf(role, key), () => super.get(role, key, options));
  }

  override getAll(role: GridRole, keys: readonly string[], options: CallOptions): Promise<Map<string, Versioned>> {
    return this.#answer(this.ownerOf(role, keys[0] ?? ''), () => super.getAll(role, keys, options));
  }

  override setAll(role: GridRole, items: readonly GridItem[], options: CallOptions): Promise<void> {
    return this.#answer(this.ownerOf(role, items[0]?.key ?? ''), () => super.setAll(role, items, options));
  }

  override size(role: GridRole, options: CallOptions): Promise<number> {
    return this.#answer('any', () => super.size(role, options));
  }

  #answer<T>(owner: string, answer: () => Promise<T>): Promise<T> {
    this.calls.push(owner);
    const health = this.health_.get(owner) ?? 'well';
    if (health === 'failing') return Promise.reject(new RepriseError('grid_unavailable', 'gone'));
    if (health === 'broken') return Promise.reject(new TypeError('a bug'));
    if (health === 'throwing') throw new RepriseError('grid_unavailable', 'gone');
    if (health === 'hanging')
      return new Promise((_resolve, reject) => this.late.push(() => reject(new Error('too late'))));
    return answer();
  }
}

/** As in a process that stands still when timers are due. */
class LateClock extends ManualClock {
  readonly #lateMs: number;

  constructor(lateMs: number) {
    super();
    this.#lateMs = lateMs;
  }

  override setTimer(delayMs: number, callback: () => void): Timer {
    return super.setTimer(delayMs + this.#lateMs, callback);
  }
}

const OPTIONS: Partial<BreakerGridOptions> = { failuresMax: 3, windowMs: 5_000, coolDownMs: 1_000, callMsMax: 2_000 };

let clock: ManualClock;
let ports: Ports;
let inner: SickGrid;
let grid: BreakerGrid;

beforeEach(() => {
  clock = new ManualClock();
  ports = new Ports();
  const roles = { entries: { bytesMax: 1_000_000 }, vectors: { bytesMax: 1_000_000 } };
  inner = new SickGrid({ clock }, { roles, policy: 'lru' });
  grid = new BreakerGrid({ grid: inner, clock, random: ports.random, telemetry: ports }, OPTIONS);
});

function within(ms: number, signal?: AbortSignal): CallOptions {
  const deadlineAtMs = clock.monotonicMs() + ms;
  return signal === undefined ? { deadlineAtMs } : { deadlineAtMs, signal };
}

async function codeOf(call: Promise<unknown>): Promise<ErrorCode | 'none' | 'bug'> {
  try {
    await call;
    return 'none';
  } catch (error) {
    return error instanceof RepriseError ? error.code : 'bug';
  }
}

/** Asks a member for a key of its own, and lets the deadline pass when it hangs. */
async function ask(owner: string, ms = 50): Promise<ErrorCode | 'none' | 'bug'> {
  const code = codeOf(grid.get('entries', `${owner}:k`, within(ms)));
  await clock.settle();
  if (grid.pendingCalls > 0) await clock.advanceAsync(ms);
  return code;
}

async function open(owner: string): Promise<void> {
  inner.health_.set(owner, 'failing');
  for (let at = 0; at < 3; at += 1) await ask(owner);
}

gridContract(
  'BreakerGrid over MemoryGrid',
  () => {
    const bytesMax = 256 * 1024;
    const memory = new MemoryGrid(
      { clock },
      { roles: { entries: { bytesMax }, vectors: { bytesMax } }, policy: 'lru' },
    );
    const over = new BreakerGrid({ grid: memory, clock, random: ports.random, telemetry: ports });
    return Promise.resolve({
      grid: over,
      monotonicMs: () => clock.monotonicMs(),
      advance: (ms: number) => clock.advanceAsync(ms),
      settle: () => clock.settle(),
      close: () => over.close(),
    });
  },
  { ttlResolutionMs: 0 },
);

describe('BreakerGrid deadlines', () => {
  it('end a call that the grid never answers, and drop the late answer', async () => {
    inner.health_.set('a', 'hanging');
    const code = codeOf(grid.get('entries', 'a:k', within(50)));
    await clock.advanceAsync(49);
    expect(grid.pendingCalls).toBe(1);
    await clock.advanceAsync(1);
    expect(await code).toBe('grid_timeout');
    expect(grid.pendingCalls).toBe(0);
    for (const settle of inner.late) settle();
    await clock.settle();
    expect(ports.counts.get('reprise_grid_errors_total grid_timeout')).toBe(1);
    expect(ports.counts.get('reprise_grid_errors_total internal')).toBeUndefined();
  });

  it('end each of several calls at its own time, by one timer', async () => {
    inner.health_.set('a', 'hanging');
    const ended: number[] = [];
    const start = clock.monotonicMs();
    for (const ms of [300, 100, 200, 100]) {
      void codeOf(grid.get('entries', 'a:k', within(ms))).then(() => ended.push(clock.monotonicMs() - start));
    }
    await clock.settle();
    expect(clock.pendingTimers).toBe(1);
    await clock.advanceAsync(400);
    expect(ended).toEqual([100, 100, 200, 300]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('end a call without a deadline of its own', async () => {
    inner.health_.set('a', 'hanging');
    const code = codeOf(grid.get('entries', 'a:k', { deadlineAtMs: Infinity }));
    await clock.advanceAsync(2_000);
    expect(await code).toBe('grid_timeout');
  });

  it('cost no timer and leave no listener when the grid answers at once', async () => {
    const { signal } = new AbortController();
    signal.addEventListener = () => expect.unreachable();
    expect(await codeOf(grid.get('entries', 'a:k', within(50, signal)))).toBe('none');
    await clock.settle();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('BreakerGrid signals', () => {
  it('end a call that hangs, and say nothing against its member', async () => {
    inner.health_.set('a', 'hanging');
    for (let at = 0; at < 5; at += 1) {
      const controller = new AbortController();
      const code = codeOf(grid.get('entries', 'a:k', within(50, controller.signal)));
      await clock.settle();
      controller.abort();
      expect(await code).toBe('cancelled');
    }
    expect(inner.calls).toHaveLength(5);
    expect(grid.health().state).toBe('up');
  });

  it('are heard even when they are aborted in the turn that made the call', async () => {
    inner.health_.set('a', 'hanging');
    const controller = new AbortController();
    const code = codeOf(grid.get('entries', 'a:k', within(50, controller.signal)));
    controller.abort();
    expect(await code).toBe('cancelled');
  });
});

describe('BreakerGrid breakers', () => {
  it('of the ledger are apart: a member that refuses it goes on serving the rest', async () => {
    inner.health_.set('a', 'failing');
    for (let at = 0; at < 4; at += 1) await codeOf(grid.get('ledger', 'a:head', within(100)));
    expect(grid.health().state).toBe('degraded');
    inner.health_.set('a', 'well');
    expect(await ask('a')).toBe('none');
    expect(await codeOf(grid.get('ledger', 'a:head', within(100)))).toBe('grid_unavailable');
  });

  it('of a member that is gone, and asked no more, say nothing of the health of the grid', async () => {
    await open('gone');
    expect(grid.health().state).toBe('degraded');
    for (let at = 0; at < 20; at += 1) {
      await clock.advanceAsync(1_000);
      expect(await ask('well')).toBe('none');
    }
    expect(grid.health().state).toBe('up');
  });

  it.each(['failing', 'throwing', 'hanging'] as const)(
    'fail fast once a member was %s often enough',
    async (health) => {
      inner.health_.set('a', health);
      for (let at = 0; at < 3; at += 1) expect(await ask('a')).not.toBe('none');
      expect(await ask('a')).toBe('grid_unavailable');
      expect(inner.calls).toHaveLength(3);
      expect(ports.counts.get('reprise_breaker_transitions_total open')).toBe(1);
      expect(grid.health()).toMatchObject({ state: 'degraded', detail: 'breaker open for a' });
    },
  );

  it('leave other members alone', async () => {
    await open('a');
    expect(await ask('b')).toBe('none');
  });

  it('forget failures after a success, and those that lie too far apart', async () => {
    for (const health of ['failing', 'failing', 'well', 'failing', 'failing'] as const) {
      inner.health_.set('a', health);
      await ask('a');
    }
    clock.advance(5_001);
    inner.health_.set('a', 'failing');
    await ask('a');
    expect(grid.health().state).toBe('up');
  });

  it.each([
    [30, undefined],
    [5, 1],
  ])('timers %i ms late: openings over timeouts of 50 ms: %s', async (lateMs, openings) => {
    clock = new LateClock(lateMs);
    grid = new BreakerGrid({ grid: inner, clock, random: ports.random, telemetry: ports }, OPTIONS);
    inner.health_.set('a', 'hanging');
    for (let at = 0; at < OPTIONS.failuresMax!; at += 1) {
      const code = codeOf(grid.get('entries', 'a:k', within(50)));
      await clock.advanceAsync(50 + lateMs);
      expect(await code).toBe('grid_timeout');
    }
    expect(ports.counts.get('reprise_breaker_transitions_total open')).toBe(openings);
  });

  it('stay closed over timeouts of callers that had no time left', async () => {
    inner.health_.set('a', 'hanging');
    for (let at = 0; at < 5; at += 1) expect(await ask('a', 1)).toBe('grid_timeout');
    expect(inner.calls).toHaveLength(5);
  });

  it('stay closed over bugs, which pass through', async () => {
    inner.health_.set('a', 'broken');
    for (let at = 0; at < 5; at += 1) expect(await ask('a')).toBe('bug');
    expect(inner.calls).toHaveLength(5);
    expect(ports.counts.get('reprise_grid_errors_total internal')).toBe(5);
  });

  it('let a single probe through after the cool-down, and close when it succeeds', async () => {
    await open('a');
    clock.advance(999);
    expect(await ask('a')).toBe('grid_unavailable');
    expect(inner.calls).toHaveLength(3);
    clock.advance(1);
    inner.health_.set('a', 'hanging');
    const probe = codeOf(grid.get('entries', 'a:k', within(50)));
    expect(await codeOf(grid.get('entries', 'a:k', within(50)))).toBe('grid_unavailable');
    expect(inner.calls).toHaveLength(4);
    await clock.advanceAsync(50);
    expect(await probe).toBe('grid_timeout');
    clock.advance(1_000);
    inner.health_.set('a', 'well');
    expect([await ask('a'), await ask('a')]).toEqual(['none', 'none']);
    expect(grid.health().state).toBe('up');
    expect(ports.counts.get('reprise_breaker_transitions_total half-open')).toBe(2);
    expect(ports.counts.get('reprise_breaker_transitions_total closed')).toBe(1);
  });

  it('let another probe through when one was cancelled', async () => {
    await open('a');
    clock.advance(1_000);
    inner.health_.set('a', 'hanging');
    const controller = new AbortController();
    const probe = codeOf(grid.get('entries', 'a:k', within(50, controller.signal)));
    controller.abort();
    expect(await probe).toBe('cancelled');
    inner.health_.set('a', 'well');
    expect(await ask('a')).toBe('none');
  });

  it('do not heed the late outcome of a call from before they opened', async () => {
    inner.health_.set('a', 'hanging');
    const early = codeOf(grid.get('entries', 'a:k', within(200)));
    await open('a');
    clock.advance(1_000);
    expect(await early).toBe('grid_timeout');
    inner.health_.set('a', 'well');
    expect(await ask('a')).toBe('none');
  });
});

describe('BreakerGrid batches', () => {
  it('are split by owner and put together in the order of the keys', async () => {
    const items = ['a:1', 'b:1', 'a:2'].map((key) => ({ key, value: new Uint8Array([key.length]) }));
    await grid.setAll('entries', items, within(50));
    const found = await grid.getAll('entries', ['b:1', 'a:2', 'x:1', 'a:1'], within(50));
    expect([...found.keys()]).toEqual(['b:1', 'a:2', 'a:1']);
    expect(inner.calls).toEqual(['a', 'b', 'b', 'a', 'x']);
  });

  it('fail when one owner fails, and open the breaker of that owner only', async () => {
    inner.health_.set('a', 'failing');
    for (let at = 0; at < 4; at += 1)
      expect(await codeOf(grid.getAll('entries', ['b:1', 'a:1'], within(50)))).toBe('grid_unavailable');
    expect(grid.health().detail).toBe('breaker open for a');
    expect(await ask('b')).toBe('none');
  });

  it('over all members do not close the door of any', async () => {
    inner.health_.set('any', 'failing');
    for (let at = 0; at < 4; at += 1) await codeOf(grid.size('entries', within(50)));
    expect(grid.health().detail).toBe('breaker open for *');
    expect(await ask('a')).toBe('none');
  });
});

describe('BreakerGrid close', () => {
  it('fails the calls under way', async () => {
    inner.health_.set('a', 'hanging');
    const code = codeOf(grid.get('entries', 'a:k', within(50)));
    await clock.settle();
    await grid.close();
    expect(await code).toBe('grid_unavailable');
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not wait for a grid that never closes', async () => {
    const hanging = new BreakerGrid(
      { grid: closingNever(inner), clock, random: ports.random, telemetry: ports },
      { callMsMax: 100 },
    );
    const code = codeOf(hanging.close());
    await clock.advanceAsync(100);
    expect(await code).toBe('grid_timeout');
  });

  it('counts each call once, whatever becomes of it', async () => {
    inner.health_.set('b', 'failing');
    inner.health_.set('c', 'hanging');
    for (const owner of ['a', 'b', 'c']) await ask(owner);
    expect(ports.counts.get('reprise_grid_seconds get')).toBe(3);
  });
});

function closingNever(over: Grid): Grid {
  return Object.assign(Object.create(over) as Grid, { close: () => new Promise<void>(() => undefined) });
}
