import { assert, type ErrorCode, RepriseError } from '../../runtime/errors.ts';
import type { CallOptions } from '../../runtime/ports/call-options.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type {
  AttributeRange,
  Grid,
  GridEvent,
  GridHealth,
  GridItem,
  GridPage,
  GridRole,
  PageRequest,
  PutIfAbsentResult,
  Subscription,
  Versioned,
} from '../../runtime/ports/grid.ts';
import type { Random } from '../../runtime/ports/random.ts';
import type { Counter, Histogram, Telemetry } from '../../runtime/ports/telemetry.ts';
import { Breaker, type BreakerOptions, NOT_ADMITTED, type Verdict } from './breaker.ts';
import { type CallLimits, closedError, PendingCall, PendingCalls } from './pending-calls.ts';

export interface BreakerGridOptions extends BreakerOptions {
  /** Longest time that any call may take, whatever its own deadline. */
  readonly callMsMax: number;
  /** A timeout after less than this says nothing about the member: the caller had little time left. */
  readonly timeoutCountedMsMin: number;
  /** Owners with a breaker of their own; past it the oldest is forgotten. */
  readonly breakersMax: number;
}

/** The breaker's defaults. */
export const DEFAULT_BREAKER_OPTIONS: BreakerGridOptions = {
  failuresMax: 5,
  windowMs: 10_000,
  coolDownMs: 1_000,
  callMsMax: 30_000,
  timeoutCountedMsMin: 10,
  breakersMax: 256,
};

export interface BreakerGridDeps {
  readonly grid: Grid;
  readonly clock: Clock;
  readonly random: Random;
  readonly telemetry: Telemetry;
}

type CallName = Exclude<keyof Grid, 'ownerOf' | 'listen' | 'health' | 'close'>;

const CALL_NAMES: readonly CallName[] = [
  'get',
  'getAll',
  'set',
  'setAll',
  'remove',
  'putIfAbsent',
  'replaceIfSame',
  'removeIfSame',
  'query',
  'scan',
  'size',
];

/**
 * A timeout that is noticed later than its deadline by this share of the allowed time tells of a process that stood still
 * meanwhile: the answer may lie there unread.
 */
const LATE_SHARE = 0.2;

/** Calls that need every member have a breaker of their own, so that one sick member can't close the others' doors. */
const ALL_MEMBERS = '*';

/**
 * Deadlines and breakers over another grid.
 *
 * 1. A call ends by its deadline even if the grid under it never answers; what arrives later is dropped.
 * 2. Each owner has a breaker. Calls on several keys are split by owner, so that a failure is told of the right one.
 * 3. A call that is answered in the microtask after its start costs neither a timer nor a listener on its signal.
 */
export class BreakerGrid implements Grid {
  readonly #grid: Grid;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #telemetry: Telemetry;
  readonly #options: BreakerGridOptions;
  readonly #pending: PendingCalls;
  readonly #breakers = new Map<string, Breaker>();
  readonly #seconds: Readonly<Record<CallName, Histogram>>;
  readonly #errors = new Map<ErrorCode, Counter>();
  #closed = false;

  constructor(deps: BreakerGridDeps, options: Partial<BreakerGridOptions> = {}) {
    this.#grid = deps.grid;
    this.#clock = deps.clock;
    this.#random = deps.random.fork('breaker');
    this.#telemetry = deps.telemetry;
    this.#options = { ...DEFAULT_BREAKER_OPTIONS, ...options };
    assert(this.#options.breakersMax > 0, 'there is room for one breaker at least');
    this.#pending = new PendingCalls(deps.clock);
    this.#seconds = Object.fromEntries(
      CALL_NAMES.map((name) => [name, deps.telemetry.histogram('reprise_grid_seconds', name)]),
    ) as Record<CallName, Histogram>;
  }

  /** Calls under way whose deadline is being watched. */
  get pendingCalls(): number {
    return this.#pending.size;
  }

  get(role: GridRole, key: string, options: CallOptions): Promise<Versioned | undefined> {
    return this.#guard('get', this.#owner(role, key), options, () => this.#grid.get(role, key, options));
  }

