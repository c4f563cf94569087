import type { CallOptions } from './call-options.ts';

/** The maps of a grid: entries and vectors are bounded and expire; ledger, members and control are never evicted. */
export type GridRole = 'entries' | 'vectors' | 'ledger' | 'members' | 'control';

/** The attributes by which `query` finds a vector record; in clear on the grid. */
export interface GridAttributes {
  /** Scope hash, hex. */
  readonly scope: string;
  /** LSH code, an unsigned 32-bit integer. */
  readonly code: number;
}

export interface GridItem {
  readonly key: string;
  /** Immutable from the moment that it was handed over: neither side writes to it. */
  readonly value: Uint8Array;
  /** Time after which the grid collects the item, milliseconds; absent: never. Resolution is 1 s at worst. */
  readonly ttlMs?: number;
  readonly attributes?: GridAttributes;
}

/** A value as read, with the opaque version that compare-and-set takes. Callers never look inside a version. */
export interface Versioned {
  readonly value: Uint8Array;
  readonly version: unknown;
}

export interface PutIfAbsentResult {
  /** True when this call stored its value. */
  readonly stored: boolean;
  /** What the map holds now: ours, or the one that was there. */
  readonly current: Versioned;
}

/** What a listener is told. `lost` means that events may have been missed: read again what matters. */
export type GridEvent =
  { readonly kind: 'set' | 'removed' | 'evicted' | 'expired'; readonly key: string } | { readonly kind: 'lost' };

export interface Subscription {
  close(): void;
}

/** One page of an ordered or unordered walk; `next` is absent on the last page. */
export interface GridPage {
  readonly items: readonly { readonly key: string; readonly value: Uint8Array; readonly attributes?: GridAttributes }[];
  readonly next?: string;
}

/** Codes `codeFrom`..`codeTo`, both included, of one scope, ordered by (code, key). */
export interface AttributeRange {
  readonly scope: string;
  readonly codeFrom: number;
  readonly codeTo: number;
}

export interface PageRequest {
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string;
}

export interface GridHealth {
  readonly state: 'up' | 'degraded' | 'down';
  readonly detail: string;
  readonly members: number;
}

/**
 * Partitioned maps that remember. Every call honours its deadline and signal and fails with `grid_timeout`
 * or `grid_unavailable` (see `runtime/errors.ts`); a write that failed may or may not have happened.
 */
export interface Grid {
  get(role: GridRole, key: string, options: CallOptions): Promise<Versioned | undefined>;
  /** Found items only; the map's order is that of `keys`. */
  getAll(role: GridRole, keys: readonly string[], options: CallOptions): Promise<Map<string, Versioned>>;
  set(role: GridRole, item: GridItem, options: CallOptions): Promise<void>;
  setAll(role: GridRole, items: readonly GridItem[], options: CallOptions): Promise<void>;
  /** True when something was removed. */
  remove(role: GridRole, key: string, options: CallOptions): Promise<boolean>;
  putIfAbsent(role: GridRole, item: GridItem, options: CallOptions): Promise<PutIfAbsentResult>;
  /** The new version, or undefined when the map no longer holds `version`. */
  replaceIfSame(role: GridRole, version: unknown, item: GridItem, options: CallOptions): Promise<Versioned | undefined>;
  removeIfSame(role: GridRole, key: string, version: unknown, options: CallOptions): Promise<boolean>;
  /** Id of the member that owns the key; stable until the grid's membership changes. */
  ownerOf(role: GridRole, key: string): string;
  /** Events of one role (of one key when given), in the order in which each key changed. */
  listen(role: GridRole, listener: (event: GridEvent) => void, key?: string): Subscription;
  query(role: GridRole, range: AttributeRange, page: PageRequest, options: CallOptions): Promise<GridPage>;
  /** Every item that is there during the whole walk appears exactly once. */
  scan(role: GridRole, page: PageRequest, options: CallOptions): Promise<GridPage>;
  size(role: GridRole, options: CallOptions): Promise<number>;
  health(): GridHealth;
  close(): Promise<void>;
}
