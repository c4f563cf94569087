import type { IMap, Predicate } from 'hazelcast-client';
import { assert } from '../../runtime/errors.ts';
import type { AttributeRange, PageRequest } from '../../runtime/ports/grid.ts';
import type { ClientPackage } from './cluster-link.ts';
import type { LiveCall } from './deadlines.ts';
import { foreignTypeOnly } from './errors.ts';
import { PartitionPredicate, partitionKeys } from './partition-predicate.ts';
import { attributesAt, POSITION_FIELD, positionAt, readRecord } from './records.ts';

/** A key and what is stored under it. */
export type Row = readonly [key: string, stored: unknown];

export interface RowPage {
  readonly rows: readonly Row[];
  readonly next?: string;
}

/** Where a walk reads. */
export interface WalkSource {
  readonly api: ClientPackage;
  readonly map: IMap<string, unknown>;
  readonly call: LiveCall;
}

const KEY_FIELD = '__key';
/** Rows fetched at once, beyond what a page needs, so that ranges needn't be cut to measure. */
const CHUNK_ROWS_MIN = 256;
const TOKEN = /^([0-9a-f]{8}):(.*)$/s;
const SCAN_TOKEN = /^(\d+):(.*)$/s;
const KEYS_AT_ONCE = 1_024;
/** Partitions that are asked at once: the fewer keys come, the more. */
const PARTITIONS_MIN = 2;
const PARTITIONS_MAX = 64;

/**
 * Partition by partition, and by key within each: an order that nothing changes, and of which members need to look at no
 * more than a page needs.
 */
export async function scanRows(source: WalkSource, partitionCount: number, page: PageRequest): Promise<RowPage> {
  const wanted = page.limit + 1;
  const start = page.after === undefined ? { partition: 0, key: undefined } : parseScanToken(page.after);
  const found: { readonly partition: number; readonly key: string }[] = [];
  let width = PARTITIONS_MIN;
  let next = start.partition;
  while (found.length < wanted && next < partitionCount && source.call.live) {
    const partitions = Array.from({ length: Math.min(width, partitionCount - next) }, (_, at) => next + at);
    const keys = await Promise.all(
      partitions.map((partition) =>
        partitionRowKeys(source, partitionCount, partition === start.partition ? start : { partition, key: undefined }),
      ),
    );
    for (const [at, partition] of partitions.entries())
      for (const key of keys[at] as string[]) found.push({ partition, key });
    next += partitions.length;
    width = Math.min(PARTITIONS_MAX, 2 * width);
  }
  const given = found.slice(0, page.limit);
  const rows = await getMany(
    source.map,
    given.map(({ key }) => key),
  );
  const last = given.at(-1);
  return found.length < wanted || last === undefined ? { rows } : { rows, next: `${last.partition}:${last.key}` };
}

/** The keys of one partition above one of them, in order. */
async function partitionRowKeys(
  { api, map }: WalkSource,
  partitionCount: number,
  above: { readonly partition: number; readonly key: string | undefined },
): Promise<string[]> {
  const { Predicates } = api;
  const target = above.key === undefined ? Predicates.alwaysTrue() : Predicates.greaterThan(KEY_FIELD, above.key);
  const partitionKey = partitionKeys(partitionCount)[above.partition] as string;
  return [...(await map.keySetWithPredicate(new PartitionPredicate(partitionKey, target)))].toSorted(compare);
}

/** The rows of those keys that are there, in their order. */
export async function getMany(map: IMap<string, unknown>, keys: readonly string[]): Promise<Row[]> {
  const stored = new Map<string, unknown>();
  for (let start = 0; start < keys.length; start += KEYS_AT_ONCE) {
    const some = keys.slice(start, start + KEYS_AT_ONCE);
    const rows = await map.getAll(some).catch((error: unknown) => {
      foreignTypeOnly(error);
      return getEach(map, some);
    });
    for (const [key, value] of rows) stored.set(key, value);
  }
  const present = (key: string): boolean => (stored.get(key) ?? null) !== null;
  return keys.filter(present).map((key) => [key, stored.get(key)]);
}

/** One by one, so that a value that the client can't read doesn't hide the others. */
function getEach(map: IMap<string, unknown>, keys: readonly string[]): Promise<Row[]> {
  return Promise.all(keys.map(async (key) => [key, await map.get(key).catch(foreignTypeOnly)] as const));
}

