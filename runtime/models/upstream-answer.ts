import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { ModelError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';

/** The parts of an HTTP response that the adapters read. */
export interface UpstreamResponse {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The value of a JSON document in UTF-8, or undefined when the bytes aren't one. */
export function parseJsonBytes(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(STRICT_UTF8.decode(bytes)) as unknown };
  } catch {
    return undefined;
  }
}

/** The whole body, or undefined past `bytesMax`: then the connection is closed. Throws what the network throws. */
export async function readBody(response: UpstreamResponse, bytesMax: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const announced = Number(response.headers['content-length'] ?? 0);
  if (announced > bytesMax) {
    discard(response.body);
    return undefined;
  }
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      discard(response.body);
      return undefined;
    }
    chunks.push(chunk);
  }
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, bytes);
}

/** Closes the connection that a body comes by. */
export function discard(body: Readable): void {
  body.on('error', () => {});
  body.destroy();
}

/** The body of a 2xx answer that must be one JSON document. Errors: `model_invalid_answer`. */
export async function readJsonBody(
  upstream: string,
  response: UpstreamResponse,
  bytesMax: number,
): Promise<Uint8Array> {
  const body = await readBody(response, bytesMax);
  if (body === undefined) {
    throw new ModelError(
      'model_invalid_answer',
      `The upstream ${upstream} sent an answer above ${bytesMax} bytes; raise answerBytesMax if that is right.`,
    );
  }
  if (parseJsonBytes(body) === undefined) {
    throw new ModelError('model_invalid_answer', `The upstream ${upstream} answered with something that isn't JSON.`);
  }
  return body;
}

/** What a response other than 2xx says, as an error that carries its status and, up to `bytesMax`, its body. */
export async function readRefusal(
  options: { readonly upstream: string; readonly bytesMax: number; readonly clock: Clock },
  response: UpstreamResponse,
): Promise<ModelError> {
  const body = await readBody(response, options.bytesMax);
  const retryAfterMs = parseRetryAfter(response.headers, options.clock.wallMs());
  return new ModelError(
    'model_error',
    `The upstream ${options.upstream} answered with status ${response.statusCode}.`,
    {
      status: response.statusCode,
      ...(body !== undefined && body.length > 0 ? { body } : {}),
      ...(response.headers['content-type'] === undefined ? {} : { contentType: response.headers['content-type'] }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  );
}

/** How long the upstream asks for quiet, milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function parseRetryAfter(headers: IncomingHttpHeaders, nowMs: number): number | undefined {
  const milliseconds = headers['retry-after-ms'];
  if (typeof milliseconds === 'string' && /^\d{1,12}(\.\d+)?$/.test(milliseconds))
    return Math.ceil(Number(milliseconds));
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  if (/^\d{1,9}(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1_000);
  const dateMs = Date.parse(value);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
