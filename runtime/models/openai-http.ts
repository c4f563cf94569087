import { createHash } from 'node:crypto';
import { Pool } from 'undici';
import { ModelError, RepriseError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Model, ModelCallOptions, ModelReply, ModelRequest, ModelStream } from '../ports/model.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { inClear } from './content-encoding.ts';
import { readEventStream } from './event-stream.ts';
import { parseJsonBytes, readBody, readJsonBody, readRefusal } from './upstream-answer.ts';
import type { UpstreamResponse } from './upstream-answer.ts';
import { UpstreamCall, neverSent } from './upstream-call.ts';
import { UpstreamSlots } from './upstream-slots.ts';
import { parseUpstreamUrl } from './upstream-url.ts';
import type { UpstreamUrl } from './upstream-url.ts';

/** How an OpenAI-compatible upstream is reached and how much it is asked at once. */
export interface OpenAiHttpOptions {
  /** Name in config, for messages and metrics. */
  readonly name: string;
  /** Base URL, with or without `/v1`. */
  readonly url: string;
  /** `service`: every call carries `apiKey`. `forward`: the caller's own credential, and `apiKey` only for calls of our own. */
  readonly auth: 'service' | 'forward';
  /** Empty: none is sent. */
  readonly apiKey: string;
  /** Lower-case name of the header that carries the credential; `authorization` as a bearer token. */
  readonly header: string;
  readonly concurrencyMax: number;
  readonly queueMax: number;
  readonly queueTimeoutMs: number;
  /** Longest call, waiting included; the caller's own deadline may be shorter. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Tries after the first, only where connecting failed. */
  readonly retriesMax: number;
  /** Wait before the first retry; doubles with each. */
  readonly retryDelayMs: number;
  /** Longest pause that the upstream's `Retry-After` may impose. */
  readonly pauseMsMax: number;
  /** Largest answer that isn't streamed. */
  readonly answerBytesMax: number;
  /** Largest event of a stream. */
  readonly eventBytesMax: number;
  /** Largest error body that is passed on. */
  readonly errorBytesMax: number;
  /** How long the list of models is remembered. */
  readonly modelsTtlMs: number;
  readonly modelsTimeoutMs: number;
}

const MIB = 1024 * 1024;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const CREDENTIAL = /^[\x21-\x7e]+$/;
const KEEP_ALIVE_MS = 4_000;
/** Statuses whose `Retry-After` speaks of more than the one call. */
const PAUSING_STATUSES = new Set([429, 503]);

/** Defaults of an upstream; `name` and `url` are always given. */
export const DEFAULT_OPENAI_HTTP_OPTIONS: Omit<OpenAiHttpOptions, 'name' | 'url'> = {
  auth: 'service',
  apiKey: '',
  header: 'authorization',
  concurrencyMax: 256,
  queueMax: 1_024,
  queueTimeoutMs: 30_000,
  timeoutMs: 600_000,
  connectTimeoutMs: 5_000,
  retriesMax: 2,
  retryDelayMs: 50,
  pauseMsMax: 30_000,
  answerBytesMax: 32 * MIB,
  eventBytesMax: 8 * MIB,
  errorBytesMax: MIB,
  modelsTtlMs: 10_000,
  modelsTimeoutMs: 5_000,
};

/** A `Model` behind any OpenAI-compatible server: chat completions, completions, embeddings, models. */
export class OpenAiHttpModel implements Model {
  readonly #clock: Clock;
  readonly #options: OpenAiHttpOptions;
  readonly #url: UpstreamUrl;
  readonly #slots: UpstreamSlots;
  readonly #pool: Pool;
  #names: { readonly atMs: number; readonly list: Promise<readonly string[]> } | undefined;

