import { Client, Metadata, connectivityState, credentials } from '@grpc/grpc-js';
import type { CallOptions, ChannelCredentials } from '@grpc/grpc-js';
import * as wire from '../../proto/gen/reprise/v1/inference_cache.ts';
import { openStream } from './answer-stream.ts';
import { RepriseClientError, clientError } from './client-error.ts';
import {
  explanationFrom,
  feedbackMessage,
  inferMessage,
  invalidateMessage,
  invalidatedFrom,
  lookupFrom,
  replyFrom,
  statsFrom,
  statusFrom,
} from './messages.ts';
import type {
  CacheStatus,
  CallSettings,
  Explanation,
  Feedback,
  InferInput,
  InferReply,
  InferSettings,
  InferStream,
  InvalidateReply,
  InvalidateSettings,
  InvalidationTarget,
  LookupReply,
  Stats,
} from './types.ts';

/** Where a server is and how to talk to it. */
export interface ConnectOptions {
  /** `host:port`. */
  readonly address: string;
  /** Sent with each call as `authorization: Bearer …`. */
  readonly credential?: string;
  /** True, or with a certificate authority of one's own (PEM). Absent: plaintext. */
  readonly tls?: boolean | { readonly ca: Uint8Array };
  /** For calls that may run a model; 10 min unless told. */
  readonly inferTimeoutMs?: number;
  /** For all other calls; 10 s unless told. */
  readonly timeoutMs?: number;
  /** Larger answers fail with `body_too_large`; 64 MiB unless told. */
  readonly answerBytesMax?: number;
}

const INFER_TIMEOUT_MS = 600_000;
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;
/** A wait that may last as long as a sound connection needs to notice that a server is back. */
const RECONNECT_BACKOFF_MS_MAX = 5_000;

const CREDENTIAL = /^[\x21-\x7e]+$/;

const METHODS = wire.InferenceCacheService;

interface Codec<Request, Response> {
  readonly path: string;
  readonly requestType: { encode(message: Request): { finish(): Uint8Array } };
  readonly responseType: { decode(bytes: Uint8Array): Response };
}

/** A connection to a Reprise server over gRPC. Each method throws `RepriseClientError`. */
export class RepriseClient {
  readonly #options: ConnectOptions;
  readonly #client: Client;

