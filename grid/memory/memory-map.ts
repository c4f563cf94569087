import { assert } from '../../runtime/errors.ts';
import type { Clock, Timer } from '../../runtime/ports/clock.ts';
import type {
  AttributeRange,
  GridAttributes,
  GridEvent,
  GridItem,
  GridPage,
  PageRequest,
  Subscription,
  Versioned,
} from '../../runtime/ports/grid.ts';
import type { EvictionPolicy, Resident } from '../../runtime/policy/eviction-policy.ts';
import { ChunkArena } from './chunk-arena.ts';
import { EventHub } from './event-hub.ts';
import { ExpiryHeap } from './expiry-heap.ts';
import { MemoryItem, NO_VALUE, assertCode, compareCodeAndKey, type CodeAndKey, type Slot } from './memory-item.ts';
import { makePage, parseCodeAndKey, parseSlot } from './pages.ts';
import { SortedBlocks } from './sorted-blocks.ts';

/** What an item costs beside key and value: map slot, item, handle, order and expiry slots; bytes. */
export const GRID_ITEM_OVERHEAD_BYTES = 512;
/** What the index by scope and code costs for an item with attributes, bytes. */
const ATTRIBUTES_OVERHEAD_BYTES = 64;

/** Expired items collected before a write or by one tick of the sweep. */
const SWEEP_ITEMS_MAX = 1_024;
const SWEEP_INTERVAL_MS = 1_000;
const SWEEP_BACKLOG_INTERVAL_MS = 10;
const SWEEP_DELAY_MS_MAX = 3_600_000;

type CodeIndex = SortedBlocks<CodeAndKey, MemoryItem>;

/** What a map holds and has turned out. */
export interface MemoryMapStats {
  readonly bytes: number;
  readonly items: number;
  readonly evictions: number;
}

/**
 * One map of the memory grid, synchronous. With a policy it is bounded in bytes: victims leave before an item comes
 * in, and an item that doesn't fit the bound at all counts as stored and evicted at once. Expired items are never
 * seen; they are collected when met, a bounded number before each write, and by a timer.
 */
export class MemoryMap {
  readonly #clock: Clock;
  readonly #policy: EvictionPolicy | undefined;
  readonly #items = new Map<string, MemoryItem>();
  readonly #arena = new ChunkArena();
  readonly #expiry = new ExpiryHeap<MemoryItem>();
  readonly #order = new SortedBlocks<Slot, MemoryItem>((left, right) => left.slot - right.slot);
  readonly #scopes = new Map<string, CodeIndex>();
  readonly #events = new EventHub();
  #bytes = 0;
  #evictions = 0;
  #slots = 0;
  #versions = 0;
  #sweepTimer: Timer | undefined = undefined;
  #sweepAtMs = Infinity;

  constructor(clock: Clock, policy: EvictionPolicy | undefined) {
    this.#clock = clock;
    this.#policy = policy;
  }

