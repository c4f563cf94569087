import type { ClientReadableStream } from '@grpc/grpc-js';
import type { InferStreamResponse } from '../../proto/gen/reprise/v1/inference_cache.ts';
import { RepriseClientError, clientError } from './client-error.ts';
import { statusFrom, usageFrom } from './messages.ts';
import type { CacheStatus, InferStream, UsageAccount } from './types.ts';

const EVENT_END = '\n\n';
const DATA = 'data: ';

/** Reads a streamed answer from a call: resolves with the status. `onEnd` is told once, however the stream ends. */
export async function openStream(
  call: ClientReadableStream<InferStreamResponse>,
  onEnd: () => void,
): Promise<InferStream> {
  const parts = new StreamParts(call, onEnd);
  const status = await parts.open();
  return { status, chunks: parts, events: () => new ParsedEvents(parts), usage: () => parts.usage };
}

/** The events of one call, at the pace of the reader. `return` cancels the call. */
class StreamParts implements AsyncIterableIterator<Uint8Array> {
  readonly #call: ClientReadableStream<InferStreamResponse>;
  readonly #messages: AsyncIterator<InferStreamResponse>;
  readonly #onEnd: () => void;
  #isOver = false;
  usage: UsageAccount = usageFrom(undefined);

  constructor(call: ClientReadableStream<InferStreamResponse>, onEnd: () => void) {
    this.#call = call;
    this.#messages = call[Symbol.asyncIterator]();
    this.#onEnd = onEnd;
    // The iterator reports failures; without a listener one that comes after `return` would bring the process down.
    call.on('error', () => undefined);
  }

  /** The status, which comes first. */
  async open(): Promise<CacheStatus> {
    const part = await this.#part();
    if (part?.$case === 'status') return statusFrom(part.value);
    this.#end();
    throw new RepriseClientError('The stream did not begin with a status.', {
      code: 'internal',
      grpcStatus: 'INTERNAL',
      retryable: false,
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (!this.#isOver) {
      const part = await this.#part();
      if (part?.$case === 'events') return { done: false, value: part.value };
      if (part?.$case === 'usage') this.usage = usageFrom(part.value);
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#end();
    return { done: true, value: undefined };
  }

  async #part(): Promise<InferStreamResponse['part']> {
    try {
      const message = await this.#messages.next();
      if (message.done !== true) return message.value.part;
    } catch (error) {
      this.#end();
      throw clientError(error);
    }
    this.#end();
    return undefined;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#call.cancel();
    this.#onEnd();
  }
}

/** Events one by one, parsed. Not a generator: one that was never read would not pass `return` on, and the call would stay. */
class ParsedEvents implements AsyncIterableIterator<Record<string, unknown>> {
  readonly #chunks: AsyncIterableIterator<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #events: readonly string[] = [];
  #index = 0;

  constructor(chunks: AsyncIterableIterator<Uint8Array>) {
    this.#chunks = chunks;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Record<string, unknown>, undefined>> {
    for (;;) {
      while (this.#index < this.#events.length) {
        const event = this.#events[this.#index] ?? '';
        this.#index += 1;
        if (event.startsWith(DATA)) {
          return { done: false, value: JSON.parse(event.slice(DATA.length)) as Record<string, unknown> };
        }
      }
      const chunk = await this.#chunks.next();
      if (chunk.done === true) return { done: true, value: undefined };
      this.#events = this.#decoder.decode(chunk.value).split(EVENT_END);
      this.#index = 0;
    }
  }

  async return(): Promise<IteratorResult<Record<string, unknown>, undefined>> {
    await this.#chunks.return?.();
    return { done: true, value: undefined };
  }
}
