import { InferStreamResponse } from '../../proto/gen/reprise/v1/inference_cache.ts';
import { RepriseError } from '../errors.ts';
import type { InferenceStreamReply } from '../ports/service.ts';
import { statusMessage, usageMessage } from './grpc-messages.ts';
import type { StreamCall } from './grpc-request.ts';

/** Events of one message; well below the 4 MiB that clients take unless told. */
const EVENTS_BYTES_MAX = 1024 * 1024;
const LINE_FEED = 0x0a;

/**
 * Sends status, events and usage, at the pace of the client. Resolves when all is handed over or the call was cancelled; throws
 * the stream's own error. `onSent` is told the bytes of events as they are handed over, so that they are known however it ends. A client
 * that takes nothing for `stallMs` is told `cancelled`. However it ends, the flight is left.
 */
export async function relayStream(
  call: StreamCall,
  reply: InferenceStreamReply,
  stallMs: number,
  onSent: (bytes: number) => void,
): Promise<void> {
  const iterator = reply.chunks[Symbol.asyncIterator]();
  let isOver = false;
  const leave = (): void => {
    if (isOver) return;
    isOver = true;
    // A failure to leave is no matter of a caller who is gone.
    iterator.return?.().catch(() => undefined);
  };
  call.once('cancelled', leave);
  if (call.cancelled) leave();
  try {
    let isReady = send(call, { $case: 'status', value: statusMessage(reply.status) });
    while (!isOver) {
      const next = await iterator.next();
      if (call.cancelled) return;
      if (next.done === true) {
        isOver = true;
        send(call, { $case: 'usage', value: usageMessage(reply.usage()) });
        return;
      }
      for (const events of split(next.value)) {
        if (!isReady) await drained(call, stallMs);
        if (call.cancelled) return;
        onSent(events.length);
        isReady = send(call, { $case: 'events', value: events });
      }
    }
  } finally {
    leave();
    call.off('cancelled', leave);
  }
}

function send(call: StreamCall, part: NonNullable<InferStreamResponse['part']>): boolean {
  return call.write(InferStreamResponse.encode({ part }).finish());
}

/** Parts of whole events, each within the limit unless one event alone is larger. */
function* split(chunk: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  while (chunk.length - start > EVENTS_BYTES_MAX) {
    const end = boundaryBefore(chunk, start) ?? boundaryAfter(chunk, start);
    yield chunk.subarray(start, end);
    start = end;
  }
  if (start < chunk.length) yield chunk.subarray(start);
}

function boundaryBefore(chunk: Uint8Array, start: number): number | undefined {
  for (let end = start + EVENTS_BYTES_MAX; end > start + 1; end -= 1) {
    if (chunk[end - 1] === LINE_FEED && chunk[end - 2] === LINE_FEED) return end;
  }
  return undefined;
}

function boundaryAfter(chunk: Uint8Array, start: number): number {
  for (let end = start + EVENTS_BYTES_MAX + 1; end < chunk.length; end += 1) {
    if (chunk[end - 1] === LINE_FEED && chunk[end - 2] === LINE_FEED) return end;
  }
  return chunk.length;
}

/** Resolves when the call takes messages again, or was cancelled. */
function drained(call: StreamCall, stallMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timeout);
      call.off('drain', settle);
      call.off('cancelled', settle);
      resolve();
    };
    const timeout = setTimeout(() => {
      call.off('drain', settle);
      call.off('cancelled', settle);
      reject(new RepriseError('cancelled', 'The client took nothing for too long.'));
    }, stallMs);
    call.once('drain', settle);
    call.once('cancelled', settle);
    if (call.cancelled || !call.writableNeedDrain) settle();
  });
}
