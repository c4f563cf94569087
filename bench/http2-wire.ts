import type { Wire } from './wire.ts';

const FRAME_HEAD_BYTES = 9;
const FRAME_BYTES_MAX = 16_384;
const DATA = 0x0;
const HEADERS = 0x1;
const RST_STREAM = 0x3;
const SETTINGS = 0x4;
const PING = 0x6;
const GOAWAY = 0x7;
const WINDOW_UPDATE = 0x8;
const END_STREAM = 0x1;
const ACK = 0x1;
const END_HEADERS = 0x4;
const INITIAL_WINDOW_SIZE = 0x4;
const WINDOW_MAX = 0x7fff_ffff;
const WINDOW_DEFAULT = 65_535;
const NOTHING = Buffer.alloc(0);
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const DYNAMIC_TABLE_AT = 62;
const METHOD_POST = 0x83;
const SCHEME_HTTP = 0x86;

/** gRPC over HTTP/2 with one call at a time on a connection: as little of it as a load needs. */
export class Http2Wire implements Wire {
  readonly opening: Buffer;
  readonly #firstHeaders: Buffer;
  readonly #laterHeaders: Buffer;
  #stream = -1;
  #rest: Buffer = NOTHING;
  #hasAnswer = false;
  #window = WINDOW_DEFAULT;

  constructor(path: string, headers: Readonly<Record<string, string>>) {
    const settings = Buffer.alloc(6);
    settings.writeUInt16BE(INITIAL_WINDOW_SIZE, 0);
    settings.writeUInt32BE(WINDOW_MAX, 2);
    const more = Buffer.alloc(4);
    more.writeUInt32BE(WINDOW_MAX - WINDOW_DEFAULT);
    this.opening = Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, settings), frame(WINDOW_UPDATE, 0, 0, more)]);
    const fields = Object.entries({ ':path': path, ':authority': 'bench', ...headers });
    const prefix = Buffer.from([METHOD_POST, SCHEME_HTTP]);
    this.#firstHeaders = Buffer.concat([prefix, ...fields.map(([name, value]) => indexedField(name, value))]);
    // The field that was put in last has the lowest index.
    const indexes = fields.map((_field, at) => 0x80 | (DYNAMIC_TABLE_AT + fields.length - 1 - at));
    this.#laterHeaders = Buffer.concat([prefix, Buffer.from(indexes)]);
  }

  request(message: Buffer): Buffer {
    const headers = this.#stream < 0 ? this.#firstHeaders : this.#laterHeaders;
    this.#stream += 2;
    this.#hasAnswer = false;
    this.#window -= message.length;
    if (this.#window < 0) throw new Error('The server leaves no room for another call.');
    const frames = [frame(HEADERS, END_HEADERS, this.#stream, headers)];
    for (let at = 0; at < message.length; at += FRAME_BYTES_MAX) {
      const part = message.subarray(at, at + FRAME_BYTES_MAX);
      frames.push(frame(DATA, at + part.length === message.length ? END_STREAM : 0, this.#stream, part));
    }
    return Buffer.concat(frames);
  }

  receive(data: Buffer, reply: (bytes: Buffer) => void): 'more' | 'good' | 'bad' {
    const bytes = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    let at = 0;
    let verdict: 'more' | 'good' | 'bad' = 'more';
    while (bytes.length - at >= FRAME_HEAD_BYTES) {
      const end = at + FRAME_HEAD_BYTES + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const told = this.#take(bytes, at, end, reply);
      if (told !== 'more') verdict = told;
      at = end;
    }
    this.#rest = at === bytes.length ? NOTHING : bytes.subarray(at);
    return verdict;
  }

  #take(bytes: Buffer, at: number, end: number, reply: (bytes: Buffer) => void): 'more' | 'good' | 'bad' {
    const type = bytes[at + 3];
    const flags = bytes[at + 4] ?? 0;
    const stream = bytes.readUInt32BE(at + 5);
    const payload = bytes.subarray(at + FRAME_HEAD_BYTES, end);
    switch (type) {
      case DATA:
        // An answer that failed has no message; its status need not be read to tell.
        if (payload.length > 0) this.#hasAnswer = true;
        return this.#endOf(flags);
      case HEADERS:
        return this.#endOf(flags);
      case SETTINGS:
        if ((flags & ACK) === 0) reply(frame(SETTINGS, ACK, 0, NOTHING));
        return 'more';
      case PING:
        if ((flags & ACK) === 0) reply(frame(PING, ACK, 0, payload));
        return 'more';
      case WINDOW_UPDATE:
        if (stream === 0) this.#window += payload.readUInt32BE(0);
        return 'more';
      case RST_STREAM:
      case GOAWAY:
        return 'bad';
      default:
        return 'more';
    }
  }

  #endOf(flags: number): 'more' | 'good' | 'bad' {
    if ((flags & END_STREAM) === 0) return 'more';
    return this.#hasAnswer ? 'good' : 'bad';
  }
}

/** One message as gRPC frames it. */
export function grpcMessage(message: Uint8Array): Buffer {
  const bytes = Buffer.alloc(5 + message.length);
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, 5);
  return bytes;
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEAD_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  payload.copy(bytes, FRAME_HEAD_BYTES);
  return bytes;
}

/** A literal header field that goes into the dynamic table; names and values are short and not compressed. */
function indexedField(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0x40, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
}
