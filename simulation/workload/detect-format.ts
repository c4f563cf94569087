import { RECORD_SCHEMA } from '../../runtime/ports/recording.ts';
import { AZURE_COLUMNS } from './azure-reader.ts';
import { ORACLE_GENERAL } from './binary-readers.ts';
import { separatorOf } from './csv-fields.ts';
import type { TraceFormat } from './trace.ts';

const NUMBERS_LINE = /^[\d \t*]+$/u;
const RECORDS_LOOKED_AT = 64;
const ITEM_BYTES_SOUND = 1_073_741_824;
const NEXT_SOUND = 2n ** 32n;
const NEVER = 2n ** 63n - 1n;
const U32_BYTES = 4;
const U64_BYTES = 8;

/** The beginning of a trace, decompressed. */
export interface TraceHead {
  /** File name without folders and without `.gz` or `.zst`. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** True when `bytes` is all of it. */
  readonly isWhole: boolean;
}

/** What a trace's format seems to be, and what tells; undefined: nothing tells. */
export function detectFormat(head: TraceHead): { readonly format: TraceFormat; readonly why: string } | undefined {
  const name = head.name.toLowerCase();
  if (head.bytes.length === 0) return undefined;
  if (name.includes('oraclegeneral')) return { format: 'oracle-general', why: 'by its name' };
  const lines = textLines(head);
  if (lines === undefined) return binaryFormat(head);
  const [first = ''] = lines;
  if (first.startsWith('{')) return jsonFormat(first);
  if (first === AZURE_COLUMNS.join(',')) return { format: 'azure', why: 'by its header' };
  if (lines.every((line) => NUMBERS_LINE.test(line))) {
    const columns = Math.max(...lines.map((line) => line.trim().split(/\s+/u).length));
    if (columns > 1) return { format: 'arc', why: 'lines of several numbers' };
    if (!name.endsWith('.lis')) return { format: 'lirs', why: 'lines of one number' };
  }
  if (name.endsWith('.lis')) return { format: 'arc', why: 'by its name' };
  if (name.endsWith('.csv') || name.endsWith('.tsv') || first.includes(separatorOf(first))) {
    return { format: 'csv', why: 'lines with separators' };
  }
  return name.endsWith('.trace') ? { format: 'lirs', why: 'by its name' } : undefined;
}

function jsonFormat(first: string): { format: TraceFormat; why: string } {
  if (first.includes(RECORD_SCHEMA) || first.includes('"schema"')) return { format: 'record', why: 'by its header' };
  return { format: 'mooncake', why: 'lines of JSON' };
}

/** The whole lines of a text; undefined: it is none. */
function textLines({ bytes, isWhole }: TraceHead): readonly string[] | undefined {
  for (const byte of bytes) if (byte < 9 || (byte > 13 && byte < 32)) return undefined;
  let text: string;
  try {
    // What was cut off within a character isn't the text's fault.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return undefined;
  }
  const lines = text.replace(/^\uFEFF/u, '').split(/\r?\n/u);
  if (!isWhole && lines.length > 1) lines.pop();
  return lines.filter((line) => line.trim() !== '');
}

/** Records of three widths look much alike; the most telling is tried first. */
function binaryFormat({ bytes, isWhole }: TraceHead): { format: TraceFormat; why: string } {
  if (looksLikeOracle(bytes)) return { format: 'oracle-general', why: 'records of 24 bytes with rising times' };
  if (isWhole && bytes.length % U64_BYTES !== 0 && bytes.length % U32_BYTES === 0) {
    return { format: 'u32', why: 'its length is no multiple of 8' };
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const words = Math.floor(Math.min(bytes.length, RECORDS_LOOKED_AT * U64_BYTES) / U32_BYTES);
  let small = 0;
  for (let word = 0; word < words; word += 1) if (view.getUint32(word * U32_BYTES, true) < 2 ** 28) small += 1;
  // Small 8-byte keys have empty upper halves; keys that are hashes are mostly large in both.
  let empty = 0;
  for (let word = 1; word < words; word += 2) if (view.getUint32(word * U32_BYTES, true) === 0) empty += 1;
  const isU32 = words > 1 && small === words && empty * 4 < words;
  return isU32
    ? { format: 'u32', why: 'small numbers of 4 bytes' }
    : { format: 'u64', why: 'binary, taken for 8-byte keys' };
}

function looksLikeOracle(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records = Math.min(Math.floor(bytes.length / ORACLE_GENERAL.bytes), RECORDS_LOOKED_AT);
  let last = 0;
  let isSized = false;
  for (let record = 0; record < records; record += 1) {
    const at = record * ORACLE_GENERAL.bytes;
    const time = view.getUint32(at + ORACLE_GENERAL.time, true);
    const size = view.getUint32(at + ORACLE_GENERAL.size, true);
    const next = view.getBigInt64(at + ORACLE_GENERAL.next, true);
    const isNext = next === -1n || next === NEVER || (next >= 0n && next < NEXT_SOUND);
    if (time < last || size > ITEM_BYTES_SOUND || !isNext) return false;
    isSized ||= size > 0;
    last = time;
  }
  return isSized;
}
