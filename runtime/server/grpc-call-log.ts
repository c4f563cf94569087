import { status as grpcCodes } from '@grpc/grpc-js';
import type { RequestRecord } from '../../clients/gateway/index.ts';
import { failedOutcome, toRepriseError } from '../errors.ts';
import type { CacheStatus, Identity } from '../ports/service.ts';
import { metadataText, type StreamCall, type UnaryCall } from './grpc-request.ts';
import { requestIds } from './request-ids.ts';

const SERVICE_PATH = '/reprise.v1.InferenceCache/';
const ENTRY_PREFIX_CHARACTERS = 12;

/** One call on its way; what is known of it is filled in as it becomes known. */
export interface LoggedCall {
  readonly requestId: string;
  readonly method: string;
  readonly startedAtMs: number;
  readonly bodyBytes: number;
  identity: Identity | undefined;
  cacheStatus: CacheStatus | undefined;
  replyBytes: number;
}

/** Makes one record of each finished call, in the terms of the HTTP log; its status is the gRPC code. */
export class GrpcCallLog {
  readonly #onCallDone: (record: RequestRecord) => void;
  readonly #requestIdOf = requestIds();

  constructor(onCallDone: (record: RequestRecord) => void) {
    this.#onCallDone = onCallDone;
  }

  begin(method: string, call: UnaryCall | StreamCall): LoggedCall {
    return {
      requestId: this.#requestIdOf(metadataText(call.metadata, 'x-request-id')),
      method,
      startedAtMs: performance.now(),
      bodyBytes: call.request.length,
      identity: undefined,
      cacheStatus: undefined,
      replyBytes: 0,
    };
  }

  /** `failure`: what the call ended with; undefined when it was answered. */
  end(logged: LoggedCall, failure: { readonly error: unknown; readonly cancelled: boolean } | undefined): void {
    const { cacheStatus, identity, method } = logged;
    const error = failure === undefined ? undefined : toRepriseError(failure.error);
    const cancelled = failure?.cancelled === true;
    this.#onCallDone({
      requestId: logged.requestId,
      method: 'GRPC',
      path: SERVICE_PATH + method,
      status: cancelled ? grpcCodes.CANCELLED : error === undefined ? grpcCodes.OK : grpcCodes[error.kind.grpcStatus],
      outcome: cancelled ? 'cancelled' : error === undefined ? (cacheStatus?.outcome ?? '') : failedOutcome(error),
      detail: cancelled ? 'cancelled' : (error?.code ?? cacheStatus?.detail ?? ''),
      durationMs: performance.now() - logged.startedAtMs,
      bodyBytes: logged.bodyBytes,
      replyBytes: logged.replyBytes,
      tenant: identity?.tenant ?? '',
      entry: cacheStatus?.entryId.slice(0, ENTRY_PREFIX_CHARACTERS) ?? '',
      model: cacheStatus?.model ?? '',
      stream: method === 'InferStream',
    });
  }
}
