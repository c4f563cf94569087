import { ModelError } from '../errors.ts';

/** One server-sent event: its `event:` field (empty when absent) and its payload, `data:` lines joined by line feeds. */
export interface SseEvent {
  readonly type: string;
  /** May be a view on the bytes that were pushed. */
  readonly data: Uint8Array;
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const EMPTY = new Uint8Array(0);
const DATA = [0x64, 0x61, 0x74, 0x61];
const EVENT = [0x65, 0x76, 0x65, 0x6e, 0x74];
const DECODER = new TextDecoder();

/**
 * An incremental parser of `text/event-stream`. Bytes may be split anywhere; CR, LF and CRLF end a line, comments and a
 * byte order mark are skipped. What it holds back is bounded: an event or line above `eventBytesMax` throws `model_invalid_answer`.
 */
export class SseParser {
  readonly #eventBytesMax: number;
  /** Pieces of the line that isn't complete yet. */
  #partial: Uint8Array[] = [];
  #partialBytes = 0;
  #data: Uint8Array[] = [];
  #dataBytes = 0;
  #type = '';
  #firstLine = true;
  /** The last byte seen was a CR: an LF that follows belongs to it. */
  #afterCr = false;

  constructor(options: { readonly eventBytesMax: number }) {
    this.#eventBytesMax = options.eventBytesMax;
  }

  /** The events that these bytes complete, in order. The bytes must not change afterwards. */
  push(chunk: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    let start = 0;
    if (this.#afterCr && chunk.length > 0) {
      if (chunk[0] === LF) start = 1;
      this.#afterCr = false;
    }
    let nextCr = chunk.indexOf(CR, start);
    let nextLf = chunk.indexOf(LF, start);
    while (nextCr >= 0 || nextLf >= 0) {
      const endsWithCr = nextCr >= 0 && (nextLf < 0 || nextCr < nextLf);
      const end = endsWithCr ? nextCr : nextLf;
      this.#line(this.#completeLine(chunk.subarray(start, end)), events);
      start = end + 1;
      if (endsWithCr) {
        if (start === chunk.length) this.#afterCr = true;
        else if (chunk[start] === LF) start += 1;
        nextCr = chunk.indexOf(CR, start);
      }
      if (nextLf >= 0 && nextLf < start) nextLf = chunk.indexOf(LF, start);
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
    return events;
  }

  /** The event that the end of the bytes cut short of its blank line, or undefined. The parser is used up. */
  end(): SseEvent | undefined {
    const events: SseEvent[] = [];
    if (this.#partialBytes > 0) this.#line(this.#completeLine(EMPTY), events);
    this.#dispatch(events);
    return events[0];
  }

  #hold(piece: Uint8Array): void {
    this.#partial.push(piece);
    this.#partialBytes += piece.length;
    this.#checkBound();
  }

  #checkBound(): void {
    if (this.#partialBytes + this.#dataBytes <= this.#eventBytesMax) return;
    throw new ModelError(
      'model_invalid_answer',
      `The upstream sent an event above ${this.#eventBytesMax} bytes; raise eventBytesMax if that is right.`,
    );
  }

  #completeLine(tail: Uint8Array): Uint8Array {
    let line = tail;
    if (this.#partialBytes > 0) {
      this.#partial.push(tail);
      line = concat(this.#partial, this.#partialBytes + tail.length);
      this.#partial = [];
      this.#partialBytes = 0;
    }
    if (!this.#firstLine) return line;
    this.#firstLine = false;
    const hasByteOrderMark = line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf;
    return hasByteOrderMark ? line.subarray(3) : line;
  }

  #line(line: Uint8Array, events: SseEvent[]): void {
    if (line.length === 0) {
      this.#dispatch(events);
      return;
    }
    if (isField(line, DATA)) {
      const value = fieldValue(line, DATA.length);
      this.#data.push(value);
      this.#dataBytes += value.length + 1;
      this.#checkBound();
    } else if (isField(line, EVENT)) {
      this.#type = DECODER.decode(fieldValue(line, EVENT.length));
    }
  }

  #dispatch(events: SseEvent[]): void {
    const [first] = this.#data;
    if (first !== undefined) {
      const data = this.#data.length === 1 ? first : joinLines(this.#data, this.#dataBytes - 1);
      events.push({ type: this.#type, data });
      this.#data = [];
      this.#dataBytes = 0;
    }
    this.#type = '';
  }
}

function isField(line: Uint8Array, name: readonly number[]): boolean {
  if (line.length > name.length && line[name.length] !== COLON) return false;
  for (let index = 0; index < name.length; index += 1) {
    if (line[index] !== name[index]) return false;
  }
  return true;
}

function fieldValue(line: Uint8Array, nameLength: number): Uint8Array {
  const start = nameLength + 1;
  return line.subarray(line[start] === SPACE ? start + 1 : start);
}

function concat(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}

function joinLines(lines: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let offset = 0;
  for (const line of lines) {
    whole.set(line, offset);
    offset += line.length;
    if (offset < bytes) whole[offset] = LF;
    offset += 1;
  }
  return whole;
}
