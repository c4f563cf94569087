import type { ServerResponse } from 'node:http';
import type { InferenceStreamReply } from '../../runtime/ports/service.ts';
import { errorEvent } from './error-reply.ts';
import type { ReplyTarget } from './reply-target.ts';

/** How a stream ended: whole, cut by an error after its first byte, or left by the client. */
export type StreamEnd =
  | { readonly kind: 'complete'; readonly bytes: number }
  | { readonly kind: 'failed'; readonly bytes: number; readonly error: unknown }
  | { readonly kind: 'left'; readonly bytes: number };

export interface EventStreamHooks {
  /** Nothing was sent yet: the error still gets a status of its own. */
  readonly onEarlyFailure: (error: unknown) => void;
  readonly onEnd: (end: StreamEnd) => void;
}

const DONE = Buffer.from('data: [DONE]\n\n');
/** Keep proxies from holding live events back. */
const LIVE_HEADERS: readonly (readonly [string, string])[] = [
  ['cache-control', 'no-cache'],
  ['x-accel-buffering', 'no'],
];
/** A stored stream up to this size leaves in one write. */
const WHOLE_BYTES_MAX = 65_536;

/**
 * Writes one stream of events to a socket at the socket's own pace. The head leaves with the first event; a client that
 * goes away, or takes nothing for `stallMs`, abandons the stream at once, whatever the source is waiting for.
 */
export class EventStreamWriter {
  readonly #target: ReplyTarget;
  readonly #raw: ServerResponse;
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #stallMs: number;
  readonly #hooks: EventStreamHooks;
  readonly #isStored: boolean;
  #gathered: Uint8Array[] = [];
  #bytes = 0;
  #hasHead = false;
  #hasEnded = false;
  #stall: NodeJS.Timeout | undefined;

  constructor(target: ReplyTarget, stream: InferenceStreamReply, stallMs: number, hooks: EventStreamHooks) {
    this.#target = target;
    this.#raw = target.raw;
    this.#iterator = stream.chunks[Symbol.asyncIterator]();
    this.#stallMs = stallMs;
    this.#hooks = hooks;
    this.#isStored = stream.status.outcome === 'hit' && stream.status.detail !== 'coalesced';
  }

  /** Begins; headers must be set on the target by now. */
  start(): void {
    if (this.#raw.destroyed) {
      this.#onClose();
      return;
    }
    this.#raw.once('close', this.#onClose);
    this.#pull();
  }

  #pull(): void {
    this.#iterator.next().then(this.#onItem, this.#onFailure);
  }

  readonly #onItem = (item: IteratorResult<Uint8Array>): void => {
    if (this.#hasEnded) return;
    try {
      if (item.done === true) this.#finish();
      else this.#take(item.value);
    } catch (error) {
      this.#onFailure(error);
    }
  };

  #take(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#hasHead) {
      this.#write(chunk);
      return;
    }
    this.#gathered.push(chunk);
    if (this.#isStored && this.#bytes <= WHOLE_BYTES_MAX) {
      this.#pull();
      return;
    }
    this.#writeHead();
    this.#write(this.#gathered.length === 1 ? chunk : Buffer.concat(this.#gathered));
    this.#gathered = [];
  }

  #writeHead(): void {
    for (const [name, value] of LIVE_HEADERS) this.#target.set(name, value);
    this.#target.open(200);
    this.#hasHead = true;
  }

  #write(chunk: Uint8Array): void {
    if (this.#raw.destroyed) return;
    if (this.#raw.write(chunk)) {
      this.#pull();
      return;
    }
    this.#stall = setTimeout(this.#onStall, this.#stallMs);
    this.#stall.unref();
    this.#raw.once('drain', this.#onDrain);
  }

  readonly #onDrain = (): void => {
    clearTimeout(this.#stall);
    if (!this.#hasEnded) this.#pull();
  };

  readonly #onStall = (): void => {
    this.#raw.destroy();
  };

  #finish(): void {
    if (!this.#hasHead && this.#gathered.length > 0) {
      this.#end('complete');
      this.#gathered.push(DONE);
      this.#target.send(200, Buffer.concat(this.#gathered, this.#bytes + DONE.length));
      return;
    }
    if (!this.#hasHead) this.#writeHead();
    this.#end('complete');
    this.#raw.end(DONE);
  }

  readonly #onFailure = (error: unknown): void => {
    if (this.#hasEnded) return;
    this.#detach();
    this.#abandon();
    if (!this.#hasHead) {
      this.#hooks.onEarlyFailure(error);
      return;
    }
    this.#hooks.onEnd({ kind: 'failed', bytes: this.#bytes, error });
    this.#raw.end(errorEvent(error));
  };

  readonly #onClose = (): void => {
    if (this.#hasEnded) return;
    this.#end('left');
    this.#abandon();
  };

  /** Leaves the source without waiting for it: what it does from here on concerns nobody. */
  #abandon(): void {
    this.#iterator.return?.().then(undefined, () => undefined);
  }

  #end(kind: 'complete' | 'left'): void {
    this.#detach();
    this.#hooks.onEnd({ kind, bytes: this.#bytes });
  }

  #detach(): void {
    this.#hasEnded = true;
    clearTimeout(this.#stall);
    this.#raw.off('close', this.#onClose);
    this.#raw.off('drain', this.#onDrain);
  }
}