  async getAll(role: GridRole, keys: readonly string[], options: CallOptions): Promise<Map<string, Versioned>> {
    const groups = this.#byOwner(role, keys, (key) => key);
    const parts = await Promise.all(
      groups.map(([owner, part]) =>
        this.#guard('getAll', owner, options, () => this.#grid.getAll(role, part, options)),
      ),
    );
    if (parts.length === 1) return parts[0] as Map<string, Versioned>;
    const found = new Map<string, Versioned>();
    for (const key of keys) {
      const current = parts.find((part) => part.has(key))?.get(key);
      if (current !== undefined) found.set(key, current);
    }
    return found;
  }

  set(role: GridRole, item: GridItem, options: CallOptions): Promise<void> {
    return this.#guard('set', this.#owner(role, item.key), options, () => this.#grid.set(role, item, options));
  }

  async setAll(role: GridRole, items: readonly GridItem[], options: CallOptions): Promise<void> {
    const groups = this.#byOwner(role, items, (item) => item.key);
    await Promise.all(
      groups.map(([owner, part]) =>
        this.#guard('setAll', owner, options, () => this.#grid.setAll(role, part, options)),
      ),
    );
  }

  remove(role: GridRole, key: string, options: CallOptions): Promise<boolean> {
    return this.#guard('remove', this.#owner(role, key), options, () => this.#grid.remove(role, key, options));
  }

  putIfAbsent(role: GridRole, item: GridItem, options: CallOptions): Promise<PutIfAbsentResult> {
    const owner = this.#owner(role, item.key);
    return this.#guard('putIfAbsent', owner, options, () => this.#grid.putIfAbsent(role, item, options));
  }

  replaceIfSame(
    role: GridRole,
    version: unknown,
    item: GridItem,
    options: CallOptions,
  ): Promise<Versioned | undefined> {
    const owner = this.#owner(role, item.key);
    return this.#guard('replaceIfSame', owner, options, () => this.#grid.replaceIfSame(role, version, item, options));
  }

  removeIfSame(role: GridRole, key: string, version: unknown, options: CallOptions): Promise<boolean> {
    const owner = this.#owner(role, key);
    return this.#guard('removeIfSame', owner, options, () => this.#grid.removeIfSame(role, key, version, options));
  }

  ownerOf(role: GridRole, key: string): string {
    return this.#grid.ownerOf(role, key);
  }

  listen(role: GridRole, listener: (event: GridEvent) => void, key?: string): Subscription {
    return this.#grid.listen(role, listener, key);
  }

  query(role: GridRole, range: AttributeRange, page: PageRequest, options: CallOptions): Promise<GridPage> {
    return this.#guard('query', ALL_MEMBERS, options, () => this.#grid.query(role, range, page, options));
  }

  scan(role: GridRole, page: PageRequest, options: CallOptions): Promise<GridPage> {
    return this.#guard('scan', ALL_MEMBERS, options, () => this.#grid.scan(role, page, options));
  }

  size(role: GridRole, options: CallOptions): Promise<number> {
    return this.#guard('size', ALL_MEMBERS, options, () => this.#grid.size(role, options));
  }

  /** The inner grid's, degraded while a member that is still asked for has a breaker that isn't closed. */
  health(): GridHealth {
    const inner = this.#grid.health();
    const nowMs = this.#clock.monotonicMs();
    const sick = [...this.#breakers].filter(([, breaker]) => breaker.isSick(nowMs)).map(([owner]) => owner);
    if (inner.state !== 'up' || sick.length === 0) return inner;
    return { ...inner, state: 'degraded', detail: `breaker open for ${sick.toSorted().join(', ')}` };
  }

  /** Fails the calls under way, then closes the inner grid; waits for that no longer than any call. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#pending.close();
    await this.#cutOff(this.#grid.close());
  }

  #cutOff(closing: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(this.#options.callMsMax, () =>
        reject(new RepriseError('grid_timeout', 'The grid did not close in time.')),
      );
      closing.finally(() => timer.cancel()).then(resolve, reject);
    });
  }

  /**
   * Whose breaker a call counts for. The ledger has its own: a member that is well refuses it while it sees no majority, and must go on
   * serving everything else.
   */
  #owner(role: GridRole, key: string): string {
    const owner = this.#grid.ownerOf(role, key);
    return role === 'ledger' ? `${owner} (ledger)` : owner;
  }

