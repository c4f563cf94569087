import { pipeline, Readable, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ModelError } from '../errors.ts';
import { discard, type UpstreamResponse } from './upstream-answer.ts';

const DECODERS: ReadonlyMap<string, () => Duplex> = new Map<string, () => Duplex>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * A response as if it had come in clear: proxies compress answers though none asked for it. What its reader doesn't take isn't inflated,
 * so that its bounds hold. Fails with `model_invalid_answer` for a good answer in an encoding that can't be read, or in two; a refusal
 * in one keeps its status and loses its body.
 */
export function inClear(upstream: string, response: UpstreamResponse): UpstreamResponse {
  const named = response.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (named === '' || named === 'identity') return response;
  const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = response.headers;
  const decoder = DECODERS.get(named)?.();
  if (decoder !== undefined) {
    pipeline(response.body, decoder, ignore);
    return { statusCode: response.statusCode, headers, body: decoder };
  }
  discard(response.body);
  if (response.statusCode >= 300) return { statusCode: response.statusCode, headers, body: Readable.from([]) };
  throw new ModelError(
    'model_invalid_answer',
    `The upstream ${upstream} answered in the content-encoding ${JSON.stringify(named.slice(0, 40))}, which wasn't asked for and can't be read; let it send its answers in clear.`,
  );
}

/** True for what a decoder says of bytes that aren't of its encoding. */
export function isUndecodable(code: string): boolean {
  return code === 'Z_DATA_ERROR' || code === 'Z_NEED_DICT' || code.startsWith('ERR__ERROR_FORMAT');
}

/** The reader of the decoder hears of every failure. */
function ignore(): void {}
