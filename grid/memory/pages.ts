import { assert } from '../../runtime/errors.ts';
import type { GridPage, Versioned } from '../../runtime/ports/grid.ts';
import { assertCode, type CodeAndKey, type MemoryItem } from './memory-item.ts';

/** What makes a page of a map's items. */
export interface PageRules {
  readonly limit: number;
  readonly nowMs: number;
  valueOf(item: MemoryItem): Versioned;
  include(item: MemoryItem): boolean;
  /** True for the first item past the range. */
  isLast(item: MemoryItem): boolean;
  token(item: MemoryItem): string;
}

/** The items that fit, as many as a page holds; `next` continues behind the last of them. */
export function makePage(members: Iterable<MemoryItem>, rules: PageRules): GridPage {
  assert(Number.isInteger(rules.limit) && rules.limit > 0, 'a page has a limit of one item at least');
  const items: GridPage['items'][number][] = [];
  let last: MemoryItem | undefined;
  for (const item of members) {
    if (rules.isLast(item)) break;
    if (item.expiresAtMs <= rules.nowMs || !rules.include(item)) continue;
    if (items.length === rules.limit) return { items, next: rules.token(last as MemoryItem) };
    const { key, attributes } = item;
    const { value } = rules.valueOf(item);
    items.push(attributes === undefined ? { key, value } : { key, value, attributes });
    last = item;
  }
  return { items };
}

/** The place that a query's page ended at. */
export function parseCodeAndKey(token: string): CodeAndKey {
  const colon = token.indexOf(':');
  const code = Number(token.slice(0, colon));
  assertCode(code);
  return { code, key: token.slice(colon + 1) };
}

/** The place that a scan's page ended at. */
export function parseSlot(token: string): number {
  const slot = Number(token);
  assert(Number.isSafeInteger(slot), 'a page continues from the token of the page before');
  return slot;
}
