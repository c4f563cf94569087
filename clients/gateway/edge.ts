import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteHandlerMethod } from 'fastify';
import { RepriseError, assert, failedOutcome } from '../../runtime/errors.ts';
import type { CacheStatus, Identity, InferenceStreamReply } from '../../runtime/ports/service.ts';
import { readBody } from './body-reader.ts';
import { edgeError, errorReply } from './error-reply.ts';
import type { ErrorReply } from './error-reply.ts';
import { EventStreamWriter } from './event-stream.ts';
import type { StreamEnd } from './event-stream.ts';
import { Exchange } from './exchange.ts';
import type { RequestRecord } from './exchange.ts';
import { STATUS_HEADERS, eachStatusHeader } from './status-headers.ts';

/** Tells who asks, from the request's headers and the socket's address; throws `missing_credential` or `invalid_credential`. */
export type ResolveIdentity = (
  headers: IncomingHttpHeaders,
  remoteAddress: string | undefined,
) => Identity | Promise<Identity>;

/** What an edge is told. */
export interface EdgeOptions {
  readonly resolveIdentity: ResolveIdentity;
  /** Larger bodies are refused with `body_too_large`; 8 MiB unless told. */
  readonly bodyBytesMax?: number;
  /** Longest time for which a client of a stream may take nothing; 60 s unless told. */
  readonly stallMs?: number;
  /** Told once a request, when it is done. */
  readonly onRequestDone?: (record: RequestRecord) => void;
  /** Told of failures that are no coded error: bugs. */
  readonly onInternalError?: (error: unknown, requestId: string) => void;
}

const BODY_BYTES_MAX = 8 * 1024 * 1024;
const STALL_MS = 60_000;
const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The key under which a request carries its exchange; requests of a foreign route have none. */
const EXCHANGE = 'repriseExchange';

interface WithExchange {
  [EXCHANGE]: Exchange | null;
}

/** A request's exchange; the route must have been added by an `Edge`. */
export function exchangeOf(request: FastifyRequest): Exchange {
  const exchange = (request as unknown as WithExchange)[EXCHANGE];
  assert(exchange !== null, 'a route of the edge has an exchange');
  return exchange;
}

/** Who sent a request whose identity hook has run. */
export function identityOf(request: FastifyRequest): Identity {
  const { identity } = exchangeOf(request);
  assert(identity !== undefined, 'a handler runs after its identity is known');
  return identity;
}

/** Headers of an answer that mean nothing on the error that takes its place. */
const ANSWER_HEADERS = ['cache-control', 'x-accel-buffering', 'content-length', ...STATUS_HEADERS];

/** Sends an error in OpenAI's shape, or an upstream's own. */
export function sendError(request: FastifyRequest, reply: FastifyReply, thrown: unknown): ErrorReply {
  const answer = errorReply(thrown);
  const { status, contentType, body, retryAfterSeconds } = answer;
  for (const name of ANSWER_HEADERS) void reply.removeHeader(name);
  // A refusal whose upload was read to its end leaves the connection usable.
  if (request.raw.complete) void reply.removeHeader('connection');
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds));
  void reply.code(status).header('content-type', contentType);
  void reply.send(typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  return answer;
}

/** A route as an edge adds it. */
export interface EdgeRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly handler: RouteHandlerMethod;
  /** False for routes that anyone may read: no credential is asked for. Absent: true. */
  readonly identified?: boolean;
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

/**
 * The part of an HTTP edge that every route shares: exchange, identity, body, errors, methods.
 * Installed on an encapsulated Fastify instance, so that a host's own routes keep their parsers and handlers.
 */
export class Edge {
  readonly #instance: FastifyInstance;
  readonly #options: EdgeOptions;

  constructor(instance: FastifyInstance, options: EdgeOptions) {
    this.#instance = instance;
    this.#options = options;
    const bytesMax = options.bodyBytesMax ?? BODY_BYTES_MAX;
    instance.decorateRequest(EXCHANGE, null);
    instance.removeAllContentTypeParsers();
    const read = (
      _request: FastifyRequest,
      payload: FastifyRequest['raw'],
      done: (error: Error | null, body?: unknown) => void,
    ) => readBody(payload, bytesMax, done);
    instance.addContentTypeParser('application/json', read);
    instance.addContentTypeParser('*', read);
    instance.setErrorHandler((error, request, reply) => {
      this.fail(request, reply, error);
    });
  }

