import type { JsonObject, JsonValue } from '../cache/json.ts';

/** Strings in a delta that name something and come whole, however often they are repeated. */
const WHOLE_STRINGS: ReadonlySet<string> = new Set(['role', 'id', 'type', 'format', 'object', 'status']);

/**
 * Merges a piece of a message into what came before: texts are joined, tool calls and lists whose items carry an
 * `index` are merged item by item, other lists are joined, objects are merged member by member, everything else is
 * replaced; null adds nothing. Where `content` comes both as text and as parts, the text becomes a part.
 */
export function mergeDelta(target: JsonObject, name: string, piece: JsonValue): void {
  const before = target.get(name) ?? null;
  if (piece === null) {
    if (!target.has(name)) target.set(name, null);
  } else if (before === null) {
    target.set(name, Array.isArray(piece) ? mergeList(name, [], piece) : piece);
  } else if (typeof before === 'string' && typeof piece === 'string') {
    if (piece !== '') target.set(name, joinsText(name, before, piece) ? before + piece : piece);
  } else if (before instanceof Map && piece instanceof Map) {
    for (const [member, value] of piece) mergeDelta(before, member, value);
  } else if (Array.isArray(before) && Array.isArray(piece)) {
    mergeList(name, before, piece);
  } else if (name === 'content' && typeof before === 'string' && Array.isArray(piece)) {
    target.set(name, mergeItems(before === '' ? [] : [textPart(before)], piece));
  } else if (name === 'content' && Array.isArray(before) && typeof piece === 'string') {
    if (piece !== '') before.push(textPart(piece));
  } else target.set(name, piece);
}

function textPart(text: string): JsonObject {
  return new Map<string, JsonValue>([
    ['type', 'text'],
    ['text', text],
  ]);
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

function mergeList(name: string, target: JsonValue[], pieces: readonly JsonValue[]): JsonValue[] {
  return name === 'tool_calls' ? mergeCalls(target, pieces) : mergeItems(target, pieces);
}

function mergeCalls(target: JsonValue[], pieces: readonly JsonValue[]): JsonValue[] {
  for (const piece of pieces) {
    const known = piece instanceof Map ? continuedCall(target, piece) : undefined;
    if (known !== undefined && piece instanceof Map) {
      for (const [member, value] of piece) mergeDelta(known, member, value);
    } else target.push(piece);
  }
  return target;
}

/**
 * The call that a piece continues; undefined when it begins one. Some servers number every call 0 and tell calls
 * apart by `id`; others send neither: then the piece that names a function begins a call.
 */
function continuedCall(calls: readonly JsonValue[], piece: JsonObject): JsonObject | undefined {
  const index = indexOf(piece);
  const id = nameOf(piece, 'id');
  if (index === undefined && id === '') {
    const last = calls[calls.length - 1];
    const fn = piece.get('function');
    return last instanceof Map && !(fn instanceof Map && nameOf(fn, 'name') !== '') ? last : undefined;
  }
  return calls.findLast((call): call is JsonObject => {
    if (!(call instanceof Map) || (index !== undefined && indexOf(call) !== index)) return false;
    const knownId = nameOf(call, 'id');
    return id === '' || knownId === id || (knownId === '' && index !== undefined);
  });
}

function nameOf(object: JsonObject, member: string): string {
  const name = object.get(member);
  return typeof name === 'string' ? name : '';
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