  get stats(): MemoryMapStats {
    return { bytes: this.#bytes, items: this.#items.size, evictions: this.#evictions };
  }

  get(key: string, nowMs: number): Versioned | undefined {
    const item = this.#find(key, nowMs);
    if (item === undefined) {
      this.#policy?.miss(key);
      return undefined;
    }
    if (item.resident !== undefined) this.#policy?.touch(item.resident);
    return this.#valueOf(item);
  }

  set(item: GridItem, nowMs: number): Versioned {
    this.#sweep(nowMs);
    return this.#put(item, nowMs);
  }

  putIfAbsent(item: GridItem, nowMs: number): Versioned | undefined {
    this.#sweep(nowMs);
    if (this.#find(item.key, nowMs) !== undefined) return undefined;
    return this.#put(item, nowMs);
  }

  replaceIfSame(version: unknown, item: GridItem, nowMs: number): Versioned | undefined {
    const existing = this.#find(item.key, nowMs);
    if (existing === undefined || existing.version !== version) return undefined;
    return this.#put(item, nowMs);
  }

  remove(key: string, nowMs: number): boolean {
    const item = this.#find(key, nowMs);
    if (item === undefined) return false;
    this.#drop(item, 'removed');
    return true;
  }

  removeIfSame(key: string, version: unknown, nowMs: number): boolean {
    const item = this.#find(key, nowMs);
    if (item === undefined || item.version !== version) return false;
    this.#drop(item, 'removed');
    return true;
  }

  query(range: AttributeRange, page: PageRequest, nowMs: number): GridPage {
    this.#sweep(nowMs);
    const index = this.#scopes.get(range.scope);
    if (index === undefined) return { items: [] };
    const after = page.after === undefined ? undefined : parseCodeAndKey(page.after);
    const members = index.from(after ?? { code: range.codeFrom, key: '' });
    const include = (item: MemoryItem): boolean =>
      after === undefined || item.code !== after.code || item.key !== after.key;
    const isLast = (item: MemoryItem): boolean => item.code > range.codeTo;
    return makePage(members, {
      limit: page.limit,
      nowMs,
      valueOf: (item) => this.#valueOf(item),
      include,
      isLast,
      token: (item) => `${item.code}:${item.key}`,
    });
  }

  scan(page: PageRequest, nowMs: number): GridPage {
    this.#sweep(nowMs);
    const members = this.#order.from({ slot: page.after === undefined ? 0 : parseSlot(page.after) + 1 });
    return makePage(members, {
      limit: page.limit,
      nowMs,
      valueOf: (item) => this.#valueOf(item),
      include: () => true,
      isLast: () => false,
      token: (item) => String(item.slot),
    });
  }

  /** Collects all that is due first: each item is collected once, so the work is paid for by the writes. */
  size(nowMs: number): number {
    this.#sweep(nowMs, Infinity);
    return this.#items.size;
  }

  listen(listener: (event: GridEvent) => void, key: string | undefined): Subscription {
    return this.#events.listen(listener, key);
  }

  close(): void {
    this.#sweepTimer?.cancel();
    this.#sweepTimer = undefined;
    this.#events.close();
    this.#items.clear();
    this.#arena.clear();
    this.#expiry.clear();
    this.#order.clear();
    this.#scopes.clear();
    this.#policy?.clear();
    this.#bytes = 0;
  }

  #find(key: string, nowMs: number): MemoryItem | undefined {
    const item = this.#items.get(key);
    if (item === undefined || item.expiresAtMs > nowMs) return item;
    this.#drop(item, 'expired');
    return undefined;
  }

  #put(given: GridItem, nowMs: number): Versioned {
    const { key, attributes } = given;
    const ttlMs = given.ttlMs ?? Infinity;
    assert(!Number.isNaN(ttlMs), 'a TTL is a number');
    if (attributes !== undefined) assertCode(attributes.code);
    this.#versions += 1;
    const current = { value: given.value, version: this.#versions };
    const existing = this.#find(key, nowMs);
    if (ttlMs <= 0) {
      if (existing !== undefined) this.#drop(existing, 'expired');
      return current;
    }
    const bytes = charge(key, current.value, attributes);
    const admission = this.#admit(key, existing, bytes);
    if (admission === 'refused') return current;
    const item = existing ?? this.#add(key);
    if (item.handle !== NO_VALUE) this.#arena.free(item.handle);
    item.handle = this.#arena.write(given.value);
    item.length = given.value.byteLength;
    item.version = current.version;
    item.resident = admission;
    this.#bytes += bytes - item.bytes;
    item.bytes = bytes;
    this.#setAttributes(item, attributes);
    this.#setExpiry(item, nowMs + ttlMs, nowMs);
    this.#events.tell('set', key);
    return current;
  }

  /** Makes room before the item comes in; 'refused': it doesn't fit, and what it would have replaced is gone. */
  #admit(key: string, existing: MemoryItem | undefined, bytes: number): Resident | undefined | 'refused' {
    const policy = this.#policy;
    if (policy === undefined) return undefined;
    const { resident, victims } =
      existing?.resident === undefined ? policy.insert(key, bytes) : policy.update(existing.resident, bytes);
    for (const victim of victims) {
      const item = this.#items.get(victim.key);
      assert(item !== undefined, 'a resident is an item');
      this.#evict(item);
    }
    if (resident !== undefined) return resident;
    if (existing === undefined) {
      this.#evictions += 1;
      this.#events.tell('evicted', key);
    } else {
      this.#evict(existing);
    }
    return 'refused';
  }

