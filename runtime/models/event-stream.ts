import type { Readable } from 'node:stream';
import { ModelError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import { SseParser } from './sse-parser.ts';
import type { SseEvent } from './sse-parser.ts';
import type { UpstreamCall } from './upstream-call.ts';
import { parseJsonBytes } from './upstream-answer.ts';

export interface EventStreamOptions {
  readonly upstream: string;
  readonly eventBytesMax: number;
  readonly clock: Clock;
}

const DONE = [0x5b, 0x44, 0x4f, 0x4e, 0x45, 0x5d];
const LF = 0x0a;
const SPACE = 0x20;
/** How long an upstream may take to end its response after `[DONE]`, so that its connection serves again. */
const LINGER_MS = 1_000;

/**
 * The events of an upstream's streamed answer, read only as fast as they are taken. It ends after `[DONE]`, and nothing else is a
 * good end. An event that reports an error is yielded, so that the client sees it, and then thrown as `model_error`, so that the
 * stream counts as failed. Errors: `model_error`, `model_stream_truncated`, `model_invalid_answer`, `model_timeout`, `cancelled`.
 * Returning early, at any moment, closes the connection.
 */
export function readEventStream(
  body: Readable,
  call: UpstreamCall,
  options: EventStreamOptions,
): AsyncIterable<Uint8Array> {
  // Without a listener, a connection that breaks between two reads would be an uncaught exception.
  body.on('error', ignore);
  body.once('close', () => call.finish());
  const events = generate(body, call, options);
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => events.next(),
      return: async () => {
        // The generator alone would notice only at its next event, or never if it wasn't started.
        body.destroy();
        await events.return(undefined).catch(ignore);
        return { done: true, value: undefined };
      },
    }),
  };
}

async function* generate(
  body: Readable,
  call: UpstreamCall,
  options: EventStreamOptions,
): AsyncGenerator<Uint8Array, undefined> {
  const parser = new SseParser(options);
  let whole = false;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      for (const event of parser.push(chunk)) {
        whole = isDone(event.data);
        if (whole) return;
        yield* checked(event, options.upstream);
      }
    }
    const last = parser.end();
    whole = last !== undefined && isDone(last.data);
    if (!whole) throw truncated(options.upstream, undefined);
  } catch (error) {
    if (error instanceof ModelError || call.stopped) throw call.failure(error);
    throw truncated(options.upstream, error);
  } finally {
    if (whole) linger(body, options.clock);
    else body.destroy();
  }
}

/** Reads the rest of a response that is over, which is nothing, so that its connection can be used again. */
function linger(body: Readable, clock: Clock): void {
  if (body.closed) return;
  const timer = clock.setTimer(LINGER_MS, () => body.destroy());
  body.once('close', () => timer.cancel());
  body.resume();
}

function* checked(event: SseEvent, upstream: string): Generator<Uint8Array, undefined> {
  if (event.data.length === 0) return;
  const parsed = parseJsonBytes(event.data);
  if (parsed === undefined) {
    throw new ModelError('model_invalid_answer', `The upstream ${upstream} sent an event that isn't JSON.`);
  }
  const data = onOneLine(event.data);
  yield data;
  if (event.type === 'error' || reportsError(parsed.value)) {
    throw new ModelError('model_error', `The upstream ${upstream} reported an error in its stream.`, {
      body: data,
      contentType: 'application/json',
    });
  }
}

function reportsError(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'error' in value && Boolean(value.error);
}

/** Line feeds of a JSON document are white space, and must not reach a frame that lines end. */
function onOneLine(data: Uint8Array): Uint8Array {
  return data.includes(LF) ? data.map((byte) => (byte === LF ? SPACE : byte)) : data;
}

function isDone(data: Uint8Array): boolean {
  return data.length === DONE.length && DONE.every((byte, index) => data[index] === byte);
}

function truncated(upstream: string, cause: unknown): ModelError {
  return new ModelError(
    'model_stream_truncated',
    `The upstream ${upstream} ended its stream before the end of the answer.`,
    cause === undefined ? {} : { cause },
  );
}

function ignore(): void {}
