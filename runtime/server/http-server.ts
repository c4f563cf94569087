import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  Answers,
  DirectEdge,
  DirectTarget,
  Edge,
  Exchange,
  errorJson,
  repriseGateway,
  strayExchange,
} from '../../clients/gateway/index.ts';
import type { GatewayOptions } from '../../clients/gateway/index.ts';
import { RepriseError } from '../errors.ts';
import type { Recordings } from '../ports/recording.ts';
import type { Transfer } from '../ports/transfer.ts';
import { HostCheck } from './host-check.ts';
import { addAdminRoutes } from './http-admin.ts';
import { listenError } from './listen-error.ts';
import { requestIds } from './request-ids.ts';

/** What the HTTP server is told. */
export interface HttpServerOptions extends GatewayOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Names accepted in the `Host` header beside the loopback ones, `*` for any; absent: it isn't looked at. */
  readonly allowedHosts?: readonly string[];
  /** The text of `/metrics`; absent: no such path. */
  readonly metrics?: () => string | Promise<string>;
  /** The effective configuration with its origins, secrets left out; absent: no such path. */
  readonly describeConfig?: () => unknown;
  /** Absent: no such path. */
  readonly recordings?: Recordings;
  /** Absent: no such paths. */
  readonly transfer?: Transfer;
  /** Connections beyond this many are dropped; 10,000 unless told. */
  readonly connectionsMax?: number;
  /** A connection on which nothing moves for this long is cut; must exceed the longest model call. 15 min unless told. */
  readonly idleTimeoutMs?: number;
}

/** Where a server listens. */
export interface HttpAddress {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

const CONNECTIONS_MAX = 10_000;
const HEADER_BYTES_MAX = 16 * 1024;
const HEADERS_TIMEOUT_MS = 20_000;
/** For a whole upload. */
const REQUEST_TIMEOUT_MS = 120_000;
/** Longer than load balancers keep theirs, so that they and not we close an idle connection. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const IDLE_TIMEOUT_MS = 900_000;
const TIMEOUT_CHECK_MS = 5_000;
const PATH_PARAMETER_CHARACTERS_MAX = 256;
/** Methods that some path takes, or refuses by name. */
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** Paths that still answer while the server drains. */
const OPERATIONS_PATHS: readonly string[] = ['/healthz', '/readyz', '/metrics'];

/** A server over HTTP: the gateway's routes, `/healthz`, `/readyz`, `/metrics` and `/admin/…`. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #app: FastifyInstance;
  readonly #server: Server;
  readonly #direct: DirectEdge;
  readonly #requestIdOf: (incoming: IncomingMessage) => string;
  readonly #answers: Answers;
  readonly #hosts: HostCheck | undefined;
  #running = 0;
  #isDraining = false;
  #closing: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const idOf = requestIds();
    this.#requestIdOf = (incoming) => idOf(incoming.headers['x-request-id']);
    this.#direct = new DirectEdge(options, this.#requestIdOf);
    this.#answers = new Answers(options);
    this.#hosts = options.allowedHosts === undefined ? undefined : new HostCheck(options.allowedHosts);
    let server: Server | undefined;
    this.#app = Fastify({
      serverFactory: (handler) => (server = this.#createServer(handler)),
      genReqId: this.#requestIdOf,
      routerOptions: { maxParamLength: PATH_PARAMETER_CHARACTERS_MAX },
      clientErrorHandler: refuseMalformed,
      frameworkErrors: (error, request, reply) => this.#refuse(request as FastifyRequest, reply as FastifyReply, error),
    });
    this.#server = server ?? this.#app.server;
    this.#addRoutes();
  }

  #createServer(handler: RequestListener): Server {
    const server = createServer(
      {
        maxHeaderSize: HEADER_BYTES_MAX,
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
        connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      },
      (request, response) => this.#admit(request, response, handler),
    );
    server.setTimeout(this.#options.idleTimeoutMs ?? IDLE_TIMEOUT_MS);
    server.maxConnections = this.#options.connectionsMax ?? CONNECTIONS_MAX;
    return server;
  }

  /** Counts a request in and out; while draining, new ones are told to go elsewhere. */
  #admit(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    this.#running += 1;
    // Emitted once, and `once` would cost a wrapper and its removal.
    response.on('close', this.#onResponseClosed);
    if (this.#isDraining) {
      response.setHeader('connection', 'close');
      if (!OPERATIONS_PATHS.includes(request.url ?? '')) {
        this.#refuseAtOnce(request, response, draining());
        return;
      }
    }
    if (this.#hosts?.accepts(request.headers.host) === false) {
      this.#refuseAtOnce(request, response, hostNotAllowed(request.headers.host));
      return;
    }
    if (!this.#direct.handle(request, response)) handler(request, response);
  }

  #refuseAtOnce(request: IncomingMessage, response: ServerResponse, error: RepriseError): void {
    const target = new DirectTarget(request, response);
    const requestId = this.#requestIdOf(request);
    target.set('x-request-id', requestId);
    const exchange = new Exchange(target, { requestId, method: request.method ?? '', path: '' });
    this.#answers.fail(exchange, error);
  }