  /** Errors: `config_invalid`. */
  constructor(deps: { readonly clock: Clock; readonly telemetry: Telemetry }, options: OpenAiHttpOptions) {
    this.#clock = deps.clock;
    this.#options = options;
    this.#url = parseUpstreamUrl(options.url);
    if (options.apiKey !== '' && !CREDENTIAL.test(options.apiKey)) {
      throw new RepriseError(
        'config_invalid',
        `The API key of upstream ${options.name} has characters no header can carry.`,
      );
    }
    const queueGauge = deps.telemetry.gauge('reprise_upstream_queue_items', options.name);
    this.#slots = new UpstreamSlots({ clock: deps.clock, queueGauge }, { ...options, upstream: options.name });
    // The slots bound the calls and our clock times them. An idle connection is closed early, before the upstream's
    // own limit, because a request lost to a closing connection can't be sent again.
    this.#pool = new Pool(this.#url.origin, {
      connections: options.concurrencyMax,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: options.connectTimeoutMs },
    });
  }

  async call(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
    const call = await this.#begin(request, options);
    try {
      const response = await this.#post(call, request, 'application/json');
      return await this.#readReply(response);
    } catch (error) {
      throw call.failure(error);
    } finally {
      call.finish();
    }
  }

  async stream(request: ModelRequest, options: ModelCallOptions): Promise<ModelStream> {
    const call = await this.#begin(request, options);
    let streaming = false;
    try {
      const response = await this.#post(call, request, 'text/event-stream');
      if (isJson(response)) return { kind: 'reply', reply: await this.#readReply(response) };
      const { name, eventBytesMax } = this.#options;
      const events = readEventStream(response.body, call, { upstream: name, eventBytesMax, clock: this.#clock });
      streaming = true;
      return { kind: 'events', events };
    } catch (error) {
      throw call.failure(error);
    } finally {
      if (!streaming) call.finish();
    }
  }

  /** The upstream's own list, remembered for `modelsTtlMs`. Errors: `model_error`, `model_unavailable`, `model_timeout`, `model_invalid_answer`. */
  models(): Promise<readonly string[]> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#names === undefined || nowMs - this.#names.atMs >= this.#options.modelsTtlMs) {
      this.#names = { atMs: nowMs, list: this.#fetchModels(nowMs) };
    }
    return this.#names.list;
  }

  /** Refuses waiting calls and cuts running ones; a node lets its requests finish before. */
  async close(): Promise<void> {
    this.#slots.close();
    await this.#pool.destroy();
  }

  async #begin(request: ModelRequest, options: ModelCallOptions): Promise<UpstreamCall> {
    const { signal } = options;
    const deadlineAtMs = Math.min(options.deadlineAtMs, this.#clock.monotonicMs() + this.#options.timeoutMs);
    const release = await this.#slots.acquire({ signal, deadlineAtMs, lane: this.#lane(request) });
    return new UpstreamCall(this.#clock, this.#options.name, { signal, deadlineAtMs }, release);
  }

  /** A forwarded credential over its quota pauses its owner, not everybody. */
  #lane(request: ModelRequest): string {
    if (this.#options.auth !== 'forward' || request.credential === undefined) return '';
    return createHash('sha256').update(request.credential).digest('hex');
  }

  async #post(call: UpstreamCall, request: ModelRequest, accept: string): Promise<UpstreamResponse> {
    const headers = this.#headers(accept, request.credential);
    headers['content-type'] = 'application/json';
    if (request.traceparent !== undefined && TRACEPARENT.test(request.traceparent)) {
      headers['traceparent'] = request.traceparent;
    }
    const path = this.#url.path(request.operation);
    const response = await this.#send(call, { method: 'POST', path, headers, body: request.body });
    if (response.statusCode >= 200 && response.statusCode < 300) return response;
    throw await this.#refused(response, this.#lane(request));
  }

  async #send(
    call: UpstreamCall,
    message: { method: 'POST' | 'GET'; path: string; headers: Record<string, string>; body?: Uint8Array },
  ): Promise<UpstreamResponse> {
    for (let retry = 0; ; retry += 1) {
      if (call.stopped) throw call.failure(undefined);
      try {
        return inClear(this.#options.name, await this.#pool.request({ ...message, signal: call.stops }));
      } catch (error) {
        if (retry >= this.#options.retriesMax || call.stopped || !neverSent(error)) throw error;
        await this.#clock.sleep(this.#options.retryDelayMs * 2 ** retry, call.signal);
      }
    }
  }

  async #refused(response: UpstreamResponse, lane: string): Promise<ModelError> {
    const { name, errorBytesMax } = this.#options;
    const error = await readRefusal({ upstream: name, bytesMax: errorBytesMax, clock: this.#clock }, response);
    if (error.retryAfterMs !== undefined && PAUSING_STATUSES.has(response.statusCode)) {
      this.#slots.pause(error.retryAfterMs, response.statusCode === 429 ? lane : '');
    }
    return error;
  }

  async #readReply(response: UpstreamResponse): Promise<ModelReply> {
    const body = await readJsonBody(this.#options.name, response, this.#options.answerBytesMax);
    return {
      status: response.statusCode,
      contentType: response.headers['content-type'] ?? 'application/json',
      body,
    };
  }

  #headers(accept: string, callerCredential: string | undefined): Record<string, string> {
    const { auth, apiKey, header } = this.#options;
    const headers: Record<string, string> = { accept, 'accept-encoding': 'identity', 'user-agent': 'reprise' };
    const credential = auth === 'forward' && callerCredential !== undefined ? callerCredential : apiKey;
    if (credential === '') return headers;
    if (!CREDENTIAL.test(credential)) {
      throw new RepriseError('invalid_credential', 'The credential has characters that no header can carry.');
    }
    headers[header] = header === 'authorization' ? `Bearer ${credential}` : credential;
    return headers;
  }

  async #fetchModels(nowMs: number): Promise<readonly string[]> {
    const signal = new AbortController().signal;
    const options = { signal, deadlineAtMs: nowMs + this.#options.modelsTimeoutMs };
    const call = new UpstreamCall(this.#clock, this.#options.name, options, () => {});
    try {
      const headers = this.#headers('application/json', undefined);
      const response = await this.#send(call, { method: 'GET', path: this.#url.modelsPath, headers });
      if (response.statusCode !== 200) throw await this.#refused(response, '');
      const body = await readBody(response, this.#options.answerBytesMax);
      const names = body === undefined ? undefined : modelNames(parseJsonBytes(body)?.value);
      if (names !== undefined) return names;
      throw new ModelError('model_invalid_answer', `The upstream ${this.#options.name} sent no list of models.`);
    } catch (error) {
      throw call.failure(error);
    } finally {
      call.finish();
    }
  }
}

function modelNames(value: unknown): readonly string[] | undefined {
  const list = (value as { data?: unknown } | null | undefined)?.data;
  if (!Array.isArray(list)) return undefined;
  const ids = list.map((item: unknown) => (item as { id?: unknown } | null)?.id);
  return ids.filter((id) => typeof id === 'string');
}

function isJson(response: UpstreamResponse): boolean {
  const mediaType = (response.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}