  constructor(options: ConnectOptions) {
    this.#options = options;
    this.#client = new Client(options.address, channelCredentials(options.tls), {
      'grpc.max_receive_message_length': options.answerBytesMax ?? ANSWER_BYTES_MAX,
      'grpc.keepalive_time_ms': KEEPALIVE_MS,
      'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
      'grpc.max_reconnect_backoff_ms': RECONNECT_BACKOFF_MS_MAX,
      'grpc.service_config_disable_resolution': 1,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_channelz': 0,
    });
  }

  /** Answers from memory, else runs the model, once for all who ask the same at the time. */
  async infer(request: InferInput, settings: InferSettings = {}): Promise<InferReply> {
    return replyFrom(await this.#call(INFER, inferMessage(request, settings), settings, this.#inferTimeoutMs));
  }

  /** The same as a stream; resolves with the first byte. */
  async inferStream(request: InferInput, settings: InferSettings = {}): Promise<InferStream> {
    const { signal } = settings;
    refuseAborted(signal);
    const call = this.#client.makeServerStreamRequest(
      METHODS.inferStream.path,
      (message: wire.InferRequest) => encoded(wire.InferRequest, message),
      (bytes) => wire.InferStreamResponse.decode(bytes),
      inferMessage(request, settings),
      this.#metadata(settings),
      callOptions(settings.timeoutMs ?? this.#inferTimeoutMs),
    );
    const cancel = (): void => call.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    return openStream(call, () => signal?.removeEventListener('abort', cancel));
  }

  /** A stored answer; never runs a model, fails with `not_cached`. */
  async lookup(request: InferInput, settings: InferSettings = {}): Promise<LookupReply> {
    return lookupFrom(await this.#call(LOOKUP, inferMessage(request, settings), settings));
  }

  /** Puts an answer that the caller has into the cache. Needs the role `write`. */
  async store(request: InferInput, answer: InferInput, settings: InferSettings = {}): Promise<CacheStatus> {
    const bytes = answer instanceof Uint8Array ? answer : new TextEncoder().encode(JSON.stringify(answer));
    const message = { request: inferMessage(request, settings), answer: bytes };
    return statusFrom((await this.#call(STORE, message, settings)).status);
  }

  /** Makes answers invalid on every node. Needs the role `write`. */
  async invalidate(target: InvalidationTarget, settings: InvalidateSettings = {}): Promise<InvalidateReply> {
    return invalidatedFrom(await this.#call(INVALIDATE, invalidateMessage(target, settings), settings));
  }

  /** Says that an answer was wrong or right. Needs the role `write`. */
  async feedback(feedback: Feedback, settings: CallSettings = {}): Promise<void> {
    await this.#call(FEEDBACK, feedbackMessage(feedback), settings);
  }

  /** What would be answered now without a model call, and why. */
  async explain(request: InferInput, settings: InferSettings = {}): Promise<Explanation> {
    return explanationFrom(await this.#call(EXPLAIN, inferMessage(request, settings), settings));
  }

  /** Counters of the asked node since its start. */
  async stats(settings: CallSettings = {}): Promise<Stats> {
    return statsFrom(await this.#call(STATS, {}, settings));
  }

  /** Names of the models that are served. */
  async models(settings: CallSettings = {}): Promise<readonly string[]> {
    return (await this.#call(LIST_MODELS, {}, settings)).names;
  }

  /** How the connection stands. `idle`: none is open, the next call opens one. */
  get state(): 'idle' | 'connecting' | 'ready' | 'failing' | 'closed' {
    switch (this.#client.getChannel().getConnectivityState(false)) {
      case connectivityState.READY:
        return 'ready';
      case connectivityState.CONNECTING:
        return 'connecting';
      case connectivityState.TRANSIENT_FAILURE:
        return 'failing';
      case connectivityState.SHUTDOWN:
        return 'closed';
      default:
        return 'idle';
    }
  }

  /** Closes the connection; calls under way are let finish. */
  close(): void {
    this.#client.close();
  }

  get #inferTimeoutMs(): number {
    return this.#options.inferTimeoutMs ?? INFER_TIMEOUT_MS;
  }

  #metadata(settings: CallSettings): Metadata {
    const metadata = new Metadata();
    const credential = settings.credential ?? this.#options.credential;
    if (credential !== undefined) {
      refuseUnfit(credential);
      metadata.set('authorization', `Bearer ${credential}`);
    }
    if (settings.traceparent !== undefined) metadata.set('traceparent', settings.traceparent);
    return metadata;
  }

  #call<Request, Response>(
    codec: Codec<Request, Response>,
    message: Request,
    settings: CallSettings,
    timeoutMs = this.#options.timeoutMs ?? TIMEOUT_MS,
  ): Promise<Response> {
    const { signal } = settings;
    return new Promise((resolve, reject) => {
      refuseAborted(signal);
      const call = this.#client.makeUnaryRequest(
        codec.path,
        (asked: Request) => encoded(codec.requestType, asked),
        (bytes) => codec.responseType.decode(bytes),
        message,
        this.#metadata(settings),
        callOptions(settings.timeoutMs ?? timeoutMs),
        (error, response) => {
          signal?.removeEventListener('abort', cancel);
          if (error === null && response !== undefined) resolve(response);
          else reject(clientError(error));
        },
      );
      const cancel = (): void => call.cancel();
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }
}

/** Connects to a Reprise server. The connection opens with the first call. */
export function connectReprise(options: ConnectOptions): RepriseClient {
  return new RepriseClient(options);
}

const INFER = {
  path: METHODS.infer.path,
  requestType: wire.InferRequest,
  responseType: wire.InferResponse,
};
const LOOKUP = { path: METHODS.lookup.path, requestType: wire.InferRequest, responseType: wire.LookupResponse };
const STORE = { path: METHODS.store.path, requestType: wire.StoreRequest, responseType: wire.StoreResponse };
const INVALIDATE = {
  path: METHODS.invalidate.path,
  requestType: wire.InvalidateRequest,
  responseType: wire.InvalidateResponse,
};
const FEEDBACK = {
  path: METHODS.feedback.path,
  requestType: wire.FeedbackRequest,
  responseType: wire.FeedbackResponse,
};
const EXPLAIN = { path: METHODS.explain.path, requestType: wire.InferRequest, responseType: wire.ExplainResponse };
const STATS = { path: METHODS.stats.path, requestType: wire.StatsRequest, responseType: wire.StatsResponse };
const LIST_MODELS = {
  path: METHODS.listModels.path,
  requestType: wire.ListModelsRequest,
  responseType: wire.ListModelsResponse,
};

function encoded<Message>(type: { encode(message: Message): { finish(): Uint8Array } }, message: Message): Buffer {
  const bytes = type.encode(message).finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function callOptions(timeoutMs: number): CallOptions {
  return { deadline: Date.now() + timeoutMs };
}

function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new RepriseClientError('The call was cancelled.', {
    code: 'cancelled',
    grpcStatus: 'CANCELLED',
    retryable: false,
    cause: signal.reason,
  });
}

function refuseUnfit(credential: string): void {
  if (CREDENTIAL.test(credential)) return;
  throw new RepriseClientError('The credential has characters that no key has.', {
    code: 'invalid_credential',
    grpcStatus: 'UNAUTHENTICATED',
    retryable: false,
  });
}

function channelCredentials(tls: ConnectOptions['tls']): ChannelCredentials {
  if (tls === undefined || tls === false) return credentials.createInsecure();
  return tls === true ? credentials.createSsl() : credentials.createSsl(Buffer.from(tls.ca));
}