  /** Adds a route; its other methods answer `method_not_allowed`, OPTIONS tells what there is. */
  add(route: EdgeRoute): void {
    const { method, path, handler } = route;
    const resolve = route.identified === false ? undefined : this.#options.resolveIdentity;
    this.#instance.route({
      method,
      url: path,
      exposeHeadRoute: method === 'GET',
      onRequest: (request, reply, done) => this.#open(path, resolve, request, reply, done),
      handler,
    });
    const allowed = method === 'GET' ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS';
    this.#instance.route({
      method: METHODS.filter((other) => !allowed.includes(other)),
      url: path,
      onRequest: (request, reply) => {
        this.#open(path, undefined, request, reply, () => undefined);
        void reply.header('allow', allowed);
        this.fail(request, reply, new RepriseError('method_not_allowed', `${path} takes ${allowed}.`));
      },
      handler: () => undefined,
    });
    this.#instance.options(path, (_request, reply) => {
      void reply.code(204).header('allow', allowed).send();
    });
  }

  #open(
    path: string,
    resolve: ResolveIdentity | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
    done: (error?: Error) => void,
  ): void {
    const { raw, id } = request;
    const exchange = new Exchange(id, raw.method ?? '', path);
    (request as unknown as WithExchange)[EXCHANGE] = exchange;
    void reply.header('x-request-id', id);
    if (resolve === undefined) {
      done();
      return;
    }
    let identity: Identity | Promise<Identity>;
    try {
      identity = resolve(raw.headers, raw.socket.remoteAddress);
    } catch (error) {
      done(edgeError(error));
      return;
    }
    if (!('then' in identity)) {
      exchange.identity = identity;
      done();
      return;
    }
    identity.then(
      (resolved) => {
        exchange.identity = resolved;
        done();
      },
      (error: unknown) => done(edgeError(error)),
    );
  }

  /** Sends an answer whole and ends its exchange. */
  succeed(request: FastifyRequest, reply: FastifyReply, answer: EdgeAnswer): void {
    const { contentType, body, cacheStatus, status = 200 } = answer;
    if (status !== 200) void reply.code(status);
    void reply.header('content-type', contentType);
    if (cacheStatus !== undefined) eachStatusHeader(cacheStatus, (name, value) => reply.header(name, value));
    void reply.send(Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    exchangeOf(request).end(
      {
        status,
        outcome: cacheStatus?.outcome ?? '',
        detail: cacheStatus?.detail ?? '',
        replyBytes: body.length,
        ...(cacheStatus !== undefined && { cacheStatus }),
      },
      this.#options.onRequestDone,
    );
  }

  /** Sends a JSON document and ends its exchange. */
  sendJson(request: FastifyRequest, reply: FastifyReply, document: unknown, status = 200): void {
    const body = Buffer.from(JSON.stringify(document));
    this.succeed(request, reply, { contentType: 'application/json', body, status });
  }

  /** Sends an error and ends its exchange. */
  fail(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
    const { error, status, body } = sendError(request, reply, thrown);
    if (error.code === 'internal') this.#options.onInternalError?.(thrown, request.id);
    (request as unknown as WithExchange)[EXCHANGE]?.end(
      { status, outcome: failedOutcome(error), detail: error.code, replyBytes: body.length },
      this.#options.onRequestDone,
    );
  }

  /** Relays a stream of events until it ends, however it ends. */
  relay(request: FastifyRequest, reply: FastifyReply, stream: InferenceStreamReply): void {
    const { status } = stream;
    void reply.header('content-type', 'text/event-stream; charset=utf-8');
    eachStatusHeader(status, (name, value) => reply.header(name, value));
    const writer = new EventStreamWriter(reply, stream, this.#options.stallMs ?? STALL_MS, {
      onEarlyFailure: (error) => this.fail(request, reply, error),
      onEnd: (end) => this.#streamEnded(exchangeOf(request), status, end),
    });
    writer.start();
  }

  #streamEnded(exchange: Exchange, status: CacheStatus, end: StreamEnd): void {
    const { onRequestDone } = this.#options;
    const replyBytes = end.bytes;
    if (end.kind === 'complete') {
      const { outcome, detail } = status;
      exchange.end({ status: 200, outcome, detail, replyBytes, cacheStatus: status }, onRequestDone);
    } else if (end.kind === 'failed') {
      const error = edgeError(end.error);
      exchange.end(
        { status: 200, outcome: failedOutcome(error), detail: error.code, replyBytes, cacheStatus: status },
        onRequestDone,
      );
    } else {
      exchange.end(
        { status: 499, outcome: 'cancelled', detail: 'cancelled', replyBytes, cacheStatus: status },
        onRequestDone,
      );
    }
  }
}
