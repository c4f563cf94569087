import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { MethodDefinition, ServiceDefinition, StatusObject, handleUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import type { RequestRecord } from '../../clients/gateway/index.ts';
import * as wire from '../../proto/gen/reprise/v1/inference_cache.ts';
import { RepriseError, toRepriseError } from '../errors.ts';
import { requireRole } from '../inference/roles.ts';
import type { CacheStatus, Identity, InferenceService, Role } from '../ports/service.ts';
import { GrpcCallLog, type LoggedCall } from './grpc-call-log.ts';
import { errorStatus } from './grpc-errors.ts';
import {
  encodeExplanation,
  encodeInvalidated,
  encodeLookup,
  encodeReply,
  encodeStats,
  feedbackRequestOf,
  invalidateRequestOf,
  statusMessage,
} from './grpc-messages.ts';
import { GrpcOperations } from './grpc-operations.ts';
import { GrpcRequest, checkSize, metadataText } from './grpc-request.ts';
import type { StreamCall, UnaryCall } from './grpc-request.ts';
import { relayStream } from './grpc-stream.ts';

/** What the gRPC server is told. */
export interface GrpcServerOptions {
  readonly service: InferenceService;
  /** Tells who asks, from the metadata `authorization` and `x-api-key`; throws `missing_credential` or `invalid_credential`. */
  readonly resolveIdentity: (authorization: string | undefined, apiKey: string | undefined) => Identity;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Larger requests and answers to store are refused with `body_too_large`. */
  readonly bodyBytesMax: number;
  /** Longest time for which a client of a stream may take nothing; 60 s unless told. */
  readonly stallMs?: number;
  /** Told once a call of `reprise.v1.InferenceCache`, when it is done. */
  readonly onCallDone?: (record: RequestRecord) => void;
  /** Told of failures that are no coded error: bugs. */
  readonly onInternalError?: (error: unknown) => void;
}

/** Where a gRPC server listens. */
export interface GrpcAddress {
  readonly host: string;
  readonly port: number;
}

const SERVICE = 'reprise.v1.InferenceCache';
const STALL_MS = 60_000;
/** For all of a message but body and answer. */
const FIELDS_BYTES_MAX = 64 * 1024;
/** Calls of one connection at a time. */
const CALLS_MAX = 1_000;
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;

interface MessageType<Message> {
  decode(bytes: Uint8Array): Message;
}

interface Method<Message> {
  readonly type: MessageType<Message>;
  readonly role: Role;
  /** How a refusal names the method. */
  readonly name: string;
  readonly answer: (
    message: Message,
    identity: Identity,
    call: UnaryCall,
    logged: LoggedCall | undefined,
  ) => Promise<Uint8Array>;
}

/** A server over gRPC: `reprise.v1.InferenceCache`, health and reflection. */
export class GrpcServer {
  readonly #options: GrpcServerOptions;
  readonly #server: Server;
  readonly #operations: GrpcOperations;
  readonly #log: GrpcCallLog | undefined;
  #running = 0;
  #isDraining = false;
  #closing: Promise<void> | undefined;

  constructor(options: GrpcServerOptions) {
    this.#options = options;
    this.#log = options.onCallDone === undefined ? undefined : new GrpcCallLog(options.onCallDone);
    this.#server = new Server({
      'grpc.max_receive_message_length': 2 * options.bodyBytesMax + FIELDS_BYTES_MAX,
      'grpc.max_concurrent_streams': CALLS_MAX,
      'grpc.keepalive_time_ms': KEEPALIVE_MS,
      'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    });
    this.#operations = new GrpcOperations([SERVICE], () => !this.#isDraining && options.service.readiness().ready);
    this.#server.addService(ENCODED_SERVICE, this.#handlers());
    this.#operations.addTo(this.#server);
  }

  #handlers() {
    const { service, bodyBytesMax } = this.#options;
    const request = (message: wire.InferRequest, identity: Identity, call: UnaryCall | StreamCall): GrpcRequest => {
      checkSize(message.body, bodyBytesMax, 'body');
      return new GrpcRequest(message, identity, call);
    };
    const asking = (
      name: string,
      answer: (request: GrpcRequest, logged: LoggedCall | undefined) => Promise<Uint8Array>,
    ) =>
      this.#unary({
        type: wire.InferRequest,
        role: 'read',
        name,
        answer: (message, identity, call, logged) => answer(request(message, identity, call), logged),
      });
    return {
      infer: asking('Infer', async (asked, logged) => {
        return encodeReply(noted(await service.infer(asked), logged));
      }),
      inferStream: (call: StreamCall): void => this.#relay(call, request),
      lookup: asking('Lookup', async (asked, logged) => {
        return encodeLookup(noted(await service.lookup(asked), logged));
      }),
      explain: asking('Explain', async (asked) => encodeExplanation(await service.explain(asked))),
      store: this.#unary({
        type: wire.StoreRequest,
        role: 'write',
        name: 'Store',
        answer: async (message, identity, call) => {
          const asked = request(message.request ?? wire.InferRequest.decode(NOTHING), identity, call);
          const { operation, body, controls } = asked;
          checkSize(message.answer, bodyBytesMax, 'answer');
          const status = await service.store({ operation, body, controls, identity, answer: message.answer });
          return wire.StoreResponse.encode({ status: statusMessage(status) }).finish();
        },
      }),
      invalidate: this.#unary({
        type: wire.InvalidateRequest,
        role: 'write',
        name: 'Invalidate',
        answer: async (message, identity) =>
          encodeInvalidated(await service.invalidate(invalidateRequestOf(message, identity))),
      }),
      feedback: this.#unary({
        type: wire.FeedbackRequest,
        role: 'write',
        name: 'Feedback',
        answer: async (message, identity) => {
          await service.feedback(feedbackRequestOf(message, identity));
          return NOTHING;
        },
      }),
      stats: this.#unary({
        type: wire.StatsRequest,
        role: 'write',
        name: 'Stats',
        answer: async (_message, identity) => encodeStats(await service.stats(identity)),
      }),
      listModels: this.#unary({
        type: wire.ListModelsRequest,
        role: 'read',
        name: 'ListModels',
        answer: async (_message, identity) =>
          wire.ListModelsResponse.encode({ names: [...(await service.models(identity))] }).finish(),
      }),
    };
  }

  #unary<Message>(method: Method<Message>): handleUnaryCall<Buffer, Uint8Array> {
    return (call: UnaryCall, callback: sendUnaryData<Uint8Array>): void => {
      this.#running += 1;
      const logged = this.#log?.begin(method.name, call);
      this.#answer(method, call, logged).then(
        (bytes) => {
          this.#running -= 1;
          callback(null, bytes);
          if (logged !== undefined) logged.replyBytes = bytes.length;
          this.#done(logged, undefined, call);
        },
        (error: unknown) => {
          this.#running -= 1;
          callback(this.#failure(error, call));
          this.#done(logged, { error }, call);
        },
      );
    };
  }

  async #answer<Message>(
    method: Method<Message>,
    call: UnaryCall,
    logged: LoggedCall | undefined,
  ): Promise<Uint8Array> {
    const identity = this.#admit(call);
    if (logged !== undefined) logged.identity = identity;
    requireRole(identity, method.role, method.name);
    // Awaited here, since returning a promise from an async function takes two turns more.
    return await method.answer(decoded(method.type, call.request), identity, call, logged);
  }

  #relay(
    call: StreamCall,
    request: (message: wire.InferRequest, identity: Identity, call: StreamCall) => GrpcRequest,
  ): void {
    this.#running += 1;
    const logged = this.#log?.begin('InferStream', call);
    const relay = async (): Promise<void> => {
      const { service, stallMs = STALL_MS } = this.#options;
      const identity = this.#admit(call);
      if (logged !== undefined) logged.identity = identity;
      const asked = request(decoded(wire.InferRequest, call.request), identity, call);
      const reply = noted(await service.inferStream(asked), logged);
      await relayStream(call, reply, stallMs, (bytes) => {
        if (logged !== undefined) logged.replyBytes += bytes;
      });
    };
    relay().then(
      () => {
        this.#running -= 1;
        call.end();
        this.#done(logged, undefined, call);
      },
      (error: unknown) => {
        this.#running -= 1;
        call.emit('error', this.#failure(error, call));
        this.#done(logged, { error }, call);
      },
    );
  }

  #done(logged: LoggedCall | undefined, failure: { error: unknown } | undefined, call: UnaryCall | StreamCall): void {
    if (logged === undefined) return;
    const { cancelled } = call;
    this.#log?.end(logged, failure !== undefined || cancelled ? { error: failure?.error, cancelled } : undefined);
  }

  #admit({ metadata }: UnaryCall | StreamCall): Identity {
    if (this.#isDraining) throw new RepriseError('draining', 'This server is shutting down; try another.');
    const apiKey = metadataText(metadata, 'x-api-key') ?? metadataText(metadata, 'api-key');
    return this.#options.resolveIdentity(metadataText(metadata, 'authorization'), apiKey);
  }

  #failure(error: unknown, call: UnaryCall | StreamCall): StatusObject {
    if (!call.cancelled && toRepriseError(error).code === 'internal') this.#options.onInternalError?.(error);
    return errorStatus(error);
  }

  /** Listens. Fails with `address_in_use`, or `config_invalid` for an address that can't be had. */
  async start(): Promise<GrpcAddress> {
    const { host, port } = this.#options;
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(address, ServerCredentials.createInsecure(), (error, boundPort) => {
        if (error !== null) {
          reject(listenError(error, address));
          return;
        }
        this.#operations.start();
        resolve({ host, port: boundPort });
      });
    });
  }

  /**
   * Stops accepting, lets running calls and streams finish for at most `limitMs`, then cuts what is left.
   * A second call waits for the first.
   */
  close(limitMs: number): Promise<void> {
    this.#closing ??= this.#drain(limitMs);
    return this.#closing;
  }

  async #drain(limitMs: number): Promise<void> {
    this.#isDraining = true;
    this.#operations.close();
    await new Promise<void>((resolve) => {
      const limit = setTimeout(() => {
        this.#server.forceShutdown();
        resolve();
      }, limitMs);
      this.#server.tryShutdown(() => {
        clearTimeout(limit);
        resolve();
      });
    });
  }

  /** Calls whose answer isn't complete. */
  get running(): number {
    return this.#running;
  }
}

