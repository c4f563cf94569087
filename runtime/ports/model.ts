/** What an upstream is asked. The body is final: nothing may be added or dropped on the way but what the upstream's own protocol needs. */
export interface ModelRequest {
  readonly operation: Operation;
  /** Effective model name, as the upstream knows it. */
  readonly model: string;
  /** JSON, UTF-8. */
  readonly body: Uint8Array;
  /** The caller's own credential, when identity is `forward`; otherwise the upstream's configured one is used. */
  readonly credential?: string;
  /** W3C trace context to forward. */
  readonly traceparent?: string;
}

/** Operations of the inference API; part of every key. */
export type Operation = 'chat.completions' | 'completions' | 'embeddings';

export interface ModelReply {
  /** 2xx; anything else is thrown as `ModelError`. */
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/**
 * A stream of events. Each item is the payload of one server-sent event (`data:` without framing), JSON.
 * The iterable ends normally only after the upstream's terminal event (`[DONE]`, not itself an item); a stream that is
 * cut throws `model_stream_truncated`. An upstream that answers a stream request with a whole body yields `reply` instead.
 */
export type ModelStream =
  | { readonly kind: 'events'; readonly events: AsyncIterable<Uint8Array> }
  | { readonly kind: 'reply'; readonly reply: ModelReply };

export interface ModelCallOptions {
  /** Aborting it closes the upstream connection. */
  readonly signal: AbortSignal;
  /** Monotonic instant past which the call fails with `model_timeout`. */
  readonly deadlineAtMs: number;
}

/** A model upstream. Errors are `ModelError`s that carry the upstream's own status and body where there is one. */
export interface Model {
  call(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply>;
  stream(request: ModelRequest, options: ModelCallOptions): Promise<ModelStream>;
  /** Names for `/v1/models`. */
  models(): Promise<readonly string[]>;
  close(): Promise<void>;
}
