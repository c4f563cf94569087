import { RepriseClientError } from '../node/index.ts';
import type { RepriseClient } from '../node/index.ts';
import { ERROR_KINDS, ModelError, RepriseError } from '../../runtime/errors.ts';
import type { ErrorCode } from '../../runtime/errors.ts';
import type {
  CacheStatus,
  Explanation,
  FeedbackRequest,
  Identity,
  InferenceReply,
  InferenceRequest,
  InferenceService,
  InferenceStreamReply,
  InvalidateReply,
  InvalidateRequest,
  LookupReply,
  Readiness,
  Role,
  Stats,
  StoreRequest,
} from '../../runtime/ports/service.ts';

/** Whose requests a remote service takes. */
export interface RemoteServiceOptions {
  /**
   * The one tenant that the client's credential stands for. Requests of another tenant are refused, unless their identity
   * brings a credential of its own, which is then sent instead.
   */
  readonly tenant: string;
}

/** The service interface over a connection to a server. Models within a request can't travel and are refused. */
export function remoteService(client: RepriseClient, options: RemoteServiceOptions): InferenceService {
  return new RemoteService(client, options);
}

const RANKS: Readonly<Record<Role, number>> = { read: 0, write: 1, admin: 2 };
type Settings = NonNullable<Parameters<RepriseClient['infer']>[1]>;
type ModelErrorCode = ConstructorParameters<typeof ModelError>[0];
const MODEL_CODES: readonly string[] = [
  'model_error',
  'model_unavailable',
  'model_timeout',
  'model_stream_truncated',
  'model_invalid_answer',
] satisfies ModelErrorCode[];

class RemoteService implements InferenceService {
  readonly #client: RepriseClient;
  readonly #tenant: string;

  constructor(client: RepriseClient, options: RemoteServiceOptions) {
    this.#client = client;
    this.#tenant = options.tenant;
  }

  infer(request: InferenceRequest): Promise<InferenceReply> {
    return adapted(() => this.#client.infer(request.body, this.#settings(request)));
  }

  async inferStream(request: InferenceRequest): Promise<InferenceStreamReply> {
    const stream = await adapted(() => this.#client.inferStream(request.body, this.#settings(request)));
    return { status: stream.status, chunks: adaptedChunks(stream.chunks), usage: () => stream.usage() };
  }

  lookup(request: InferenceRequest): Promise<LookupReply> {
    return adapted(() => this.#client.lookup(request.body, this.#settings(request)));
  }

  store(request: StoreRequest): Promise<CacheStatus> {
    const { operation, body, answer, controls, identity } = request;
    return adapted(() => {
      const settings = { ...controls, operation, ...this.#asIdentity(identity, 'write') };
      return this.#client.store(body, answer, settings);
    });
  }

  invalidate(request: InvalidateRequest): Promise<InvalidateReply> {
    const { target, invalidation, purge, tenant, identity } = request;
    return adapted(() => {
      const own = (tenant ?? identity.tenant) === identity.tenant;
      const isShared = target.kind === 'model' || (target.kind === 'tenant' && target.tenant !== identity.tenant);
      const settings = this.#asIdentity(identity, isShared || !own ? 'admin' : 'write');
      return this.#client.invalidate(target, { invalidation, purge, ...(!own && { tenant }), ...settings });
    });
  }

  feedback(request: FeedbackRequest): Promise<void> {
    const { identity, ...feedback } = request;
    return adapted(() => this.#client.feedback(feedback, this.#asIdentity(identity, 'write')));
  }

  explain(request: InferenceRequest): Promise<Explanation> {
    return adapted(() => this.#client.explain(request.body, this.#settings(request)));
  }

  stats(identity: Identity): Promise<Stats> {
    return adapted(() => this.#client.stats(this.#asIdentity(identity, 'read')));
  }

  models(identity: Identity): Promise<readonly string[]> {
    return adapted(() => this.#client.models(this.#asIdentity(identity, 'read')));
  }

  readiness(): Readiness {
    const { state } = this.#client;
    const ready = state !== 'failing' && state !== 'closed';
    return { ready, parts: [{ name: 'server', state: ready ? 'ready' : 'failed', detail: state }] };
  }

  #settings(request: InferenceRequest): Settings {
    const { operation, controls, signal, traceparent, identity, model } = request;
    if (model !== undefined) {
      throw new RepriseError('invalid_request', 'A remote server can call its own models only.', { param: 'model' });
    }
    return {
      ...controls,
      operation,
      signal,
      ...(traceparent !== undefined && { traceparent }),
      ...this.#asIdentity(identity, 'read'),
    };
  }

  /** The server sees one credential for all, so that what the identity may not do must be refused here. */
  #asIdentity(identity: Identity, role: Role): { credential?: string } {
    if (RANKS[identity.role] < RANKS[role]) {
      throw new RepriseError(
        'permission_denied',
        `This needs the role '${role}'; the credential has '${identity.role}'.`,
      );
    }
    if (identity.credential !== undefined) return { credential: identity.credential };
    if (identity.tenant === this.#tenant) return {};
    throw new RepriseError('permission_denied', 'This connection serves another tenant.');
  }
}

async function adapted<Reply>(call: () => Promise<Reply>): Promise<Reply> {
  try {
    return await call();
  } catch (error) {
    throw serviceError(error);
  }
}

/** Not a generator: one that was never read would not pass `return` on, and the call would stay. */
function adaptedChunks(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  const adapter: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => adapter,
    next: () => adapted(() => iterator.next()),
    return: async () => {
      await iterator.return?.();
      return { done: true, value: undefined };
    },
  };
  return adapter;
}

/** A client's error as the service itself would have thrown it. */
function serviceError(error: unknown): unknown {
  if (!(error instanceof RepriseClientError)) return error;
  const { code, message, param, retryAfterMs, upstream } = error;
  const options = {
    cause: error,
    ...(param !== undefined && { param }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
  if (MODEL_CODES.includes(code)) {
    const { status, contentType, body, isBodyCut = false } = upstream ?? {};
    return new ModelError(code as ModelErrorCode, message, {
      ...options,
      ...(status !== undefined && { status }),
      // A part of a body is worth nothing to the client of a client.
      ...(body !== undefined && !isBodyCut && { body: new TextEncoder().encode(body) }),
      ...(contentType !== undefined && { contentType }),
    });
  }
  const known = Object.hasOwn(ERROR_KINDS, code) ? (code as ErrorCode) : undefined;
  return new RepriseError(known ?? (code === 'deadline_exceeded' ? 'unreachable' : 'internal'), message, options);
}
