import { assert } from '../errors.ts';
import type { Entry } from '../ports/entry.ts';
import type { Operation } from '../ports/model.ts';

/**
 * One layout, described for readers in any language by docs/entry-layout.md:
 * header, name lengths, names (one UTF-8 text), asked text (UTF-8), payload. Integers and doubles are little-endian.
 */
export const ENTRY_LAYOUT_VERSION = 1;

const MAGIC_AND_VERSION = 0x52_50_45_00 | ENTRY_LAYOUT_VERSION;
const OPERATIONS: readonly Operation[] = ['chat.completions', 'completions', 'embeddings'];
const KINDS = ['body', 'stream'] as const;
const FIXED_NAMES = 10;
const HEADER_BYTES = 120;
const TAGS_MAX = 0xffff;

const AT = {
  magic: 0,
  operation: 4,
  kind: 5,
  tagCount: 6,
  calledAtMs: 8,
  expiresAtMs: 16,
  graceMs: 24,
  cost: 32,
  counter: 40,
  sequence: 48,
  nonce: 56,
  promptTokens: 64,
  completionTokens: 72,
  modelMs: 80,
  firstTokenMs: 88,
  usageEventStart: 96,
  usageEventEnd: 100,
  namesBytes: 104,
  askedTextBytes: 108,
  payloadBytes: 112,
  reserved: 116,
} as const;

const encoder = new TextEncoder();
const namesDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const textDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** An entry as bytes, without its key. Copies the payload once. */
export function encodeEntry(entry: Entry): Uint8Array {
  const names = namesOf(entry);
  const lengthsBytes = names.length * 4;
  const text = encoder.encode(names.join(''));
  const asked = encoder.encode(entry.askedText);
  const { payload } = entry;
  assert(entry.tags.length <= TAGS_MAX, 'an entry has too many tags');
  const bytes = new Uint8Array(HEADER_BYTES + lengthsBytes + text.length + asked.length + payload.length);
  const view = new DataView(bytes.buffer);
  writeHeader(view, entry);
  view.setUint32(AT.namesBytes, text.length, true);
  view.setUint32(AT.askedTextBytes, asked.length, true);
  view.setUint32(AT.payloadBytes, payload.length, true);
  for (let i = 0; i < names.length; i++) view.setUint32(HEADER_BYTES + i * 4, (names[i] as string).length, true);
  let offset = HEADER_BYTES + lengthsBytes;
  bytes.set(text, offset);
  bytes.set(asked, (offset += text.length));
  bytes.set(payload, offset + asked.length);
  return bytes;
}

/**
 * The entry that `encodeEntry` wrote; undefined for an unknown version and for anything malformed. The payload is a
 * view of `bytes`, and the asked text is decoded when it is asked for.
 */
export function decodeEntry(key: string, bytes: Uint8Array): Entry | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint32(AT.magic, false) !== MAGIC_AND_VERSION) return undefined;
  const operation = OPERATIONS[view.getUint8(AT.operation)];
  const kind = KINDS[view.getUint8(AT.kind)];
  if (operation === undefined || kind === undefined) return undefined;
  const tagCount = view.getUint16(AT.tagCount, true);
  const namesAt = HEADER_BYTES + (FIXED_NAMES + tagCount) * 4;
  const askedAt = namesAt + view.getUint32(AT.namesBytes, true);
  const payloadAt = askedAt + view.getUint32(AT.askedTextBytes, true);
  if (payloadAt + view.getUint32(AT.payloadBytes, true) !== bytes.length) return undefined;
  const usageEventStart = view.getUint32(AT.usageEventStart, true);
  const usageEventEnd = view.getUint32(AT.usageEventEnd, true);
  if (usageEventStart > usageEventEnd || usageEventEnd > bytes.length - payloadAt) return undefined;
  if (!numbersAreSound(view)) return undefined;
  const names = readNames(view, bytes, { count: FIXED_NAMES + tagCount, from: namesAt, to: askedAt });
  if (names === undefined) return undefined;
  return new StoredEntry(key, bytes, view, { operation, kind, names, askedAt, payloadAt });
}

/** An entry over its bytes. Every field but the asked text is the object's own. */
class StoredEntry implements Entry {
  readonly key: string;
  readonly operation: Operation;
  readonly kind: 'body' | 'stream';
  readonly contentType: string;
  readonly payload: Uint8Array;
  readonly usageEventStart: number;
  readonly usageEventEnd: number;
  readonly usage: Entry['usage'];
  readonly cost: number;
  readonly calledAtMs: number;
  readonly expiresAtMs: number;
  readonly graceMs: number;
  readonly position: Entry['position'];
  readonly tenant: string;
  readonly namespace: string;
  readonly tags: readonly string[];
  readonly model: string;
  readonly modelVersion: string;
  readonly scope: string;
  readonly provenance: Entry['provenance'];
  readonly #asked: Uint8Array;

