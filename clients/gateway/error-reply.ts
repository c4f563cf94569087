import { ModelError, RepriseError, toRepriseError } from '../../runtime/errors.ts';
import type { ErrorCode } from '../../runtime/errors.ts';
import { CONTROL_HEADERS } from './controls.ts';

/** An error as it leaves by HTTP. */
export interface ErrorReply {
  readonly error: RepriseError;
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array | string;
  /** Whole seconds, for `Retry-After`; absent: say nothing. */
  readonly retryAfterSeconds?: number;
}

const JSON_TYPE = 'application/json';

/** What Fastify itself refuses, in our codes. */
const FRAMEWORK_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
};

/** Any thrown value, those of the web framework included, as an error of ours. */
export function edgeError(error: unknown): RepriseError {
  if (error instanceof RepriseError || !(error instanceof Error)) return toRepriseError(error);
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (typeof code !== 'string' || !code.startsWith('FST_')) return toRepriseError(error);
  const known = FRAMEWORK_CODES[code];
  if (known !== undefined) return new RepriseError(known, error.message, { cause: error });
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new RepriseError('invalid_request', error.message, { cause: error });
  }
  return toRepriseError(error);
}

const HEADERS: ReadonlyMap<string | undefined, string> = new Map(Object.entries(CONTROL_HEADERS));

/** A control by the name of the header that carried it; what came in the body's `cache` object is named after that. */
function headerOf(param: string | undefined): string | undefined {
  return HEADERS.get(param) ?? param;
}

/** The error object of OpenAI's API: `{"error": {message, type, param, code}}`. */
export function errorJson(error: RepriseError): string {
  const { message, kind, code } = error;
  const param = code === 'invalid_control' ? headerOf(error.param) : error.param;
  return JSON.stringify({ error: { message, type: kind.type, param: param ?? null, code } });
}

/** The reply to a failed request. An upstream's own status and body pass unchanged where it sent any. */
export function errorReply(thrown: unknown): ErrorReply {
  const error = edgeError(thrown);
  const retryAfter =
    error.retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.max(0, Math.ceil(error.retryAfterMs / 1_000)) };
  if (error instanceof ModelError && error.status !== undefined && error.status >= 400 && error.status <= 599) {
    const { status } = error;
    if (error.body !== undefined && error.body.length > 0) {
      return { error, status, contentType: error.contentType ?? JSON_TYPE, body: error.body, ...retryAfter };
    }
    return { error, status, contentType: JSON_TYPE, body: errorJson(error), ...retryAfter };
  }
  return { error, status: error.kind.httpStatus, contentType: JSON_TYPE, body: errorJson(error), ...retryAfter };
}

/** The event that ends a stream which fails after its first byte; no `[DONE]` follows it. */
export function errorEvent(thrown: unknown): string {
  return `data: ${errorJson(edgeError(thrown))}\n\n`;
}