/**
 * The rows of a range of codes by (code, key). Members can't order by both without classes of ours, so the range is cut
 * until a part is small enough to be fetched and ordered here; one code with too many rows is paged by key.
 */
export async function queryRows(source: WalkSource, range: AttributeRange, page: PageRequest): Promise<RowPage> {
  const wanted = page.limit + 1;
  const chunkRowsMax = Math.max(CHUNK_ROWS_MIN, 2 * wanted);
  const reader = new RangeReader(source, range.scope);
  const rows: Row[] = [];
  let from = range.codeFrom;
  if (page.after !== undefined) {
    const { code, key } = parseToken(page.after);
    rows.push(...(await reader.pageAt(code, key, wanted)));
    from = code + 1;
  }
  let width = range.codeTo - from + 1;
  while (rows.length < wanted && from <= range.codeTo && source.call.live) {
    const to = Math.min(range.codeTo, from + width - 1);
    const count = await reader.count(from, to);
    if (count > chunkRowsMax && to > from) {
      width = Math.max(1, Math.floor(((to - from + 1) * chunkRowsMax) / (2 * count)));
      continue;
    }
    if (count > chunkRowsMax) rows.push(...(await reader.pageAt(from, undefined, wanted - rows.length)));
    else if (count > 0) rows.push(...(await reader.all(from, to)));
    from = to + 1;
    width = count === 0 ? range.codeTo - from + 1 : 2 * width;
  }
  return cut(rows, page.limit, (key, stored) => {
    const code = attributesAt(readRecord(stored)?.position ?? '')?.code;
    assert(code !== undefined, 'what a range found has a code');
    return `${code.toString(16).padStart(8, '0')}:${key}`;
  });
}

class RangeReader {
  readonly #source: WalkSource;
  readonly #scope: string;

  constructor(source: WalkSource, scope: string) {
    this.#source = source;
    this.#scope = scope;
  }

  async count(from: number, to: number): Promise<number> {
    const { api, map } = this.#source;
    return (await map.aggregateWithPredicate(api.Aggregators.count(), this.#between(from, to))).toNumber();
  }

  async all(from: number, to: number): Promise<Row[]> {
    const rows = await this.#source.map.entrySetWithPredicate(this.#between(from, to));
    const placed = rows.map((row) => ({ row, position: readRecord(row[1])?.position ?? '' }));
    placed.sort((left, right) => compare(left.position, right.position) || compare(left.row[0], right.row[0]));
    return placed.map(({ row }) => row);
  }

  /** Up to `limit` rows of one code, by key. */
  async pageAt(code: number, afterKey: string | undefined, limit: number): Promise<Row[]> {
    const { Predicates } = this.#source.api;
    const at = Predicates.equal(POSITION_FIELD, positionAt(this.#scope, code));
    const above = afterKey === undefined ? at : Predicates.and(at, Predicates.greaterThan(KEY_FIELD, afterKey));
    return this.#source.map.entrySetWithPredicate(Predicates.paging(above, limit));
  }

  #between(from: number, to: number): Predicate {
    const { Predicates } = this.#source.api;
    return Predicates.between(POSITION_FIELD, positionAt(this.#scope, from), positionAt(this.#scope, to));
  }
}

function cut(rows: readonly Row[], limit: number, tokenOf: (key: string, stored: unknown) => string): RowPage {
  if (rows.length <= limit) return { rows };
  const kept = rows.slice(0, limit);
  const [key, stored] = kept.at(-1) as Row;
  return { rows: kept, next: tokenOf(key, stored) };
}

function parseToken(token: string): { readonly code: number; readonly key: string } {
  const [, code, key] = TOKEN.exec(token) ?? [];
  assert(code !== undefined && key !== undefined, 'a page continues with the token of the page before');
  return { code: Number.parseInt(code, 16), key };
}

function parseScanToken(token: string): { readonly partition: number; readonly key: string } {
  const [, partition, key] = SCAN_TOKEN.exec(token) ?? [];
  assert(partition !== undefined && key !== undefined, 'a scan continues with the token of the page before');
  return { partition: Number(partition), key };
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
