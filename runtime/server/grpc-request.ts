import type { Metadata, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import type { InferRequest } from '../../proto/gen/reprise/v1/inference_cache.ts';
import { RepriseError } from '../errors.ts';
import { CancelSignal } from '../ports/cancel-signal.ts';
import type { Operation } from '../ports/model.ts';
import type { CacheControls, Identity, InferenceRequest } from '../ports/service.ts';
import { bodyOf, controlsOf, operationOf } from './grpc-messages.ts';

/** A call with one request message; messages travel encoded, so that a malformed one gets an error of ours. */
export type UnaryCall = ServerUnaryCall<Buffer, Uint8Array>;
/** A call whose answer streams. */
export type StreamCall = ServerWritableStream<Buffer, Uint8Array>;

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** One metadata value as text; the first where there are several. */
export function metadataText(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name);
  return typeof value === 'string' ? value : undefined;
}

/** Fails with `body_too_large`. */
export function checkSize(bytes: Uint8Array, bytesMax: number, what: string): void {
  if (bytes.length <= bytesMax) return;
  throw new RepriseError('body_too_large', `The ${what} has ${bytes.length} bytes; at most ${bytesMax} are taken.`, {
    param: what,
  });
}

/**
 * A call as a request to the service. Its signal is made when it is first read, since an answer from memory never needs it;
 * it is aborted by the caller's cancellation or deadline. Don't copy it by spreading.
 */
export class GrpcRequest implements InferenceRequest {
  readonly operation: Operation;
  readonly body: Uint8Array;
  readonly identity: Identity;
  readonly controls: CacheControls;
  readonly traceparent?: string;
  readonly #call: UnaryCall | StreamCall;
  #signal: CancelSignal | undefined;

  constructor(message: InferRequest, identity: Identity, call: UnaryCall | StreamCall) {
    this.operation = operationOf(message.operation);
    this.body = bodyOf(message);
    this.identity = identity;
    this.controls = controlsOf(message);
    const traceparent = metadataText(call.metadata, 'traceparent');
    if (traceparent !== undefined && TRACEPARENT.test(traceparent)) this.traceparent = traceparent;
    this.#call = call;
  }

  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      const signal = new CancelSignal();
      this.#signal = signal;
      if (this.#call.cancelled) signal.cancel();
      else this.#call.once('cancelled', () => signal.cancel());
    }
    return this.#signal;
  }
}
