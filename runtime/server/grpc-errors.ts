import { Metadata, status as grpcCodes } from '@grpc/grpc-js';
import type { StatusObject } from '@grpc/grpc-js';
import { Any } from '../../proto/gen/google/protobuf/any.ts';
import { ErrorInfo } from '../../proto/gen/google/rpc/error_info.ts';
import { Status } from '../../proto/gen/google/rpc/status.ts';
import { ModelError, toRepriseError } from '../errors.ts';
import type { RepriseError } from '../errors.ts';

/** The trailer that holds an error's `google.rpc.Status`. */
const DETAILS_TRAILER = 'grpc-status-details-bin';
const ERROR_INFO_TYPE = 'type.googleapis.com/google.rpc.ErrorInfo';
const DOMAIN = 'reprise';
/** Trailers share a small budget in most clients: 8 KiB for all of them, and base64 takes a third more. */
const MESSAGE_CHARACTERS_MAX = 512;
const UPSTREAM_BODY_BYTES_MAX = 2_048;

const decoder = new TextDecoder();

/** An error as it leaves by gRPC: the code's status, the message, and an ErrorInfo with what programs need. */
export function errorStatus(thrown: unknown): StatusObject {
  const error = toRepriseError(thrown);
  const code = grpcCodes[error.kind.grpcStatus];
  const details = error.message.slice(0, MESSAGE_CHARACTERS_MAX);
  const info = ErrorInfo.encode({ reason: error.code, domain: DOMAIN, metadata: infoMetadata(error) }).finish();
  const any: Any = { typeUrl: ERROR_INFO_TYPE, value: info };
  const metadata = new Metadata();
  metadata.set(DETAILS_TRAILER, Buffer.from(Status.encode({ code, message: details, details: [any] }).finish()));
  return { code, details, metadata };
}

function infoMetadata(error: RepriseError): Record<string, string> {
  const metadata: Record<string, string> = { retryable: String(error.kind.retryable) };
  if (error.param !== undefined) metadata['param'] = error.param;
  if (error.retryAfterMs !== undefined) metadata['retry_after_ms'] = String(Math.ceil(error.retryAfterMs));
  if (error instanceof ModelError) {
    const { status, body, contentType } = error;
    if (status !== undefined) metadata['upstream_status'] = String(status);
    if (contentType !== undefined) metadata['upstream_content_type'] = contentType.slice(0, MESSAGE_CHARACTERS_MAX);
    if (body !== undefined) {
      metadata['upstream_body'] = decoder.decode(body.subarray(0, UPSTREAM_BODY_BYTES_MAX));
      if (body.length > UPSTREAM_BODY_BYTES_MAX) metadata['upstream_body_cut'] = 'true';
    }
  }
  return metadata;
}