  constructor(
    key: string,
    bytes: Uint8Array,
    view: DataView,
    parts: {
      operation: Operation;
      kind: 'body' | 'stream';
      names: readonly string[];
      askedAt: number;
      payloadAt: number;
    },
  ) {
    const [random, tenant, namespace, model, modelVersion, contentType, scope, node, upstream, fingerprint] =
      parts.names as readonly [string, string, string, string, string, string, string, string, string, string];
    this.key = key;
    this.operation = parts.operation;
    this.kind = parts.kind;
    this.contentType = contentType;
    this.payload = bytes.subarray(parts.payloadAt);
    this.usageEventStart = view.getUint32(AT.usageEventStart, true);
    this.usageEventEnd = view.getUint32(AT.usageEventEnd, true);
    this.usage = {
      promptTokens: view.getFloat64(AT.promptTokens, true),
      completionTokens: view.getFloat64(AT.completionTokens, true),
    };
    this.cost = view.getFloat64(AT.cost, true);
    this.calledAtMs = view.getFloat64(AT.calledAtMs, true);
    this.expiresAtMs = view.getFloat64(AT.expiresAtMs, true);
    this.graceMs = view.getFloat64(AT.graceMs, true);
    this.position = {
      incarnation: { counter: view.getFloat64(AT.counter, true), random },
      sequence: view.getFloat64(AT.sequence, true),
      nonce: view.getFloat64(AT.nonce, true),
    };
    this.tenant = tenant;
    this.namespace = namespace;
    this.tags = parts.names.length === FIXED_NAMES ? NO_TAGS : parts.names.slice(FIXED_NAMES);
    this.model = model;
    this.modelVersion = modelVersion;
    this.scope = scope;
    this.provenance = {
      node,
      upstream,
      systemFingerprint: fingerprint,
      modelMs: view.getFloat64(AT.modelMs, true),
      firstTokenMs: view.getFloat64(AT.firstTokenMs, true),
    };
    this.#asked = bytes.subarray(parts.askedAt, parts.payloadAt);
  }

  get askedText(): string {
    return this.#asked.length === 0 ? '' : textDecoder.decode(this.#asked);
  }
}

const NO_TAGS: readonly string[] = Object.freeze([]);

/** Short texts in the order of the layout; tags come last, sorted by nobody. */
function namesOf(entry: Entry): readonly string[] {
  return [
    entry.position.incarnation.random,
    entry.tenant,
    entry.namespace,
    entry.model,
    entry.modelVersion,
    entry.contentType,
    entry.scope,
    entry.provenance.node,
    entry.provenance.upstream,
    entry.provenance.systemFingerprint,
    ...entry.tags,
  ];
}

function writeHeader(view: DataView, entry: Entry): void {
  view.setUint32(AT.magic, MAGIC_AND_VERSION, false);
  view.setUint8(AT.operation, OPERATIONS.indexOf(entry.operation));
  view.setUint8(AT.kind, KINDS.indexOf(entry.kind));
  view.setUint16(AT.tagCount, entry.tags.length, true);
  view.setFloat64(AT.calledAtMs, entry.calledAtMs, true);
  view.setFloat64(AT.expiresAtMs, entry.expiresAtMs, true);
  view.setFloat64(AT.graceMs, entry.graceMs, true);
  view.setFloat64(AT.cost, entry.cost, true);
  view.setFloat64(AT.counter, entry.position.incarnation.counter, true);
  view.setFloat64(AT.sequence, entry.position.sequence, true);
  view.setFloat64(AT.nonce, entry.position.nonce, true);
  view.setFloat64(AT.promptTokens, entry.usage.promptTokens, true);
  view.setFloat64(AT.completionTokens, entry.usage.completionTokens, true);
  view.setFloat64(AT.modelMs, entry.provenance.modelMs, true);
  view.setFloat64(AT.firstTokenMs, entry.provenance.firstTokenMs, true);
  view.setUint32(AT.usageEventStart, entry.usageEventStart, true);
  view.setUint32(AT.usageEventEnd, entry.usageEventEnd, true);
}

/** True unless a double that must be finite isn't; only the expiry may be infinite. */
function numbersAreSound(view: DataView): boolean {
  for (let at: number = AT.calledAtMs; at <= AT.firstTokenMs; at += 8) {
    const value = view.getFloat64(at, true);
    if (!Number.isFinite(value) && !(at === AT.expiresAtMs && value === Infinity)) return false;
  }
  return view.getUint32(AT.reserved, true) === 0;
}

function readNames(
  view: DataView,
  bytes: Uint8Array,
  place: { readonly count: number; readonly from: number; readonly to: number },
): string[] | undefined {
  let text: string;
  try {
    text = namesDecoder.decode(bytes.subarray(place.from, place.to));
  } catch {
    return undefined;
  }
  const names: string[] = [];
  let offset = 0;
  for (let i = 0; i < place.count; i++) {
    const end = offset + view.getUint32(HEADER_BYTES + i * 4, true);
    if (end > text.length) return undefined;
    names.push(text.slice(offset, end));
    offset = end;
  }
  return offset === text.length ? names : undefined;
}
