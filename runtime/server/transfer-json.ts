import { RepriseError } from '../errors.ts';
import type { Incarnation } from '../ports/ledger.ts';
import {
  TRANSFER_ITEMS_MAX,
  type ExportPage,
  type ExportRequest,
  type ImportRequest,
  type TransferItem,
} from '../ports/transfer.ts';

/** Fields of the body of `/admin/export` and `/admin/import`. */
export const EXPORT_MEMBERS: readonly string[] = ['tenant', 'namespace', 'after', 'limit'];
export const IMPORT_MEMBERS: readonly string[] = ['entries', 'adoptInto'];

const AFTER_CHARACTERS_MAX = 4_096;
const RANDOM = /^[0-9a-f]{16}$/;

type Members = ReadonlyMap<string, unknown>;

function invalid(param: string, message: string): RepriseError {
  return new RepriseError('invalid_request', message, { param });
}

function text(members: Members, name: string): string | undefined {
  const value = members.get(name);
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value !== '' && value.length <= AFTER_CHARACTERS_MAX) return value;
  throw invalid(name, `${name} must be a string that isn't empty.`);
}

/** What a page is asked for. */
export function exportRequest(members: Members): ExportRequest {
  const limit = members.get('limit') ?? TRANSFER_ITEMS_MAX;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > TRANSFER_ITEMS_MAX) {
    throw invalid('limit', `limit must be a whole number from 1 to ${TRANSFER_ITEMS_MAX}.`);
  }
  const [tenant, namespace, after] = [text(members, 'tenant'), text(members, 'namespace'), text(members, 'after')];
  return {
    limit,
    ...(tenant !== undefined && { tenant }),
    ...(namespace !== undefined && { namespace }),
    ...(after !== undefined && { after }),
  };
}

/** A page as it is sent: entries as base64. */
export function exportDocument(page: ExportPage): unknown {
  const entries = page.items.map(({ key, value, isStale }) => ({
    key,
    entry: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'),
    ...(isStale && { stale: true }),
  }));
  const { terms, scanned, scannedBytes, next } = page;
  return { terms, entries, scanned, scannedBytes, ...(next !== undefined && { next }) };
}

/** A batch as it was sent. */
export function importRequest(members: Members): ImportRequest {
  const entries = members.get('entries');
  if (!Array.isArray(entries) || entries.length > TRANSFER_ITEMS_MAX) {
    throw invalid('entries', `entries must be an array of at most ${TRANSFER_ITEMS_MAX}.`);
  }
  const items = entries.map(itemOf);
  const adoptInto = members.get('adoptInto');
  return adoptInto === undefined ? { items } : { items, adoptInto: incarnationOf(adoptInto) };
}

function itemOf(value: unknown): TransferItem {
  const { key, entry, stale = false } = (value ?? {}) as Record<string, unknown>;
  if (typeof key !== 'string' || typeof entry !== 'string' || typeof stale !== 'boolean') {
    throw invalid('entries', 'An entry has key (hex), entry (base64) and stale (true or false; may be absent).');
  }
  return { key, value: Buffer.from(entry, 'base64'), isStale: stale };
}

function incarnationOf(value: unknown): Incarnation {
  const { counter, random } = (value ?? {}) as Record<string, unknown>;
  if (typeof counter === 'number' && Number.isSafeInteger(counter) && typeof random === 'string' && RANDOM.test(random))
    return { counter, random };
  throw invalid('adoptInto', 'adoptInto must be {counter, random}, as /admin/transfer gives them.');
}
