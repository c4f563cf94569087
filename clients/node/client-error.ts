import { status as grpcCodes } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { ErrorInfo } from '../../proto/gen/google/rpc/error_info.ts';
import { Status } from '../../proto/gen/google/rpc/status.ts';

/** The upstream's own failure, as far as it came along. */
export interface UpstreamFailure {
  /** HTTP status. */
  readonly status: number | undefined;
  readonly contentType: string | undefined;
  /** Its first bytes, as text. */
  readonly body: string | undefined;
  /** True when `body` is only a part. */
  readonly isBodyCut: boolean;
}

/** What a `RepriseClientError` is made of. */
export interface RepriseClientErrorFields {
  readonly code: string;
  readonly grpcStatus: string;
  readonly retryable: boolean;
  readonly param?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly upstream?: UpstreamFailure | undefined;
  readonly cause?: unknown;
}

/** A failed call: the server's error code, or one of ours where it could send none (`unreachable`, `deadline_exceeded`, `cancelled` …). */
export class RepriseClientError extends Error {
  readonly code: string;
  /** Name of the gRPC status. */
  readonly grpcStatus: string;
  /** True when the same call may succeed later. */
  readonly retryable: boolean;
  /** The request field that is at fault. */
  readonly param: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** Present when the model failed and not the cache. */
  readonly upstream: UpstreamFailure | undefined;

  constructor(message: string, fields: RepriseClientErrorFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = 'RepriseClientError';
    this.code = fields.code;
    this.grpcStatus = fields.grpcStatus;
    this.retryable = fields.retryable;
    this.param = fields.param;
    this.retryAfterMs = fields.retryAfterMs;
    this.upstream = fields.upstream;
  }
}

const DETAILS_TRAILER = 'grpc-status-details-bin';
const ERROR_INFO_TYPE = 'type.googleapis.com/google.rpc.ErrorInfo';
const DOMAIN = 'reprise';

/** Codes of failures that a server of ours didn't word itself. */
const CODES_WITHOUT_DETAILS: Readonly<Record<string, { code: string; retryable: boolean }>> = {
  CANCELLED: { code: 'cancelled', retryable: false },
  DEADLINE_EXCEEDED: { code: 'deadline_exceeded', retryable: true },
  RESOURCE_EXHAUSTED: { code: 'overloaded', retryable: true },
  UNAUTHENTICATED: { code: 'invalid_credential', retryable: false },
  PERMISSION_DENIED: { code: 'permission_denied', retryable: false },
  UNAVAILABLE: { code: 'unreachable', retryable: true },
  UNIMPLEMENTED: { code: 'unknown_path', retryable: false },
};

/** A failure of grpc-js as an error of ours. */
export function clientError(thrown: unknown): RepriseClientError {
  if (thrown instanceof RepriseClientError) return thrown;
  if (!isServiceError(thrown)) {
    const message = thrown instanceof Error ? thrown.message : 'The call failed.';
    return new RepriseClientError(message, {
      code: 'internal',
      grpcStatus: 'UNKNOWN',
      retryable: false,
      cause: thrown,
    });
  }
  const grpcStatus = grpcCodes[thrown.code] ?? 'UNKNOWN';
  const info = errorInfoOf(thrown);
  if (info === undefined) return wordlessError(thrown, grpcStatus);
  const { metadata } = info;
  const retryAfter = metadata['retry_after_ms'];
  return new RepriseClientError(thrown.details, {
    code: info.reason,
    grpcStatus,
    retryable: metadata['retryable'] === 'true',
    param: metadata['param'],
    retryAfterMs: retryAfter === undefined ? undefined : Number(retryAfter),
    upstream: upstreamOf(info),
    cause: thrown,
  });
}

function isServiceError(thrown: unknown): thrown is ServiceError {
  return thrown instanceof Error && 'details' in thrown && 'metadata' in thrown;
}

function errorInfoOf({ metadata }: ServiceError): ErrorInfo | undefined {
  const [trailer] = metadata.get(DETAILS_TRAILER);
  if (trailer === undefined || typeof trailer === 'string') return undefined;
  try {
    for (const { typeUrl, value } of Status.decode(trailer).details) {
      if (typeUrl !== ERROR_INFO_TYPE) continue;
      const info = ErrorInfo.decode(value);
      if (info.domain === DOMAIN) return info;
    }
  } catch {
    // Details of someone else's making tell us nothing; the status remains.
  }
  return undefined;
}

function upstreamOf({ reason, metadata }: ErrorInfo): UpstreamFailure | undefined {
  if (!reason.startsWith('model_') || reason === 'model_not_found') return undefined;
  const status = metadata['upstream_status'];
  return {
    status: status === undefined ? undefined : Number(status),
    contentType: metadata['upstream_content_type'],
    body: metadata['upstream_body'],
    isBodyCut: metadata['upstream_body_cut'] === 'true',
  };
}

function wordlessError(thrown: ServiceError, grpcStatus: string): RepriseClientError {
  const isSize = grpcStatus === 'RESOURCE_EXHAUSTED' && /\blarger than max\b/i.test(thrown.details);
  const known = isSize ? { code: 'body_too_large', retryable: false } : CODES_WITHOUT_DETAILS[grpcStatus];
  const { code, retryable } = known ?? { code: 'internal', retryable: false };
  return new RepriseClientError(thrown.details, { code, grpcStatus, retryable, cause: thrown });
}
