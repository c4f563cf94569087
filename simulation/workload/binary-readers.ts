import type { TracePlace } from './bad-trace.ts';
import { BatchBuilder } from './batch-builder.ts';
import { KeyTable } from './key-table.ts';
import { FieldChecks, type ReaderOptions, type TraceReader } from './trace-reader.ts';

const U32_BYTES = 4;
const U64_BYTES = 8;
const MS = 1_000;

/** What readers of records of one width share: records that cross chunks are put together. */
abstract class RecordReader implements TraceReader {
  abstract readonly out: BatchBuilder;
  protected readonly keys = new KeyTable();
  protected readonly checks: FieldChecks;
  readonly #width: number;
  #rest = new Uint8Array(0);
  /** Of the record that is being read, from 1. */
  #number = 1;

  constructor(width: number, options: ReaderOptions) {
    this.#width = width;
    this.checks = new FieldChecks(this, options);
  }

  get place(): TracePlace {
    return { unit: 'record', number: this.#number, column: `${this.#rest.length + 1} (byte)` };
  }

  protected abstract record(view: DataView, at: number): void;

  push(chunk: Uint8Array): void {
    const bytes = this.#rest.length === 0 ? chunk : joined(this.#rest, chunk);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const whole = bytes.length - (bytes.length % this.#width);
    for (let at = 0; at < whole; at += this.#width) {
      this.record(view, at);
      this.#number += 1;
    }
    this.#rest = bytes.slice(whole);
  }

  end(): void {
    if (this.#rest.length === 0) return;
    this.checks.fail(undefined, `the last record has ${this.#rest.length} of ${this.#width} bytes`);
  }
}

/** Keys of 4 bytes each, little-endian, and nothing else. */
export class U32Reader extends RecordReader {
  readonly out = new BatchBuilder();

  constructor(options: ReaderOptions) {
    super(U32_BYTES, options);
  }

  protected record(view: DataView, at: number): void {
    this.out.addKey(this.keys.idOfPair(0, view.getUint32(at, true)));
  }
}

/** Keys of 8 bytes each and nothing else; their byte order doesn't matter, since no key is more than itself. */
export class U64Reader extends RecordReader {
  readonly out = new BatchBuilder();

  constructor(options: ReaderOptions) {
    super(U64_BYTES, options);
  }

  protected record(view: DataView, at: number): void {
    this.out.addKey(this.keys.idOfPair(view.getUint32(at + U32_BYTES, true), view.getUint32(at, true)));
  }
}

/** Bytes of a libCacheSim record, and where its fields stand. */
export const ORACLE_GENERAL = { bytes: 24, time: 0, id: 4, size: 12, next: 16 } as const;

/** libCacheSim's oracleGeneral: records of u32 time (s), u64 id, u32 size (bytes), i64 next access (-1 or large: none), little-endian. */
export class OracleGeneralReader extends RecordReader {
  readonly out = new BatchBuilder(['sizes', 'timesMs']);
  #startedAt = Number.NaN;

  constructor(options: ReaderOptions) {
    super(ORACLE_GENERAL.bytes, options);
  }

  protected record(view: DataView, at: number): void {
    const time = this.checks.time('1 (time)', view.getUint32(at + ORACLE_GENERAL.time, true));
    if (Number.isNaN(this.#startedAt)) this.#startedAt = time;
    const low = view.getUint32(at + ORACLE_GENERAL.id, true);
    const high = view.getUint32(at + ORACLE_GENERAL.id + U32_BYTES, true);
    const size = this.checks.size('3 (size)', view.getUint32(at + ORACLE_GENERAL.size, true));
    // Its sign alone: reading it whole makes a big integer of each.
    if (view.getInt32(at + ORACLE_GENERAL.next + U32_BYTES, true) < 0) this.#checkNext(view, at);
    this.out.add({ key: this.keys.idOfPair(high, low), size, timeMs: (time - this.#startedAt) * MS });
  }

  #checkNext(view: DataView, at: number): void {
    const next = view.getBigInt64(at + ORACLE_GENERAL.next, true);
    if (next !== -1n) this.checks.fail('4 (next)', `${next} is less than -1`);
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