const NOTHING = new Uint8Array(0);

/** The service with messages as bytes: handlers decode and encode, so that neither copies nor hides a failure. */
const ENCODED_SERVICE: ServiceDefinition = Object.fromEntries(
  Object.entries(wire.InferenceCacheService).map(([name, method]) => [name, encodedMethod(method)]),
);

function encodedMethod({
  path,
  requestStream,
  responseStream,
}: Pick<MethodDefinition<unknown, unknown>, 'path' | 'requestStream' | 'responseStream'>): MethodDefinition<
  Buffer,
  Uint8Array
> {
  return {
    path,
    requestStream,
    responseStream,
    requestSerialize: (bytes) => bytes,
    requestDeserialize: (bytes) => bytes,
    responseSerialize: asBuffer,
    responseDeserialize: (bytes) => bytes,
  };
}

/** The reply, its status noted for the log. */
function noted<Reply extends { readonly status: CacheStatus }>(reply: Reply, logged: LoggedCall | undefined): Reply {
  if (logged !== undefined) logged.cacheStatus = reply.status;
  return reply;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function decoded<Message>(type: MessageType<Message>, bytes: Uint8Array): Message {
  try {
    return type.decode(bytes);
  } catch (error) {
    throw new RepriseError('invalid_request', 'The message is not what its type says.', { cause: error });
  }
}

function listenError(error: Error, address: string): RepriseError {
  if (error.message.includes('EADDRINUSE')) {
    const message = `${address} is in use; stop what listens there or set REPRISE_GRPC_PORT to a free port.`;
    return new RepriseError('address_in_use', message, { cause: error });
  }
  const message = `Can't listen on ${address} (${error.message}); set REPRISE_GRPC_PORT or the host to what this machine may use.`;
  return new RepriseError('config_invalid', message, { cause: error });
}
