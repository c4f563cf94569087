import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Where one answer goes: a Fastify reply, whose hooks see it, or the bare response. */
export interface ReplyTarget {
  readonly incoming: IncomingMessage;
  readonly raw: ServerResponse;
  /** Sets a header of the answer; names in lower case, each once. */
  set(name: string, value: string): void;
  /** Takes back what was set. */
  drop(names: readonly string[]): void;
  /** The whole answer; its length is told. */
  send(status: number, body: Uint8Array | string): void;
  /** The head of an answer whose body the caller writes to `raw`. */
  open(status: number): void;
}

/** Answers through Fastify. */
export class FastifyTarget implements ReplyTarget {
  readonly incoming: IncomingMessage;
  readonly raw: ServerResponse;
  readonly #reply: FastifyReply;

  constructor(incoming: IncomingMessage, reply: FastifyReply) {
    this.incoming = incoming;
    this.raw = reply.raw;
    this.#reply = reply;
  }

  set(name: string, value: string): void {
    void this.#reply.header(name, value);
  }

  drop(names: readonly string[]): void {
    for (const name of names) void this.#reply.removeHeader(name);
    // A refusal whose upload was read to its end leaves the connection usable.
    if (this.incoming.complete) void this.#reply.removeHeader('connection');
  }

  send(status: number, body: Uint8Array | string): void {
    if (status !== 200) void this.#reply.code(status);
    void this.#reply.send(typeof body === 'string' ? body : bufferOf(body));
  }

  /** Takes the socket over, keeping the headers that hooks of the host have set. */
  open(status: number): void {
    this.raw.writeHead(status, this.#reply.getHeaders() as Record<string, string>);
    this.#reply.hijack();
  }
}

/** A body up to this size is copied behind its head and leaves with it in one write. */
const ONE_WRITE_BYTES_MAX = 32_768;
/** An upload up to this size isn't worth a connection. */
const DROPPED_BYTES_MAX = 65_536;

/** Answers on the bare response: no hooks, no serialisers, one write. */
export class DirectTarget implements ReplyTarget {
  readonly incoming: IncomingMessage;
  readonly raw: ServerResponse;
  /** Name, value, name, value … */
  #headers: string[] = [];

  constructor(incoming: IncomingMessage, response: ServerResponse) {
    this.incoming = incoming;
    this.raw = response;
  }

  set(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  drop(names: readonly string[]): void {
    const kept: string[] = [];
    for (let at = 0; at < this.#headers.length; at += 2) {
      const [name = '', value = ''] = this.#headers.slice(at, at + 2);
      if (!names.includes(name)) kept.push(name, value);
    }
    this.#headers = kept;
  }

  send(status: number, body: Uint8Array | string): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : bufferOf(body);
    this.#headers.push('content-length', String(bytes.length));
    if (this.#leavesUpload()) this.#headers.push('connection', 'close');
    this.raw.writeHead(status, this.#headers);
    // As text of one byte a character the body joins its head; as bytes it would be a write of its own.
    if (bytes.length <= ONE_WRITE_BYTES_MAX) this.raw.end(bytes.toString('latin1'), 'latin1');
    else this.raw.end(bytes);
  }

  open(status: number): void {
    this.raw.writeHead(status, this.#headers);
  }

  /** A small rest of an upload is read and dropped by the server itself; a large or an unknown one ends the connection. */
  #leavesUpload(): boolean {
    if (this.incoming.complete) return false;
    const { headers } = this.incoming;
    if (headers['transfer-encoding'] !== undefined) return true;
    return Number(headers['content-length'] ?? 0) > DROPPED_BYTES_MAX;
  }
}

function bufferOf(body: Uint8Array): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