  readonly #onResponseClosed = (): void => {
    this.#running -= 1;
    if (this.#isDraining && this.#running === 0) this.#server.closeAllConnections();
  };

  #addRoutes(): void {
    const app = this.#app;
    app.removeAllContentTypeParsers();
    app.setNotFoundHandler((request, reply) => this.#refuse(request, reply, nothingHere(request.method, reply)));
    app.setErrorHandler((error, request, reply) => this.#refuse(request, reply, error));
    void app.register(repriseGateway, this.#options);
    void app.register((instance, _options, done) => {
      const edge = new Edge(instance, this.#options);
      addAdminRoutes(edge, this.#options);
      this.#addOperationsRoutes(edge);
      done();
    });
  }

  #addOperationsRoutes(edge: Edge): void {
    const { service, metrics } = this.#options;
    edge.add({
      method: 'GET',
      path: '/healthz',
      identified: false,
      handler: (request) => edge.sendJson(request, { status: 'ok' }),
    });
    edge.add({
      method: 'GET',
      path: '/readyz',
      identified: false,
      handler: (request) => {
        const { ready, parts } = service.readiness();
        const isReady = ready && !this.#isDraining;
        const document = { ready: isReady, draining: this.#isDraining, parts };
        edge.sendJson(request, document, isReady ? 200 : 503);
      },
    });
    if (metrics === undefined) return;
    edge.add({
      method: 'GET',
      path: '/metrics',
      identified: false,
      handler: async (request, reply) => {
        const body = Buffer.from(await metrics());
        edge.succeed(request, { contentType: 'text/plain; version=0.0.4; charset=utf-8', body });
        return reply;
      },
    });
  }

  /** Answers a request that reached no route. */
  #refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
    this.#answers.fail(strayExchange(request, reply), thrown);
  }

  /** Listens. Fails with `address_in_use`, or `config_invalid` for an address that can't be had. */
  async start(): Promise<HttpAddress> {
    await this.#app.ready();
    const { host, port } = this.#options;
    const server = this.#server;
    await new Promise<void>((resolve, reject) => {
      const onError = (error: NodeJS.ErrnoException): void =>
        reject(listenError(error, { host, port, variable: 'REPRISE_HTTP_PORT' }));
      server.once('error', onError);
      server.listen({ host, port }, () => {
        server.off('error', onError);
        resolve();
      });
    });
    const address = server.address() as AddressInfo;
    const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    return { host: address.address, port: address.port, url: `http://${name}:${address.port}` };
  }

  /**
   * Stops accepting, lets running requests and streams finish for at most `limitMs`, then cuts what is left.
   * Idle connections close at once; a second call waits for the first.
   */
  close(limitMs: number): Promise<void> {
    this.#closing ??= this.#drain(limitMs);
    return this.#closing;
  }

  async #drain(limitMs: number): Promise<void> {
    this.#isDraining = true;
    // A recording has no end of its own that a drain could wait for.
    this.#options.recordings?.stop();
    const server = this.#server;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const limit = setTimeout(() => server.closeAllConnections(), limitMs);
    if (this.#running === 0) server.closeAllConnections();
    await closed;
    clearTimeout(limit);
    await this.#app.close();
  }

  /** Requests whose reply isn't complete. */
  get running(): number {
    return this.#running;
  }
}

function draining(): RepriseError {
  return new RepriseError('draining', 'This server is shutting down; try another.', { retryAfterMs: 1_000 });
}

function hostNotAllowed(host: string | undefined): RepriseError {
  return new RepriseError(
    'host_not_allowed',
    `This node takes no requests for the host ${JSON.stringify(host)}; add its name to server.allowedHosts.`,
  );
}

function nothingHere(method: string, reply: FastifyReply): RepriseError {
  if (METHODS.includes(method)) {
    return new RepriseError(
      'unknown_path',
      'There is nothing at this path. The API has /v1/chat/completions, /v1/completions, /v1/embeddings and /v1/models.',
    );
  }
  void reply.header('allow', METHODS.join(', '));
  return new RepriseError('method_not_allowed', `No path takes ${method}.`);
}

/** Answers what isn't HTTP, came too slowly or has too large a head, and closes. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const isLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const status = isLarge ? '431 Request Header Fields Too Large' : isLate ? '408 Request Timeout' : '400 Bad Request';
  const message = isLarge ? 'The headers are too large.' : isLate ? 'The request came too slowly.' : "This isn't HTTP.";
  const body = errorJson(new RepriseError('invalid_request', message));
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
