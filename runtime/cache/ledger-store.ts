import { assert, RepriseError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Grid, Versioned } from '../ports/grid.ts';
import type { Incarnation, InvalidationKind, LedgerHead, LedgerMark, LedgerRecord } from '../ports/ledger.ts';
import { decodeHead, decodeMark, encodeHead, encodeMark } from './ledger-codec.ts';
import type { StoredMark } from './ledger-codec.ts';
import type { MarkTable } from './ledger-marks.ts';
import { isSameIncarnation } from './ledger-view.ts';

/** A head as read; undefined for bytes that no version wrote. */
export interface FoundHead {
  readonly head: LedgerHead | undefined;
  readonly version: unknown;
}

/** A head that could be read. */
export interface ReadableHead {
  readonly head: LedgerHead;
  readonly version: unknown;
}

/** One mark to raise, in the incarnation of the head that will record it. */
export interface MarkRaise {
  readonly name: string;
  readonly kind: InvalidationKind;
  readonly sequence: number;
  readonly incarnation: Incarnation;
}

/** `conflict`: the marks belong to another life of the ledger than the head; `counter` is the highest that was seen. */
export type MarksResult = { readonly kind: 'done' } | { readonly kind: 'conflict'; readonly counter: number };

const HEAD_KEY = 'head';
const MARK_PREFIX = 'mark/';
const DONE: MarksResult = { kind: 'done' };
const RAISE_ATTEMPTS_MAX = 16;
const PAGE_ITEMS = 1_000;
const PAGES_MAX = 10_000;
const REMOVALS_AT_ONCE = 32;

/** The ledger's records in the grid, and nothing of what a node thinks of them. Every grid call has a deadline of its own. */
export class LedgerStore {
  readonly #grid: Grid;
  readonly #clock: Clock;
  readonly #callTimeoutMs: number;

  constructor(grid: Grid, clock: Clock, callTimeoutMs: number) {
    this.#grid = grid;
    this.#clock = clock;
    this.#callTimeoutMs = callTimeoutMs;
  }

  /** Calls `changed` when the head may have changed. */
  listen(changed: () => void): { close(): void } {
    return this.#grid.listen('ledger', changed, HEAD_KEY);
  }

  /** The head; undefined when there is none. Fails with `grid_unavailable` when a newer version wrote it. */
  async readHead(options: CallOptions): Promise<FoundHead | undefined> {
    const found = await this.#grid.get('ledger', HEAD_KEY, this.#bounded(options));
    if (found === undefined) return undefined;
    const head = decodeHead(found.value);
    if (head === 'unknown') throw unknownLayout('head');
    return { head: head === 'malformed' ? undefined : head, version: found.version };
  }

  /** Stores a head where there is none. */
  async createHead(head: LedgerHead, options: CallOptions): Promise<void> {
    await this.#grid.putIfAbsent('ledger', { key: HEAD_KEY, value: encodeHead(head) }, this.#bounded(options));
  }

  /** True when the head was still `version` and is now `head`. */
  async replaceHead(version: unknown, head: LedgerHead, options: CallOptions): Promise<boolean> {
    const item = { key: HEAD_KEY, value: encodeHead(head) };
    return (await this.#grid.replaceIfSame('ledger', version, item, this.#bounded(options))) !== undefined;
  }

  /** Raises a mark to `sequence` or finds it there already. */
  async raiseMark(raise: MarkRaise, options: CallOptions): Promise<MarksResult> {
    const key = MARK_PREFIX + raise.name;
    let found: Versioned | undefined = await this.#grid.get('ledger', key, this.#bounded(options));
    for (let attempt = 0; attempt < RAISE_ATTEMPTS_MAX; attempt++) {
      const present = found === undefined ? undefined : readMark(found.value);
      if (present !== undefined && isForeign(present, raise.incarnation)) {
        return { kind: 'conflict', counter: present.incarnation.counter };
      }
      const raised = raisedMark(present, raise);
      if (raised === undefined) return DONE;
      const item = { key, value: encodeMark(raised) };
      if (found === undefined) {
        const result = await this.#grid.putIfAbsent('ledger', item, this.#bounded(options));
        if (result.stored) return DONE;
        found = result.current;
      } else {
        if (await this.#grid.replaceIfSame('ledger', found.version, item, this.#bounded(options))) return DONE;
        found = await this.#grid.get('ledger', key, this.#bounded(options));
      }
    }
    throw new RepriseError('grid_unavailable', 'The mark of an invalidation kept changing; try again.');
  }

  /**
   * Reads all marks of the head's incarnation into `table`. A mark of a later or forked incarnation, or one that the head's
   * list vouches for and that is gone, is a conflict: the head or the marks were lost and came back from another time.
   */
  async loadMarks(head: LedgerHead, table: MarkTable, options: CallOptions): Promise<MarksResult> {
    const vouched = new Map<string, LedgerRecord>();
    for (const record of head.records) {
      if (record.sequence > head.floor) vouched.set(`${record.kind}/${record.name}`, record);
    }
    let counter = -1;
    await this.#eachPage(options, (items) => {
      for (const { key, value } of items) {
        const mark = readMark(value);
        if (isForeign(mark, head.incarnation)) counter = Math.max(counter, mark.incarnation.counter);
        if (!isSameIncarnation(mark.incarnation, head.incarnation)) continue;
        const name = key.slice(MARK_PREFIX.length);
        for (const kind of ['hard', 'soft'] as const) {
          // A mark runs ahead of the head while its append is under way; an append that died there must not outlast it.
          if (mark[kind] > 0) table.raise(name, kind, Math.min(mark[kind], head.sequence));
          const record = vouched.get(`${kind}/${name}`);
          if (record !== undefined && mark[kind] >= record.sequence) vouched.delete(`${kind}/${name}`);
        }
      }
      return Promise.resolve();
    });
    if (vouched.size > 0) counter = Math.max(counter, head.incarnation.counter);
    return counter < 0 ? DONE : { kind: 'conflict', counter };
  }

