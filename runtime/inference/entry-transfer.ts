import { decodeEntry, ENTRY_LAYOUT_VERSION } from '../cache/entry-codec.ts';
import { KEY_VERSION } from '../cache/key.ts';
import { isSameIncarnation } from '../cache/ledger-view.ts';
import type { Ledger } from '../cache/ledger.ts';
import type { Tiers } from '../cache/tiers.ts';
import { assert, RepriseError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Entry } from '../ports/entry.ts';
import type { Grid } from '../ports/grid.ts';
import type { Incarnation, LedgerPosition } from '../ports/ledger.ts';
import {
  TRANSFER_ITEMS_MAX,
  type ExportPage,
  type ExportRequest,
  type ImportCounts,
  type ImportRequest,
  type Transfer,
  type TransferItem,
  type TransferTerms,
} from '../ports/transfer.ts';

const KEY = /^[0-9a-f]{64}$/;
/** Stores of one batch that are under way at once. */
const STORES_AT_ONCE = 16;

export interface EntryTransferDeps {
  readonly clock: Clock;
  readonly grid: Grid;
  readonly ledger: Ledger;
  readonly tiers: Tiers;
}

export interface EntryTransferOptions {
  readonly entryBytesMax: number;
  /** Deadline of a page or a batch. */
  readonly timeoutMs: number;
}

type ImportOutcome = keyof ImportCounts;

/**
 * Carries entries out of the grid and into it. What holds for an entry that was carried in:
 * - one of the current incarnation keeps its position, so that whatever was marked since counts against it on every read;
 * - one of another incarnation gets, if it is adopted, the position at which the current one began: no mark can have been made before,
 *   so that none is passed over;
 * - the ledger is read from the grid before a batch is judged, and an entry from after what was read is from no ledger of ours.
 */
export class EntryTransfer implements Transfer {
  readonly #deps: EntryTransferDeps;
  readonly #options: EntryTransferOptions;

  constructor(deps: EntryTransferDeps, options: EntryTransferOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  async terms(): Promise<TransferTerms> {
    return termsAt(await this.#position(this.#callOptions()));
  }

  async exportPage(request: ExportRequest): Promise<ExportPage> {
    const { clock, grid, ledger } = this.#deps;
    const { tenant, namespace, after, limit } = request;
    assert(limit > 0 && limit <= TRANSFER_ITEMS_MAX, 'a page of entries is bounded');
    const options = this.#callOptions();
    const position = await this.#position(options);
    const page = await grid.scan('entries', { limit, ...(after !== undefined && { after }) }, options);
    const items: TransferItem[] = [];
    let scannedBytes = 0;
    for (const { key, value } of page.items) {
      scannedBytes += value.byteLength;
      const entry = decodeEntry(key, value);
      if (entry === undefined || entry.expiresAtMs <= clock.wallMs()) continue;
      if ((tenant ?? entry.tenant) !== entry.tenant || (namespace ?? entry.namespace) !== entry.namespace) continue;
      const validity = ledger.validity(entry);
      if (validity !== 'invalid') items.push({ key, value, isStale: validity === 'stale' });
    }
    const { next } = page;
    const scanned = page.items.length;
    return { terms: termsAt(position), items, scanned, scannedBytes, ...(next !== undefined && { next }) };
  }

  async importItems(request: ImportRequest): Promise<ImportCounts> {
    const { items, adoptInto } = request;
    assert(items.length <= TRANSFER_ITEMS_MAX, 'a batch of entries is bounded');
    const options = this.#callOptions();
    const position = await this.#position(options);
    if (adoptInto !== undefined && !isSameIncarnation(adoptInto, position.incarnation)) {
      throw new RepriseError(
        'invalid_request',
        'The ledger has begun anew since the import began; look at what was imported, then import again.',
        { param: 'adoptInto' },
      );
    }
    const counts = { imported: 0, expired: 0, invalid: 0, kept: 0, foreign: 0, tooLarge: 0, unreadable: 0 };
    for (let at = 0; at < items.length; at += STORES_AT_ONCE) {
      const some = items.slice(at, at + STORES_AT_ONCE);
      const outcomes = await Promise.all(
        some.map((item) => this.#import(item, { position, isAdopting: adoptInto !== undefined, options })),
      );
      for (const outcome of outcomes) counts[outcome] += 1;
    }
    return counts;
  }

  async #import(
    item: TransferItem,
    terms: { readonly position: LedgerPosition; readonly isAdopting: boolean; readonly options: CallOptions },
  ): Promise<ImportOutcome> {
    const { clock, ledger, tiers } = this.#deps;
    const { incarnation, sequence } = terms.position;
    const found = KEY.test(item.key) ? decodeEntry(item.key, item.value) : undefined;
    if (found === undefined) return 'unreadable';
    if (found.payload.byteLength > this.#options.entryBytesMax) return 'tooLarge';
    if (found.expiresAtMs <= clock.wallMs()) return 'expired';
    const isOurs = isSameIncarnation(found.position.incarnation, incarnation);
    if (!isOurs && !terms.isAdopting) return 'foreign';
    // What made it stale elsewhere is not in this ledger.
    if (!isOurs && item.isStale) return 'invalid';
    const entry = isOurs ? found : adopted(found, incarnation);
    if (entry.position.sequence > sequence || ledger.validity(entry) === 'invalid') return 'invalid';
    return (await tiers.store(entry, terms.options)) ? 'imported' : 'kept';
  }

  /** Where the ledger stands, as read just now. */
  async #position(options: CallOptions): Promise<LedgerPosition> {
    const { ledger } = this.#deps;
    await ledger.confirm(options);
    assert(ledger.position !== undefined, 'a confirmed ledger has a position');
    return ledger.position;
  }

  #callOptions(): CallOptions {
    return { deadlineAtMs: this.#deps.clock.monotonicMs() + this.#options.timeoutMs };
  }
}

function termsAt({ incarnation }: LedgerPosition): TransferTerms {
  return { keyVersion: KEY_VERSION, layoutVersion: ENTRY_LAYOUT_VERSION, incarnation };
}

/** The entry at the beginning of the incarnation. */
function adopted(entry: Entry, incarnation: Incarnation): Entry {
  // A decoded entry's asked text is not among the fields that are copied.
  return { ...entry, askedText: entry.askedText, position: { incarnation, sequence: 0, nonce: 0 } };
}