  #add(key: string): MemoryItem {
    this.#slots += 1;
    const item = new MemoryItem(key, this.#slots);
    this.#items.set(key, item);
    this.#order.insert(item);
    return item;
  }

  #setAttributes(item: MemoryItem, attributes: GridAttributes | undefined): void {
    const before = item.attributes;
    if (before !== undefined && (before.scope !== attributes?.scope || before.code !== attributes.code))
      this.#unindex(item, before.scope);
    if (attributes === undefined) {
      item.attributes = undefined;
      return;
    }
    if (item.attributes === undefined) {
      item.attributes = attributes;
      item.code = attributes.code;
      let index = this.#scopes.get(attributes.scope);
      if (index === undefined) {
        index = new SortedBlocks<CodeAndKey, MemoryItem>(compareCodeAndKey);
        this.#scopes.set(attributes.scope, index);
      }
      index.insert(item);
    }
  }

  #unindex(item: MemoryItem, scope: string): void {
    const index = this.#scopes.get(scope);
    assert(index?.remove(item) === true, 'an item with attributes is indexed');
    if (index.size === 0) this.#scopes.delete(scope);
    item.attributes = undefined;
  }

  #setExpiry(item: MemoryItem, expiresAtMs: number, nowMs: number): void {
    if (item.heapIndex !== -1) this.#expiry.remove(item);
    item.expiresAtMs = expiresAtMs;
    if (expiresAtMs === Infinity) return;
    this.#expiry.insert(item);
    if (this.#expiry.earliest === item) this.#armSweep(nowMs, SWEEP_INTERVAL_MS);
  }

  #valueOf(item: MemoryItem): Versioned {
    return { value: this.#arena.read(item.handle, item.length), version: item.version };
  }

  /** For a victim: the policy knows already. */
  #evict(item: MemoryItem): void {
    item.resident = undefined;
    this.#evictions += 1;
    this.#drop(item, 'evicted');
  }

  #drop(item: MemoryItem, kind: 'removed' | 'evicted' | 'expired'): void {
    this.#items.delete(item.key);
    this.#arena.free(item.handle);
    this.#order.remove(item);
    if (item.heapIndex !== -1) this.#expiry.remove(item);
    if (item.attributes !== undefined) this.#unindex(item, item.attributes.scope);
    if (item.resident !== undefined) this.#policy?.remove(item.resident);
    this.#bytes -= item.bytes;
    this.#events.tell(kind, item.key);
  }

  #sweep(nowMs: number, itemsMax = SWEEP_ITEMS_MAX): void {
    for (let count = 0; count < itemsMax; count += 1) {
      const item = this.#expiry.earliest;
      if (item === undefined || item.expiresAtMs > nowMs) return;
      this.#drop(item, 'expired');
    }
  }

  /** One timer at most, for the earliest expiry; it is moved only when the new one is earlier by a whole interval. */
  #armSweep(nowMs: number, delayMinMs: number): void {
    const { earliest } = this.#expiry;
    if (earliest === undefined) return;
    const delayMs = Math.min(Math.max(earliest.expiresAtMs - nowMs, delayMinMs), SWEEP_DELAY_MS_MAX);
    if (this.#sweepAtMs <= nowMs + delayMs) return;
    this.#sweepTimer?.cancel();
    this.#sweepAtMs = nowMs + delayMs;
    this.#sweepTimer = this.#clock.setTimer(delayMs, () => {
      this.#sweepTimer = undefined;
      this.#sweepAtMs = Infinity;
      const firedAtMs = this.#clock.monotonicMs();
      this.#sweep(firedAtMs);
      const { earliest: next } = this.#expiry;
      const isBacklog = next !== undefined && next.expiresAtMs <= firedAtMs;
      this.#armSweep(firedAtMs, isBacklog ? SWEEP_BACKLOG_INTERVAL_MS : SWEEP_INTERVAL_MS);
    });
  }
}

/** What an item is charged with. A key is charged at two bytes a character, its most. */
function charge(key: string, value: Uint8Array, attributes: GridAttributes | undefined): number {
  const attributesBytes = attributes === undefined ? 0 : ATTRIBUTES_OVERHEAD_BYTES + 2 * attributes.scope.length;
  return 2 * key.length + ChunkArena.charge(value.byteLength) + GRID_ITEM_OVERHEAD_BYTES + attributesBytes;
}