  /** Removes marks of earlier incarnations and those at or below the head's floor. */
  async sweep(head: LedgerHead, options: CallOptions): Promise<void> {
    await this.#eachPage(options, async (items) => {
      const keys = items.filter(({ value }) => isSpent(decodeMark(value), head)).map(({ key }) => key);
      for (let start = 0; start < keys.length; start += REMOVALS_AT_ONCE) {
        await this.#removeSpent(keys.slice(start, start + REMOVALS_AT_ONCE), head, options);
      }
    });
  }

  async #removeSpent(keys: readonly string[], head: LedgerHead, options: CallOptions): Promise<void> {
    const found = await this.#grid.getAll('ledger', keys, this.#bounded(options));
    const removals: Promise<boolean>[] = [];
    for (const [key, { value, version }] of found) {
      if (!isSpent(decodeMark(value), head)) continue;
      removals.push(this.#grid.removeIfSame('ledger', key, version, this.#bounded(options)));
    }
    await Promise.all(removals);
  }

  async #eachPage(
    options: CallOptions,
    visit: (marks: readonly { readonly key: string; readonly value: Uint8Array }[]) => Promise<void>,
  ): Promise<void> {
    let after: string | undefined;
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const request = after === undefined ? { limit: PAGE_ITEMS } : { limit: PAGE_ITEMS, after };
      const page = await this.#grid.scan('ledger', request, this.#bounded(options));
      // A grid gives what it can't open as nothing: a mark that was lost, which the head's list tells where it can.
      await visit(page.items.filter(({ key, value }) => key.startsWith(MARK_PREFIX) && value.byteLength > 0));
      if (page.next === undefined) return;
      after = page.next;
    }
    throw new RepriseError('grid_unavailable', 'The ledger map has more marks than it may ever hold.');
  }

  #bounded(options: CallOptions): CallOptions {
    const deadlineAtMs = Math.min(options.deadlineAtMs, this.#clock.monotonicMs() + this.#callTimeoutMs);
    return options.signal === undefined ? { deadlineAtMs } : { deadlineAtMs, signal: options.signal };
  }
}

/** True for a mark of a later or forked incarnation: it may record an invalidation that `incarnation` knows nothing of. */
function isForeign(mark: StoredMark, incarnation: Incarnation): boolean {
  return mark.incarnation.counter >= incarnation.counter && !isSameIncarnation(mark.incarnation, incarnation);
}

/** The mark to write; undefined when the present one will do. */
function raisedMark(present: StoredMark | undefined, raise: MarkRaise): StoredMark | undefined {
  const counts = present !== undefined && isSameIncarnation(present.incarnation, raise.incarnation);
  const before: LedgerMark = counts ? present : { hard: 0, soft: 0 };
  if (before[raise.kind] >= raise.sequence) return undefined;
  return { incarnation: raise.incarnation, hard: before.hard, soft: before.soft, [raise.kind]: raise.sequence };
}

function isSpent(mark: ReturnType<typeof decodeMark>, head: LedgerHead): boolean {
  if (typeof mark === 'string') return false;
  if (mark.incarnation.counter < head.incarnation.counter) return true;
  return isSameIncarnation(mark.incarnation, head.incarnation) && Math.max(mark.hard, mark.soft) <= head.floor;
}

function readMark(bytes: Uint8Array): StoredMark {
  const mark = decodeMark(bytes);
  if (typeof mark === 'string') throw unknownLayout('mark');
  assert(mark.hard > 0 || mark.soft > 0, 'a stored mark marks');
  return mark;
}

function unknownLayout(record: string): RepriseError {
  return new RepriseError('grid_unavailable', `The ledger has a ${record} in a layout that this version can't read.`);
}
