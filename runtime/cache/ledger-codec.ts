import type { Incarnation, LedgerHead, LedgerMark, LedgerRecord } from '../ports/ledger.ts';
import { assert } from '../errors.ts';

/** A mark as the grid holds it: it counts in its own incarnation only. */
export interface StoredMark extends LedgerMark {
  readonly incarnation: Incarnation;
}

/** `unknown`: written by a version that we don't know, never to be overwritten. `malformed`: nothing that any version wrote. */
export type Unreadable = 'unknown' | 'malformed';

const LAYOUT = 1;
const INCARNATION_BYTES = 16;
const HEAD_FIXED_BYTES = 1 + INCARNATION_BYTES + 8 + 8 + 2;
const RECORD_FIXED_BYTES = 1 + 4 + 2;
const MARK_BYTES = 1 + INCARNATION_BYTES + 8 + 8;
const TWO_32 = 2 ** 32;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The head's bytes in the layout of docs/ledger.md. */
export function encodeHead(head: LedgerHead): Uint8Array {
  const names = head.records.map((record) => encoder.encode(record.name));
  let size = HEAD_FIXED_BYTES;
  for (const name of names) size += RECORD_FIXED_BYTES + name.length;
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  bytes[0] = LAYOUT;
  writeIncarnation(view, 1, head.incarnation);
  writeUint64(view, 17, head.sequence);
  writeUint64(view, 25, head.floor);
  view.setUint16(33, head.records.length);
  let offset = HEAD_FIXED_BYTES;
  for (const [index, record] of head.records.entries()) {
    const name = names[index];
    assert(name !== undefined && name.length <= 0xffff, 'a ledger name is too long for its record');
    assert(record.sequence === head.sequence - head.records.length + 1 + index, 'ledger records are contiguous');
    view.setUint8(offset, record.kind === 'hard' ? 1 : 0);
    view.setUint32(offset + 1, record.nonce);
    view.setUint16(offset + 5, name.length);
    bytes.set(name, offset + RECORD_FIXED_BYTES);
    offset += RECORD_FIXED_BYTES + name.length;
  }
  return bytes;
}

/** Reads a head; a record's sequence follows from its place in the list. */
export function decodeHead(bytes: Uint8Array): LedgerHead | Unreadable {
  if (bytes.length === 0) return 'malformed';
  if (bytes[0] !== LAYOUT) return 'unknown';
  if (bytes.length < HEAD_FIXED_BYTES) return 'malformed';
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const incarnation = readIncarnation(view, 1);
  const sequence = readUint64(view, 17);
  const floor = readUint64(view, 25);
  const count = view.getUint16(33);
  if (count > sequence || (count === 0 && sequence > 0) || floor > sequence) return 'malformed';
  const records: LedgerRecord[] = [];
  let offset = HEAD_FIXED_BYTES;
  for (let index = 0; index < count; index++) {
    if (offset + RECORD_FIXED_BYTES > bytes.length) return 'malformed';
    const start = offset + RECORD_FIXED_BYTES;
    const end = start + view.getUint16(offset + 5);
    if (end > bytes.length) return 'malformed';
    const name = decodeName(bytes.subarray(start, end));
    if (name === undefined) return 'malformed';
    const kind = view.getUint8(offset) === 0 ? 'soft' : 'hard';
    records.push({ name, kind, sequence: sequence - count + 1 + index, nonce: view.getUint32(offset + 1) });
    offset = end;
  }
  return offset === bytes.length ? { incarnation, sequence, floor, records } : 'malformed';
}

/** The mark's bytes in the layout of docs/ledger.md. */
export function encodeMark(mark: StoredMark): Uint8Array {
  const bytes = new Uint8Array(MARK_BYTES);
  const view = new DataView(bytes.buffer);
  bytes[0] = LAYOUT;
  writeIncarnation(view, 1, mark.incarnation);
  writeUint64(view, 17, mark.hard);
  writeUint64(view, 25, mark.soft);
  return bytes;
}

/** Reads a mark. */
export function decodeMark(bytes: Uint8Array): StoredMark | Unreadable {
  if (bytes.length === 0) return 'malformed';
  if (bytes[0] !== LAYOUT) return 'unknown';
  if (bytes.length !== MARK_BYTES) return 'malformed';
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return { incarnation: readIncarnation(view, 1), hard: readUint64(view, 17), soft: readUint64(view, 25) };
}

/** True when a name survives UTF-8 unchanged (no lone surrogate). */
export function isEncodableName(name: string): boolean {
  return decodeName(encoder.encode(name)) === name;
}

/** The 16 hex characters of an incarnation's random. */
export function incarnationRandom(high: number, low: number): string {
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}

function decodeName(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function writeIncarnation(view: DataView, offset: number, incarnation: Incarnation): void {
  writeUint64(view, offset, incarnation.counter);
  view.setUint32(offset + 8, Number.parseInt(incarnation.random.slice(0, 8), 16));
  view.setUint32(offset + 12, Number.parseInt(incarnation.random.slice(8), 16));
}

function readIncarnation(view: DataView, offset: number): Incarnation {
  return {
    counter: readUint64(view, offset),
    random: incarnationRandom(view.getUint32(offset + 8), view.getUint32(offset + 12)),
  };
}

function writeUint64(view: DataView, offset: number, value: number): void {
  view.setUint32(offset, Math.floor(value / TWO_32));
  view.setUint32(offset + 4, value % TWO_32);
}

function readUint64(view: DataView, offset: number): number {
  return view.getUint32(offset) * TWO_32 + view.getUint32(offset + 4);
}
