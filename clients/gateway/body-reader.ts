import type { IncomingMessage } from 'node:http';
import { RepriseError } from '../../runtime/errors.ts';

/** Told once: the body's bytes, or why there are none. */
export type BodyDone = (error: RepriseError | null, body?: Uint8Array) => void;

/** Largest body unless told otherwise: 8 MiB. */
export const BODY_BYTES_MAX = 8 * 1024 * 1024;

/** How many times the limit of a too large body is read and dropped, so that its sender can read the refusal. */
const DISCARD_FACTOR = 8;

const JSON_TYPE = /^application\/(?:json|[a-z0-9.!#$&^_-]+\+json)(?:\s*;|\s*$)/i;

function tooLarge(bytesMax: number): RepriseError {
  return new RepriseError('body_too_large', `The body is larger than ${bytesMax} bytes.`);
}

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i;

/** What stands against reading a body as JSON in UTF-8; undefined: nothing. */
function refusedMedia({ headers }: IncomingMessage): RepriseError | undefined {
  return refusedContentType(headers['content-type']) ?? refusedEncoding(headers['content-encoding']);
}

function refusedEncoding(encoding: string | undefined): RepriseError | undefined {
  if (encoding === undefined || /^(?:identity)?$/i.test(encoding.trim())) return undefined;
  const shown = JSON.stringify(encoding.slice(0, 40));
  return new RepriseError(
    'unsupported_media_type',
    `Send the body uncompressed; content-encoding ${shown} isn't read.`,
  );
}

/**
 * The content type's refusal, or undefined for JSON in UTF-8. Types that a web page can send without asking first (none,
 * text/plain, forms) are refused, so that no page can drive a server on its reader's own machine.
 */
function refusedContentType(contentType: string | undefined): RepriseError | undefined {
  if (contentType === 'application/json') return undefined;
  if (contentType !== undefined && JSON_TYPE.test(contentType)) {
    const charset = CHARSET.exec(contentType)?.[1];
    if (charset === undefined || /^utf-?8$/i.test(charset)) return undefined;
    const shown = JSON.stringify(charset.slice(0, 40));
    return new RepriseError('unsupported_media_type', `Send the body in UTF-8; charset ${shown} isn't read.`);
  }
  return new RepriseError('unsupported_media_type', 'Send the body as content-type: application/json.');
}

/** One upload: at most `bytesMax` bytes are ever held; what comes beyond is dropped as it arrives. */
class Upload {
  readonly #source: IncomingMessage;
  readonly #bytesMax: number;
  readonly #done: BodyDone;
  #refusal: RepriseError | undefined;
  #first: Buffer | undefined;
  #rest: Buffer[] | undefined;
  #bytes = 0;
  #settled = false;

  constructor(source: IncomingMessage, bytesMax: number, refusal: RepriseError | undefined, done: BodyDone) {
    this.#source = source;
    this.#bytesMax = bytesMax;
    this.#refusal = refusal;
    this.#done = done;
  }

  start(): void {
    // Its client left while it was found out who asks: no event comes any more.
    if (this.#source.destroyed) return this.#onCut();
    this.#source.on('data', this.#onData);
    this.#source.on('end', this.#onEnd);
    this.#source.on('error', this.#onCut);
    this.#source.on('close', this.#onCut);
  }

  #settle(error: RepriseError | null, body?: Uint8Array): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#first = undefined;
    this.#rest = undefined;
    this.#source.off('data', this.#onData);
    this.#source.off('end', this.#onEnd);
    this.#source.off('close', this.#onCut);
    this.#done(error, body);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bytesMax) {
      this.#refusal ??= tooLarge(this.#bytesMax);
      this.#first = undefined;
      this.#rest = undefined;
      if (this.#bytes > this.#bytesMax * DISCARD_FACTOR) this.#settle(this.#refusal);
    } else if (this.#refusal !== undefined) {
      return;
    } else if (this.#first === undefined) {
      this.#first = chunk;
    } else {
      this.#rest ??= [this.#first];
      this.#rest.push(chunk);
    }
  };

  readonly #onEnd = (): void => {
    if (this.#refusal !== undefined) this.#settle(this.#refusal);
    else if (this.#first === undefined) this.#settle(new RepriseError('empty_body', 'The body is empty.'));
    else this.#settle(null, this.#rest === undefined ? this.#first : Buffer.concat(this.#rest, this.#bytes));
  };

  readonly #onCut = (): void => {
    this.#settle(new RepriseError('cancelled', 'The client went away before its body was complete.'));
  };
}

/** Whether a request brings a body at all, empty ones aside. */
export function hasBody(source: IncomingMessage): boolean {
  const { headers } = source;
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Reads a JSON body whole, unparsed. Fails with `unsupported_media_type`, `body_too_large`, `empty_body` or `cancelled`. */
export function readBody(source: IncomingMessage, bytesMax: number, done: BodyDone): void {
  const declared = Number(source.headers['content-length'] ?? 0);
  const refusal = refusedMedia(source);
  if (declared > bytesMax * DISCARD_FACTOR) {
    done(refusal ?? tooLarge(bytesMax));
    return;
  }
  const lengthRefusal = declared > bytesMax ? tooLarge(bytesMax) : undefined;
  new Upload(source, bytesMax, refusal ?? lengthRefusal, done).start();
}
