import type { TracePlace } from './bad-trace.ts';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** U+FEFF in UTF-8, which some programs put at the head of a text. */
const MARK = [0xef, 0xbb, 0xbf] as const;

/** Longest line that is taken, bytes: what is longer is no line. */
export const LINE_BYTES_MAX = 4 * 1_024 * 1_024;

/** Bytes of one line, without its end. */
export type OnLine = (bytes: Uint8Array, start: number, end: number) => void;

/** Cuts chunks into lines, passing over a byte order mark before the first. A line within a chunk isn't copied; only one that crosses chunks is put together. */
export class Lines {
  readonly #onLine: OnLine;
  readonly #onTooLong: () => never;
  #rest: Uint8Array[] = [];
  #restBytes = 0;
  #number = 1;

  constructor(onLine: OnLine, onTooLong: () => never) {
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end === -1) break;
      if (this.#restBytes > 0) this.#joined(chunk.subarray(start, end));
      else this.#line(chunk, start, end);
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.slice(start));
  }

  /** A last line needs no end. */
  end(): void {
    if (this.#restBytes > 0) this.#joined(new Uint8Array(0));
  }

  /** Where reading stands, also when a line is cut off. */
  get place(): TracePlace {
    return { unit: 'line', number: this.#number, column: `${this.#restBytes + 1} (byte)` };
  }

  #keep(part: Uint8Array): void {
    this.#rest.push(part);
    this.#restBytes += part.length;
    if (this.#restBytes > LINE_BYTES_MAX) this.#onTooLong();
  }

  #joined(last: Uint8Array): void {
    const whole = new Uint8Array(this.#restBytes + last.length);
    let at = 0;
    for (const part of [...this.#rest, last]) {
      whole.set(part, at);
      at += part.length;
    }
    this.#rest = [];
    this.#restBytes = 0;
    this.#line(whole, 0, whole.length);
  }

  #line(bytes: Uint8Array, start: number, end: number): void {
    if (end - start > LINE_BYTES_MAX) this.#onTooLong();
    const trimmed = end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
    this.#onLine(bytes, this.#number === 1 && hasMark(bytes, start, trimmed) ? start + MARK.length : start, trimmed);
    this.#number += 1;
  }
}

function hasMark(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start >= MARK.length && MARK.every((byte, at) => bytes[start + at] === byte);
}
