import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteHandlerMethod } from 'fastify';
import { RepriseError, assert } from '../../runtime/errors.ts';
import type { Identity } from '../../runtime/ports/service.ts';
import { Answers } from './answers.ts';
import type { AnswerOptions, EdgeAnswer } from './answers.ts';
import { BODY_BYTES_MAX, readBody } from './body-reader.ts';
import { Exchange } from './exchange.ts';
import type { ResolveIdentity } from './exchange.ts';
import { FastifyTarget } from './reply-target.ts';

/** What an edge is told. */
export interface EdgeOptions extends AnswerOptions {
  readonly resolveIdentity: ResolveIdentity;
  /** Larger bodies are refused with `body_too_large`; 8 MiB unless told. */
  readonly bodyBytesMax?: number;
}

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
  return exchangeOf(request).knownIdentity;
}

/** The exchange of a request that reached no route of an edge. */
export function strayExchange(request: FastifyRequest, reply: FastifyReply): Exchange {
  void reply.header('x-request-id', request.id);
  return new Exchange(new FastifyTarget(request.raw, reply), {
    requestId: request.id,
    method: request.method,
    path: '',
  });
}

/** A route as an edge adds it. */
export interface EdgeRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly handler: RouteHandlerMethod;
  /** False for routes that anyone may read: no credential is asked for. Absent: true. */
  readonly identified?: boolean;
}

/**
 * The part of an HTTP edge that every route shares: exchange, identity, body, errors, methods.
 * Installed on an encapsulated Fastify instance, so that a host's own routes keep their parsers and handlers.
 */
export class Edge {
  readonly #instance: FastifyInstance;
  readonly #resolveIdentity: ResolveIdentity;
  readonly answers: Answers;

  constructor(instance: FastifyInstance, options: EdgeOptions) {
    this.#instance = instance;
    this.#resolveIdentity = options.resolveIdentity;
    this.answers = new Answers(options);
    const bytesMax = options.bodyBytesMax ?? BODY_BYTES_MAX;
    instance.decorateRequest(EXCHANGE, null);
    instance.removeAllContentTypeParsers();
    const read = (
      _request: FastifyRequest,
      payload: FastifyRequest['raw'],
      done: (error: Error | null, body?: unknown) => void,
    ) => {
      // Whatever a request of another method brings, it is answered by its method; Node drops what isn't read.
      if (payload.method === 'POST') readBody(payload, bytesMax, done);
      else done(null);
    };
    instance.addContentTypeParser('application/json', read);
    instance.addContentTypeParser('*', read);
    instance.setErrorHandler((error, request, reply) => {
      this.fail(request, reply, error);
    });
  }

  /** Adds a route; its other methods answer `method_not_allowed`, OPTIONS tells what there is. */
  add(route: EdgeRoute): void {
    const { method, path, handler } = route;
    const resolve = route.identified === false ? undefined : this.#resolveIdentity;
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
    const target = new FastifyTarget(request.raw, reply);
    const exchange = new Exchange(target, { requestId: request.id, method: request.method, path });
    (request as unknown as WithExchange)[EXCHANGE] = exchange;
    target.set('x-request-id', request.id);
    if (resolve === undefined) done();
    else exchange.identify(resolve, done);
  }

  /** Sends an answer whole and ends its exchange. */
  succeed(request: FastifyRequest, answer: EdgeAnswer): void {
    this.answers.succeed(exchangeOf(request), answer);
  }

  /** Sends a JSON document and ends its exchange. */
  sendJson(request: FastifyRequest, document: unknown, status = 200): void {
    const body = Buffer.from(JSON.stringify(document));
    this.succeed(request, { contentType: 'application/json', body, status });
  }

  /** Sends an error and ends its exchange. */
  fail(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
    this.answers.fail((request as unknown as WithExchange)[EXCHANGE] ?? strayExchange(request, reply), thrown);
  }
}