  #guard<T>(name: CallName, owner: string, options: CallOptions, run: () => Promise<T>): Promise<T> {
    const startedAtMs = this.#clock.monotonicMs();
    const refusal = this.#refusal(options, startedAtMs);
    if (refusal !== undefined) return this.#reject(refusal);
    const breaker = this.#breakers.get(owner) ?? this.#addBreaker(owner);
    const ticket = breaker.admit(startedAtMs);
    if (ticket === NOT_ADMITTED)
      return this.#reject(new RepriseError('grid_unavailable', `The breaker of grid member ${owner} is open.`));
    const limits: CallLimits = {
      deadlineAtMs: Math.min(options.deadlineAtMs, startedAtMs + this.#options.callMsMax),
      signal: options.signal,
    };
    const call = new PendingCall<T>(this.#pending, limits, (error) => {
      const nowMs = this.#clock.monotonicMs();
      const elapsedMs = nowMs - startedAtMs;
      this.#seconds[name].observe(elapsedMs / 1_000);
      if (error !== undefined) this.#count(error);
      const allowedMs = limits.deadlineAtMs - startedAtMs;
      breaker.settle(ticket, error === undefined ? 'success' : this.#verdict(error, { elapsedMs, allowedMs }), nowMs);
    });
    call.follow(begin(run));
    return call.promise;
  }

  #refusal(options: CallOptions, nowMs: number): RepriseError | undefined {
    if (this.#closed) return closedError();
    const { signal } = options;
    if (signal?.aborted === true)
      return new RepriseError('cancelled', 'The grid call was cancelled.', { cause: signal.reason });
    if (nowMs >= options.deadlineAtMs)
      return new RepriseError('grid_timeout', 'The deadline of the grid call was past when it began.');
    return undefined;
  }

  #reject(error: RepriseError): Promise<never> {
    this.#count(error);
    return Promise.reject(error);
  }

  #verdict(
    error: unknown,
    { elapsedMs, allowedMs }: { readonly elapsedMs: number; readonly allowedMs: number },
  ): Verdict {
    if (!(error instanceof RepriseError)) return 'neutral';
    if (error.code === 'grid_unavailable') return this.#closed ? 'neutral' : 'failure';
    if (error.code !== 'grid_timeout') return 'neutral';
    if (elapsedMs > allowedMs * (1 + LATE_SHARE)) return 'neutral';
    return elapsedMs >= this.#options.timeoutCountedMsMin ? 'failure' : 'neutral';
  }

  #count(error: unknown): void {
    const code = error instanceof RepriseError ? error.code : 'internal';
    let counter = this.#errors.get(code);
    if (counter === undefined) {
      counter = this.#telemetry.counter('reprise_grid_errors_total', code);
      this.#errors.set(code, counter);
    }
    counter.add();
  }

  #addBreaker(owner: string): Breaker {
    if (this.#breakers.size >= this.#options.breakersMax) {
      const oldest = this.#breakers.keys().next();
      if (oldest.done !== true) this.#breakers.delete(oldest.value);
    }
    const breaker = new Breaker(this.#options, this.#random, (state) => {
      this.#telemetry.counter('reprise_breaker_transitions_total', state).add();
      this.#telemetry.log(state === 'open' ? 'warn' : 'info', 'grid breaker changed', { owner, state });
    });
    this.#breakers.set(owner, breaker);
    return breaker;
  }

  #byOwner<T>(
    role: GridRole,
    members: readonly T[],
    keyOf: (member: T) => string,
  ): readonly (readonly [string, T[]])[] {
    const groups = new Map<string, T[]>();
    for (const member of members) {
      const owner = this.#owner(role, keyOf(member));
      const group = groups.get(owner);
      if (group === undefined) groups.set(owner, [member]);
      else group.push(member);
    }
    if (groups.size === 0) groups.set(ALL_MEMBERS, []);
    return [...groups];
  }
}

/** A grid that throws at once fails like one that rejects. */
function begin<T>(run: () => Promise<T>): Promise<T> {
  try {
    return run();
  } catch (error) {
    return Promise.reject(error as Error);
  }
}
