import { existsSync } from 'node:fs';
import { request } from 'undici';
import { RepriseError } from '../../../runtime/errors.ts';
import type { RecordingStatus, RecordingTerms } from '../../../runtime/ports/recording.ts';
import { CommandFailure } from '../exit.ts';
import { httpGet, jsonOf } from '../http-get.ts';
import { LineFile } from './line-file.ts';

export interface RecordToFileOptions {
  /** HTTP address of the node. */
  readonly url: string;
  readonly credential?: string;
  readonly path: string;
  /** Whether a file that is there may be replaced. */
  readonly force: boolean;
  /** Of lines, before compression. */
  readonly bytesMax: number;
  readonly terms: RecordingTerms;
  /** Ends the recording; what came until then is kept. */
  readonly signal: AbortSignal;
  readonly onBegun: () => void;
}

/** What a recording came to. */
export interface Recorded {
  readonly path: string;
  readonly requests: number;
  /** Requests that are missing, by the node's count. */
  readonly dropped: number;
  readonly bytes: number;
}

const ANSWER_TIMEOUT_MS = 5_000;
const OK = 200;

/**
 * Takes a recording from a node into a file for its owner only, under another name until it is whole. Fails with `unreachable`,
 * with `cancelled` where it is ended before the node has begun,
 * with the node's own refusal, or with `data_invalid` where the file can't be written or is there already: nothing is recorded then.
 */
export async function recordToFile(options: RecordToFileOptions): Promise<Recorded> {
  const { url, path, signal, bytesMax } = options;
  if (!options.force && existsSync(path)) {
    throw new RepriseError('data_invalid', `${path} is there already. Name another file, or replace it with --force.`);
  }
  const leave = new AbortController();
  let cut: unknown;
  const file = await LineFile.fill(path, bytesMax, async (lines) => {
    const body = await begin(options, AbortSignal.any([signal, leave.signal]));
    options.onBegun();
    try {
      for await (const chunk of body) {
        await lines.take(chunk);
        if (lines.isFull) break;
      }
    } catch (error) {
      if (lines.failure !== undefined) throw lines.failure;
      if (!signal.aborted) cut = error;
    } finally {
      leave.abort();
    }
  });
  if (cut !== undefined) {
    const kept = `${file.lines} lines until then are in ${path}`;
    throw new RepriseError('unreachable', `${url} broke the recording off (${kept}).`, { cause: cut });
  }
  const dropped = await droppedAt(options);
  return { path, requests: Math.max(0, file.lines - 1), dropped, bytes: file.bytes };
}

async function begin(
  { url, terms, credential }: RecordToFileOptions,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { statusCode, body } = await request(new URL('/admin/record', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorization(credential) },
    body: JSON.stringify(terms),
    headersTimeout: ANSWER_TIMEOUT_MS,
    signal,
  }).catch((cause: unknown) => {
    if (signal.aborted) throw new RepriseError('cancelled', 'Ended before the recording began; there is no file.');
    throw new RepriseError('unreachable', `No Reprise answers at ${url}. Name another with --url.`, { cause });
  });
  if (statusCode === OK) return body;
  throw refusal(await jsonOf(body), statusCode);
}

/** The node's own words, where it has any. */
function refusal(json: unknown, status: number): Error {
  const { error } = (json ?? {}) as { readonly error?: { readonly code?: unknown; readonly message?: unknown } };
  if (typeof error?.code === 'string' && typeof error.message === 'string')
    return new CommandFailure(error.code, error.message, undefined);
  return new RepriseError('unreachable', `What answers there is no Reprise that can be recorded (HTTP ${status}).`);
}

/** The node's count; where it can't be had any more, nothing is known to be missing. */
async function droppedAt({ url, credential }: RecordToFileOptions): Promise<number> {
  try {
    const call = { headers: authorization(credential), timeoutMs: ANSWER_TIMEOUT_MS };
    const { json } = await httpGet(new URL('/admin/recording', url).href, call);
    const { dropped } = (json ?? {}) as Partial<RecordingStatus>;
    return typeof dropped === 'number' ? dropped : 0;
  } catch {
    return 0;
  }
}

function authorization(credential: string | undefined): Record<string, string> {
  return credential === undefined ? {} : { authorization: `Bearer ${credential}` };
}
