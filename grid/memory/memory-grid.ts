import { assert, RepriseError } from '../../runtime/errors.ts';
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
import type { PolicyFactory } from '../../runtime/policy/eviction-policy.ts';
import { makePolicy } from '../../runtime/policy/policies.ts';
import type { PolicyName } from '../../runtime/ports/options.ts';
import { MemoryMap, type MemoryMapStats } from './memory-map.ts';

export interface MemoryGridOptions {
  /** Bounds of the maps that have one, bytes: keys, values and overhead together. */
  readonly roles: {
    readonly entries: { readonly bytesMax: number };
    readonly vectors: { readonly bytesMax: number };
  };
  readonly policy: PolicyName | PolicyFactory;
}

const MEMBER = 'memory';

/**
 * The in-process grid: the reference semantics of the Grid port and the embedded default. Each call takes effect
 * whole, at the moment of the call, and its promise is settled when it returns. Values are copied in and out.
 */
export class MemoryGrid implements Grid {
  readonly #clock: Clock;
  readonly #maps: Readonly<Record<GridRole, MemoryMap>>;
  #closed = false;

  constructor(deps: { readonly clock: Clock }, options: MemoryGridOptions) {
    const { clock } = deps;
    const { entries, vectors } = options.roles;
    this.#clock = clock;
    this.#maps = {
      entries: new MemoryMap(clock, makePolicy(options.policy, entries.bytesMax)),
      vectors: new MemoryMap(clock, makePolicy(options.policy, vectors.bytesMax)),
      ledger: new MemoryMap(clock, undefined),
      members: new MemoryMap(clock, undefined),
      control: new MemoryMap(clock, undefined),
    };
  }

  /** Bytes charged, items held (expired ones that wait for collection included) and items evicted since the start. */
  stats(role: GridRole): MemoryMapStats {
    return this.#maps[role].stats;
  }

  get(role: GridRole, key: string, options: CallOptions): Promise<Versioned | undefined> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#refuses(options, nowMs)) return this.#refusal(options);
    return Promise.resolve(this.#maps[role].get(key, nowMs));
  }

  getAll(role: GridRole, keys: readonly string[], options: CallOptions): Promise<Map<string, Versioned>> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#refuses(options, nowMs)) return this.#refusal(options);
    const found = new Map<string, Versioned>();
    for (const key of keys) {
      const current = this.#maps[role].get(key, nowMs);
      if (current !== undefined) found.set(key, current);
    }
    return Promise.resolve(found);
  }

  set(role: GridRole, item: GridItem, options: CallOptions): Promise<void> {
    return this.#call(options, (nowMs) => void this.#maps[role].set(item, nowMs));
  }

  setAll(role: GridRole, items: readonly GridItem[], options: CallOptions): Promise<void> {
    return this.#call(options, (nowMs) => {
      for (const item of items) this.#maps[role].set(item, nowMs);
    });
  }

  remove(role: GridRole, key: string, options: CallOptions): Promise<boolean> {
    return this.#call(options, (nowMs) => this.#maps[role].remove(key, nowMs));
  }

  putIfAbsent(role: GridRole, item: GridItem, options: CallOptions): Promise<PutIfAbsentResult> {
    return this.#call(options, (nowMs) => {
      const map = this.#maps[role];
      const ours = map.putIfAbsent(item, nowMs);
      if (ours !== undefined) return { stored: true, current: ours };
      const current = map.get(item.key, nowMs);
      assert(current !== undefined, 'what was found at a moment is there at that moment');
      return { stored: false, current };
    });
  }

  replaceIfSame(
    role: GridRole,
    version: unknown,
    item: GridItem,
    options: CallOptions,
  ): Promise<Versioned | undefined> {
    return this.#call(options, (nowMs) => this.#maps[role].replaceIfSame(version, item, nowMs));
  }

  removeIfSame(role: GridRole, key: string, version: unknown, options: CallOptions): Promise<boolean> {
    return this.#call(options, (nowMs) => this.#maps[role].removeIfSame(key, version, nowMs));
  }

  ownerOf(_role: GridRole, _key: string): string {
    return MEMBER;
  }

  listen(role: GridRole, listener: (event: GridEvent) => void, key?: string): Subscription {
    if (this.#closed) throw closedError();
    return this.#maps[role].listen(listener, key);
  }

  query(role: GridRole, range: AttributeRange, page: PageRequest, options: CallOptions): Promise<GridPage> {
    return this.#call(options, (nowMs) => this.#maps[role].query(range, page, nowMs));
  }

  scan(role: GridRole, page: PageRequest, options: CallOptions): Promise<GridPage> {
    return this.#call(options, (nowMs) => this.#maps[role].scan(page, nowMs));
  }

  size(role: GridRole, options: CallOptions): Promise<number> {
    return this.#call(options, (nowMs) => this.#maps[role].size(nowMs));
  }

  health(): GridHealth {
    return this.#closed
      ? { state: 'down', detail: 'closed', members: 0 }
      : { state: 'up', detail: 'in process', members: 1 };
  }

  close(): Promise<void> {
    this.#closed = true;
    for (const map of Object.values(this.#maps)) map.close();
    return Promise.resolve();
  }

  #call<R>(options: CallOptions, act: (nowMs: number) => R): Promise<R> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#refuses(options, nowMs)) return this.#refusal(options);
    try {
      return Promise.resolve(act(nowMs));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  #refuses(options: CallOptions, nowMs: number): boolean {
    return this.#closed || nowMs >= options.deadlineAtMs || options.signal?.aborted === true;
  }

  #refusal(options: CallOptions): Promise<never> {
    if (this.#closed) return Promise.reject(closedError());
    const { signal } = options;
    if (signal?.aborted === true)
      return Promise.reject(new RepriseError('cancelled', 'The grid call was cancelled.', { cause: signal.reason }));
    return Promise.reject(new RepriseError('grid_timeout', 'The deadline of the grid call was past when it began.'));
  }
}

function closedError(): RepriseError {
  return new RepriseError('grid_unavailable', 'The grid is closed.');
}
