import type { JsonObject, JsonValue } from '../cache/json.ts';

/** Strings in a delta that name something and come whole, however often they are repeated. */
const WHOLE_STRINGS: ReadonlySet<string> = new Set(['role', 'id', 'type', 'format', 'object', 'status']);

/**
 * Merges a piece of a message into what came before: texts are joined, lists whose items carry an `index` are merged
 * item by item, other lists are joined, objects are merged member by member, everything else is replaced; null adds nothing.
 */
export function mergeDelta(target: JsonObject, name: string, piece: JsonValue): void {
  const before = target.get(name) ?? null;
  if (piece === null) {
    if (!target.has(name)) target.set(name, null);
  } else if (before === null) {
    target.set(name, Array.isArray(piece) ? mergeItems([], piece) : piece);
  } else if (typeof before === 'string' && typeof piece === 'string') {
    target.set(name, joinsText(name, before, piece) ? before + piece : piece);
  } else if (before instanceof Map && piece instanceof Map) {
    for (const [member, value] of piece) mergeDelta(before, member, value);
  } else if (Array.isArray(before) && Array.isArray(piece)) {
    mergeItems(before, piece);
  } else target.set(name, piece);
}

/**
 * Merges a field beside the delta: the latest value counts, but the field named `concatenated` and lists (log
 * probabilities, tokens) are joined; null adds nothing.
 */
export function mergeLatest(
  target: JsonObject,
  name: string,
  piece: JsonValue,
  options: { readonly concatenated: string },
): void {
  const before = target.get(name) ?? null;
  if (piece === null) {
    if (!target.has(name)) target.set(name, null);
  } else if (Array.isArray(before) && Array.isArray(piece)) {
    for (const item of piece) before.push(item);
  } else if (before instanceof Map && piece instanceof Map) {
    for (const [member, value] of piece) mergeLatest(before, member, value, options);
  } else if (name === options.concatenated && typeof before === 'string' && typeof piece === 'string') {
    target.set(name, before + piece);
  } else target.set(name, piece);
}

/** Some servers repeat a function's whole name in every piece; others cut it into pieces. */
function joinsText(name: string, before: string, piece: string): boolean {
  if (WHOLE_STRINGS.has(name)) return false;
  return name !== 'name' || before !== piece;
}

function mergeItems(target: JsonValue[], pieces: readonly JsonValue[]): JsonValue[] {
  for (const piece of pieces) {
    const index = indexOf(piece);
    const known = index === undefined ? undefined : target.findLast((item) => indexOf(item) === index);
    if (known instanceof Map && piece instanceof Map) {
      for (const [member, value] of piece) mergeDelta(known, member, value);
    } else target.push(piece);
  }
  return target;
}

function indexOf(item: JsonValue): number | undefined {
  const index = item instanceof Map ? item.get('index') : undefined;
  return typeof index === 'number' ? index : undefined;
}
