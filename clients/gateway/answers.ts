import { failedOutcome } from '../../runtime/errors.ts';
import type { CacheStatus, InferenceStreamReply } from '../../runtime/ports/service.ts';
import { edgeError, errorReply } from './error-reply.ts';
import { EventStreamWriter } from './event-stream.ts';
import type { StreamEnd } from './event-stream.ts';
import type { Exchange, ExchangeEnd, RequestRecord } from './exchange.ts';
import { STATUS_HEADERS, eachStatusHeader } from './status-headers.ts';

/** Who is told of answers, and how long a client may stall. */
export interface AnswerOptions {
  /** Longest time for which a client of a stream may take nothing; 60 s unless told. */
  readonly stallMs?: number;
  /** Told once a request, when it is done. */
  readonly onRequestDone?: (record: RequestRecord) => void;
  /** Told of failures that are no coded error: bugs. */
  readonly onInternalError?: (error: unknown, requestId: string) => void;
}

/** A whole answer. */
export interface EdgeAnswer {
  readonly contentType: string;
  readonly body: Uint8Array;
  /** What the cache did; absent for answers that aren't inference. */
  readonly cacheStatus?: CacheStatus;
  /** 200 unless told. */
  readonly status?: number;
}

const STALL_MS = 60_000;
/** Headers of an answer that mean nothing on the error that takes its place. */
const ANSWER_HEADERS = ['content-type', 'cache-control', 'x-accel-buffering', 'content-length', ...STATUS_HEADERS];

/** Ends exchanges: with an answer, an error in OpenAI's shape, or a stream. */
export class Answers {
  readonly #options: AnswerOptions;

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  /** Sends an answer whole. */
  succeed(exchange: Exchange, answer: EdgeAnswer): void {
    const { contentType, body, cacheStatus, status = 200 } = answer;
    const { target } = exchange;
    target.set('content-type', contentType);
    if (cacheStatus !== undefined) eachStatusHeader(cacheStatus, target);
    target.send(status, body);
    exchange.end(
      {
        status,
        outcome: cacheStatus?.outcome ?? '',
        detail: cacheStatus?.detail ?? '',
        replyBytes: body.length,
        cacheStatus,
      },
      this.#options.onRequestDone,
    );
  }

  /** Sends an error, or an upstream's own. */
  fail(exchange: Exchange, thrown: unknown): void {
    const { error, status, contentType, body, retryAfterSeconds } = errorReply(thrown);
    const { target } = exchange;
    target.drop(ANSWER_HEADERS);
    target.set('content-type', contentType);
    if (retryAfterSeconds !== undefined) target.set('retry-after', String(retryAfterSeconds));
    target.send(status, body);
    if (error.code === 'internal') this.#options.onInternalError?.(thrown, exchange.requestId);
    exchange.end(
      { status, outcome: failedOutcome(error), detail: error.code, replyBytes: body.length },
      this.#options.onRequestDone,
    );
  }

  /** Ends an exchange whose answer the caller has written by itself. */
  ended(exchange: Exchange, end: ExchangeEnd): void {
    exchange.end(end, this.#options.onRequestDone);
  }

  /** Relays a stream of events until it ends, however it ends. */
  relay(exchange: Exchange, stream: InferenceStreamReply): void {
    const { target } = exchange;
    target.set('content-type', 'text/event-stream; charset=utf-8');
    eachStatusHeader(stream.status, target);
    const writer = new EventStreamWriter(target, stream, this.#options.stallMs ?? STALL_MS, {
      onEarlyFailure: (error) => this.fail(exchange, error),
      onEnd: (end) => this.#streamEnded(exchange, stream.status, end),
    });
    writer.start();
  }

  #streamEnded(exchange: Exchange, cacheStatus: CacheStatus, end: StreamEnd): void {
    const { onRequestDone } = this.#options;
    const replyBytes = end.bytes;
    if (end.kind === 'complete') {
      const { outcome, detail } = cacheStatus;
      exchange.end({ status: 200, outcome, detail, replyBytes, cacheStatus }, onRequestDone);
    } else if (end.kind === 'failed') {
      const error = edgeError(end.error);
      const failure = { outcome: failedOutcome(error), detail: error.code };
      exchange.end({ status: 200, ...failure, replyBytes, cacheStatus }, onRequestDone);
    } else {
      exchange.end({ status: 499, outcome: 'cancelled', detail: 'cancelled', replyBytes, cacheStatus }, onRequestDone);
    }
  }
}
