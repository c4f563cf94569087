/** gRPC status names that our errors map to. */
export type GrpcStatus =
  | 'CANCELLED'
  | 'INVALID_ARGUMENT'
  | 'DEADLINE_EXCEEDED'
  | 'NOT_FOUND'
  | 'PERMISSION_DENIED'
  | 'UNAUTHENTICATED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'ABORTED'
  | 'UNIMPLEMENTED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'UNKNOWN';

interface ErrorKind {
  readonly httpStatus: number;
  readonly grpcStatus: GrpcStatus;
  readonly retryable: boolean;
  /** OpenAI's `error.type`. */
  readonly type: string;
}

function kind(httpStatus: number, grpcStatus: GrpcStatus, type: string, retryable = false): ErrorKind {
  return { httpStatus, grpcStatus, type, retryable };
}

const INVALID = 'invalid_request_error';

/** Every error code, once: how it leaves by HTTP and gRPC and whether the same call may succeed later. docs/errors.md is compared with it. */
export const ERROR_KINDS = {
  invalid_json: kind(400, 'INVALID_ARGUMENT', INVALID),
  invalid_unicode: kind(400, 'INVALID_ARGUMENT', INVALID),
  json_too_deep: kind(400, 'INVALID_ARGUMENT', INVALID),
  duplicate_member: kind(400, 'INVALID_ARGUMENT', INVALID),
  empty_body: kind(400, 'INVALID_ARGUMENT', INVALID),
  invalid_request: kind(400, 'INVALID_ARGUMENT', INVALID),
  invalid_control: kind(400, 'INVALID_ARGUMENT', INVALID),
  body_too_large: kind(413, 'RESOURCE_EXHAUSTED', INVALID),
  unsupported_media_type: kind(415, 'INVALID_ARGUMENT', INVALID),
  unknown_path: kind(404, 'UNIMPLEMENTED', INVALID),
  method_not_allowed: kind(405, 'UNIMPLEMENTED', INVALID),
  model_not_found: kind(404, 'NOT_FOUND', INVALID),
  entry_not_found: kind(404, 'NOT_FOUND', INVALID),
  not_cached: kind(504, 'NOT_FOUND', INVALID),
  missing_credential: kind(401, 'UNAUTHENTICATED', 'authentication_error'),
  invalid_credential: kind(401, 'UNAUTHENTICATED', 'authentication_error'),
  permission_denied: kind(403, 'PERMISSION_DENIED', 'permission_error'),
  host_not_allowed: kind(403, 'PERMISSION_DENIED', 'permission_error'),
  draining: kind(503, 'UNAVAILABLE', 'server_error', true),
  overloaded: kind(503, 'RESOURCE_EXHAUSTED', 'server_error', true),
  upstream_queue_full: kind(429, 'RESOURCE_EXHAUSTED', 'rate_limit_error', true),
  model_unavailable: kind(502, 'UNAVAILABLE', 'upstream_error', true),
  model_timeout: kind(504, 'DEADLINE_EXCEEDED', 'upstream_error', true),
  model_error: kind(502, 'UNKNOWN', 'upstream_error'),
  model_stream_truncated: kind(502, 'ABORTED', 'upstream_error', true),
  model_invalid_answer: kind(502, 'INTERNAL', 'upstream_error'),
  cancelled: kind(499, 'CANCELLED', 'cancelled'),
  grid_timeout: kind(503, 'DEADLINE_EXCEEDED', 'server_error', true),
  grid_unavailable: kind(503, 'UNAVAILABLE', 'server_error', true),
  embedder_unavailable: kind(503, 'UNAVAILABLE', 'server_error', true),
  embedder_timeout: kind(503, 'DEADLINE_EXCEEDED', 'server_error', true),
  embedder_invalid_vector: kind(502, 'INTERNAL', 'server_error'),
  mailbox_full: kind(503, 'RESOURCE_EXHAUSTED', 'server_error', true),
  actor_timeout: kind(503, 'DEADLINE_EXCEEDED', 'server_error', true),
  actor_stopped: kind(503, 'UNAVAILABLE', 'server_error', true),
  config_invalid: kind(500, 'FAILED_PRECONDITION', 'server_error'),
  address_in_use: kind(500, 'FAILED_PRECONDITION', 'server_error'),
  model_file_invalid: kind(500, 'FAILED_PRECONDITION', 'server_error'),
  data_invalid: kind(500, 'FAILED_PRECONDITION', 'server_error'),
  data_insufficient: kind(500, 'FAILED_PRECONDITION', 'server_error'),
  unreachable: kind(503, 'UNAVAILABLE', 'server_error', true),
  internal: kind(500, 'INTERNAL', 'server_error'),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_KINDS;

export interface RepriseErrorOptions {
  readonly cause?: unknown;
  /** The request field that is at fault, as OpenAI's `error.param`. */
  readonly param?: string;
  readonly retryAfterMs?: number;
}

/** What the world does to us: a coded failure whose message says what to do. Bugs are `assert`s instead. */
export class RepriseError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: RepriseErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'RepriseError';
    this.code = code;
    this.param = options.param;
    this.retryAfterMs = options.retryAfterMs;
  }

  get kind(): ErrorKind {
    return ERROR_KINDS[this.code];
  }
}

/** An upstream's own failure, passed on faithfully: its status and body reach the client unchanged where there are any. */
export class ModelError extends RepriseError {
  /** The upstream's HTTP status; undefined when it sent none (refused, hung, cut). */
  readonly status: number | undefined;
  readonly body: Uint8Array | undefined;
  readonly contentType: string | undefined;

  constructor(
    code: 'model_error' | 'model_unavailable' | 'model_timeout' | 'model_stream_truncated' | 'model_invalid_answer',
    message: string,
    options: RepriseErrorOptions & {
      readonly status?: number;
      readonly body?: Uint8Array;
      readonly contentType?: string;
    } = {},
  ) {
    super(code, message, options);
    this.name = 'ModelError';
    this.status = options.status;
    this.body = options.body;
    this.contentType = options.contentType;
  }
}

/** True for an error of ours with this code. */
export function hasCode(error: unknown, code: ErrorCode): error is RepriseError {
  return error instanceof RepriseError && error.code === code;
}

/** The outcome of a request that ended in this error. */
export function failedOutcome(error: RepriseError): 'cancelled' | 'refused' | 'error' {
  if (error.code === 'cancelled') return 'cancelled';
  const { type } = error.kind;
  return type === 'upstream_error' || type === 'server_error' ? 'error' : 'refused';
}

/** Any thrown value as an error of ours; what we don't know becomes `internal`. */
export function toRepriseError(error: unknown): RepriseError {
  if (error instanceof RepriseError) return error;
  const name = error instanceof Error ? error.name : typeof error;
  if (name === 'AbortError') return new RepriseError('cancelled', 'The request was cancelled.', { cause: error });
  return new RepriseError('internal', 'Reprise failed internally; the log has the cause.', { cause: error });
}

/** Fails on a bug of ours; stays on in production. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Reprise bug: ${message}`);
}
