import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { CancelSignal } from '../../runtime/ports/cancel-signal.ts';
import type { Operation } from '../../runtime/ports/model.ts';
import { assert, type RepriseError } from '../../runtime/errors.ts';
import type { CacheControls, CacheStatus, Identity, InferenceRequest, Outcome } from '../../runtime/ports/service.ts';
import { headerText } from './controls.ts';
import { edgeError } from './error-reply.ts';
import type { ReplyTarget } from './reply-target.ts';

/** Tells who asks, from the request's headers and the socket's address; throws `missing_credential` or `invalid_credential`. */
export type ResolveIdentity = (
  headers: IncomingHttpHeaders,
  remoteAddress: string | undefined,
) => Identity | Promise<Identity>;

/** One finished request, for the log: no prompt, no answer, no credential. */
export interface RequestRecord {
  readonly requestId: string;
  /** `GRPC` for a call over gRPC. */
  readonly method: string;
  /** The route, not the URL as asked. */
  readonly path: string;
  /** HTTP status, or the code of a call over gRPC (0: answered). */
  readonly status: number;
  /** Empty for requests that ask for no inference. */
  readonly outcome: Outcome | '';
  /** The cache's detail, or the error's code. */
  readonly detail: string;
  /** From the request's head to the last byte handed to the socket. */
  readonly durationMs: number;
  readonly bodyBytes: number;
  readonly replyBytes: number;
  readonly tenant: string;
  /** First characters of the entry's id; may be empty. */
  readonly entry: string;
  /** Effective model; empty when it isn't known. */
  readonly model: string;
  readonly stream: boolean;
}

/** What became of a request. */
export interface ExchangeEnd {
  readonly status: number;
  readonly outcome: Outcome | '';
  readonly detail: string;
  readonly replyBytes: number;
  readonly cacheStatus?: CacheStatus | undefined;
}

const ENTRY_PREFIX_CHARACTERS = 12;

/** One request from its head to its end: where its answer goes, and what the log says of it. */
export class Exchange {
  readonly target: ReplyTarget;
  readonly requestId: string;
  readonly #method: string;
  readonly #path: string;
  readonly #startedAtMs = performance.now();
  #ended = false;
  #identity: Identity | undefined;
  bodyBytes = 0;
  stream = false;

  constructor(target: ReplyTarget, request: { requestId: string; method: string; path: string }) {
    this.target = target;
    this.requestId = request.requestId;
    this.#method = request.method;
    this.#path = request.path;
  }

  /** Who asks; the route must have asked for it. */
  get knownIdentity(): Identity {
    assert(this.#identity !== undefined, 'a handler runs after its identity is known');
    return this.#identity;
  }

  /** Finds out who asks, then goes on; at once where the answer is at hand. */
  identify(resolve: ResolveIdentity, done: (error?: RepriseError) => void): void {
    const { headers, socket } = this.target.incoming;
    let identity: Identity | Promise<Identity>;
    try {
      identity = resolve(headers, socket.remoteAddress);
    } catch (error) {
      done(edgeError(error));
      return;
    }
    if (!('then' in identity)) {
      this.#identity = identity;
      done();
      return;
    }
    identity.then(
      (resolved) => {
        this.#identity = resolved;
        done();
      },
      (error: unknown) => done(edgeError(error)),
    );
  }

  /** Hands one record to `onDone`, the first time only. */
  end(end: ExchangeEnd, onDone: ((record: RequestRecord) => void) | undefined): void {
    if (this.#ended || onDone === undefined) return;
    this.#ended = true;
    const { cacheStatus } = end;
    onDone({
      requestId: this.requestId,
      method: this.#method,
      path: this.#path,
      status: end.status,
      outcome: end.outcome,
      detail: end.detail,
      durationMs: performance.now() - this.#startedAtMs,
      bodyBytes: this.bodyBytes,
      replyBytes: end.replyBytes,
      tenant: this.#identity?.tenant ?? '',
      entry: cacheStatus === undefined ? '' : cacheStatus.entryId.slice(0, ENTRY_PREFIX_CHARACTERS),
      model: cacheStatus?.model ?? '',
      stream: this.stream,
    });
  }
}

/**
 * A request to the service whose signal is made when it is first read: an answer from memory never needs it.
 * The signal is aborted when the client goes away before its reply is complete. Don't copy it by spreading.
 */
export class LiveRequest implements InferenceRequest {
  readonly operation: Operation;
  readonly body: Uint8Array;
  readonly identity: Identity;
  readonly controls: CacheControls;
  readonly traceparent?: string;
  readonly #response: ServerResponse;
  #signal: CancelSignal | undefined;

  constructor(
    request: { operation: Operation; body: Uint8Array; identity: Identity; controls: CacheControls },
    incoming: IncomingMessage,
    response: ServerResponse,
  ) {
    this.operation = request.operation;
    this.body = request.body;
    this.identity = request.identity;
    this.controls = request.controls;
    const traceparent = headerText(incoming.headers, 'traceparent');
    if (traceparent !== undefined && TRACEPARENT.test(traceparent)) this.traceparent = traceparent;
    this.#response = response;
  }

  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      const signal = new CancelSignal();
      this.#signal = signal;
      const response = this.#response;
      if (response.destroyed) {
        if (!response.writableFinished) signal.cancel();
      } else {
        response.once('close', () => {
          if (!response.writableFinished) signal.cancel();
        });
      }
    }
    return this.#signal;
  }
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;
