import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { ERROR_KINDS, RepriseError } from '../../../runtime/errors.ts';
import type { ImportCounts, TransferTerms } from '../../../runtime/ports/transfer.ts';
import { CommandFailure } from '../exit.ts';
import type { EntryLine } from './entries-file.ts';

/** A page as a node sends it. */
export interface SentPage {
  readonly terms: TransferTerms;
  readonly entries: readonly EntryLine[];
  readonly scanned: number;
  readonly scannedBytes: number;
  readonly next?: string;
}

export interface NodeTransferOptions {
  /** HTTP address of the node. */
  readonly url: string;
  readonly credential?: string;
  readonly signal: AbortSignal;
  /** Before the second try; doubled for each further one. */
  readonly backOffMs?: number;
}

const BACK_OFF_MS = 250;
const TRIES = 6;
/** Longer than the node gives itself. */
const ANSWER_TIMEOUT_MS = 40_000;
const OK = 200;

/** The admin routes of a node that carry entries; a call that may succeed later is tried again. */
export class NodeTransfer {
  readonly #options: NodeTransferOptions;

  constructor(options: NodeTransferOptions) {
    this.#options = options;
  }

  async terms(): Promise<TransferTerms> {
    return (await this.#call('GET', '/admin/transfer')) as TransferTerms;
  }

  async page(query: {
    readonly tenant?: string;
    readonly namespace?: string;
    readonly after?: string;
    readonly limit: number;
  }): Promise<SentPage> {
    return (await this.#call('POST', '/admin/export', query)) as SentPage;
  }

  async offer(batch: {
    readonly entries: readonly EntryLine[];
    readonly adoptInto?: TransferTerms['incarnation'];
  }): Promise<ImportCounts> {
    return (await this.#call('POST', '/admin/import', batch)) as ImportCounts;
  }

  async #call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
    const { signal, backOffMs = BACK_OFF_MS } = this.#options;
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.#once(method, path, body);
      } catch (error) {
        if (signal.aborted) throw new RepriseError('cancelled', 'It was interrupted.', { cause: error });
        if (tried === TRIES || !isPassing(error)) throw error;
        await sleep(backOffMs * 2 ** (tried - 1), undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #once(method: 'GET' | 'POST', path: string, body: unknown): Promise<unknown> {
    const { url, credential, signal } = this.#options;
    let status: number;
    let text: string;
    try {
      const answer = await request(new URL(path, url), {
        method,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        headersTimeout: ANSWER_TIMEOUT_MS,
        bodyTimeout: ANSWER_TIMEOUT_MS,
        signal,
      });
      status = answer.statusCode;
      text = await answer.body.text();
    } catch (cause) {
      throw new RepriseError('unreachable', `No Reprise answers at ${url}. Name another with --url.`, { cause });
    }
    const document = parsed(text);
    if (status === OK && document !== undefined) return document;
    const { error } = (document ?? {}) as { readonly error?: { readonly code?: unknown; readonly message?: unknown } };
    if (typeof error?.code === 'string' && typeof error.message === 'string') {
      throw new CommandFailure(error.code, error.message, undefined);
    }
    throw new CommandFailure('unreachable', `What answers at ${url} is no Reprise (HTTP ${status}).`, undefined);
  }
}

/** True for a failure that may be over when it is tried again. */
function isPassing(error: unknown): boolean {
  if (error instanceof RepriseError) return error.code === 'unreachable';
  if (!(error instanceof CommandFailure)) return false;
  const { code } = error;
  return code !== 'unreachable' && code in ERROR_KINDS && ERROR_KINDS[code as keyof typeof ERROR_KINDS].retryable;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
