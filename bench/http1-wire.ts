import type { Wire } from './wire.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const STATUS_AT = 9;
const STATUS_CHARACTERS = 3;

/** HTTP/1.1 with one request at a time: enough of it for the answers of the servers of this bench. */
export class Http1Wire implements Wire {
  readonly opening = Buffer.alloc(0);
  #head: Buffer | undefined;
  #left = 0;
  #isChunked = false;
  #isGood = false;

  request(bytes: Buffer): Buffer {
    return bytes;
  }

  receive(data: Buffer, _reply: (bytes: Buffer) => void): 'more' | 'good' | 'bad' {
    let body = data;
    if (this.#left === 0) {
      const known = this.#head === undefined ? data : Buffer.concat([this.#head, data]);
      const end = known.indexOf(HEAD_END);
      if (end < 0) {
        this.#head = known;
        return 'more';
      }
      this.#head = undefined;
      this.#begin(known.toString('latin1', 0, end));
      body = known.subarray(end + HEAD_END.length);
    }
    if (this.#isChunked) {
      const tail = body.subarray(-LAST_CHUNK.length);
      if (!tail.equals(LAST_CHUNK)) return 'more';
      this.#left = 0;
    } else {
      this.#left -= body.length;
      if (this.#left > 0) return 'more';
    }
    this.#isChunked = false;
    return this.#isGood ? 'good' : 'bad';
  }

  #begin(head: string): void {
    this.#isGood = head.slice(STATUS_AT, STATUS_AT + STATUS_CHARACTERS) === '200';
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    this.#isChunked = length === null;
    this.#left = length === null ? Infinity : Number(length[1]);
  }
}

/** One POST, ready to be sent. */
export function http1Request(path: string, headers: Readonly<Record<string, string>>, body: Buffer): Buffer {
  const lines = Object.entries({ host: 'bench', ...headers, 'content-length': String(body.length) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head}\r\n`), body]);
}
