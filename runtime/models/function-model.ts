import { ModelError, RepriseError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Model, ModelCallOptions, ModelReply, ModelRequest, ModelStream, Operation } from '../ports/model.ts';
import { UpstreamCall } from './upstream-call.ts';

/** What a model function is told beside the request. */
export interface ModelFunctionContext {
  readonly operation: Operation;
  readonly model: string;
}

/**
 * A model as a function of an embedding program. It gets the request's JSON and gives the answer in OpenAI's shape, the answer's
 * text alone, or, when `request.stream` is true, the chunks of a stream. `signal` is aborted when nobody wants the answer any
 * more or the deadline passed. It may throw an error with a `status` (400–599) and OpenAI's `error` object: both reach the caller.
 */
export type ModelFunction = (
  request: Record<string, unknown>,
  signal: AbortSignal,
  context: ModelFunctionContext,
) => Promise<object | string> | AsyncIterable<object>;

export interface FunctionModelOptions {
  /** For messages, where it follows "The model function" and "The upstream". */
  readonly name: string;
  /** Names for `/v1/models`. */
  readonly models: readonly string[];
}

const ENCODER = new TextEncoder();
const JSON_TYPE = 'application/json';

/** A `Model` that runs a function in this process. */
export class FunctionModel implements Model {
  readonly #clock: Clock;
  readonly #run: ModelFunction;
  readonly #options: FunctionModelOptions;
  #answers = 0;

  constructor(deps: { readonly clock: Clock }, run: ModelFunction, options: FunctionModelOptions) {
    this.#clock = deps.clock;
    this.#run = run;
    this.#options = options;
  }

  async call(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
    const call = new UpstreamCall(this.#clock, this.#options.name, options, () => {});
    try {
      const answer = await this.#answer(request, call);
      if (!isAsyncIterable(answer)) return this.#reply(request, answer);
      closeQuietly(answer[Symbol.asyncIterator]());
      throw this.#invalid('gave a stream where the request asked for none; look at request.stream');
    } catch (error) {
      throw this.#failure(call, error);
    } finally {
      call.finish();
    }
  }

  async stream(request: ModelRequest, options: ModelCallOptions): Promise<ModelStream> {
    const call = new UpstreamCall(this.#clock, this.#options.name, options, () => {});
    try {
      const answer = await this.#answer(request, call);
      if (isAsyncIterable(answer)) return { kind: 'events', events: this.#events(answer, call) };
      const reply = this.#reply(request, answer);
      call.finish();
      return { kind: 'reply', reply };
    } catch (error) {
      const failure = this.#failure(call, error);
      call.finish();
      throw failure;
    }
  }

  models(): Promise<readonly string[]> {
    return Promise.resolve(this.#options.models);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #answer(request: ModelRequest, call: UpstreamCall): Promise<object | string> {
    const body = JSON.parse(new TextDecoder().decode(request.body)) as Record<string, unknown>;
    const context = { operation: request.operation, model: request.model };
    const answer = this.#run(body, call.signal, context);
    if (isAsyncIterable(answer)) return answer;
    return await untilStopped(answer, call);
  }

  #events(answer: AsyncIterable<object>, call: UpstreamCall): AsyncIterable<Uint8Array> {
    const chunks = answer[Symbol.asyncIterator]();
    const leave = (): Promise<IteratorReturnResult<undefined>> => {
      call.finish();
      closeQuietly(chunks);
      return Promise.resolve({ done: true, value: undefined });
    };
    const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
      try {
        const result = await untilStopped(chunks.next(), call);
        if (result.done === true) return await leave();
        return { done: false, value: this.#encode(result.value) };
      } catch (error) {
        const failure = this.#failure(call, error);
        await leave();
        throw failure;
      }
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
  }

  #reply(request: ModelRequest, answer: object | string): ModelReply {
    const value = typeof answer === 'string' ? this.#completion(request, answer) : answer;
    return { status: 200, contentType: JSON_TYPE, body: this.#encode(value) };
  }

  #encode(value: unknown): Uint8Array {
    let text: string | undefined;
    try {
      text = typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined;
    } catch {
      text = undefined;
    }
    if (text === undefined) throw this.#invalid('gave something that JSON cannot hold');
    return ENCODER.encode(text);
  }

  #completion(request: ModelRequest, text: string): object {
    this.#answers += 1;
    const created = Math.floor(this.#clock.wallMs() / 1_000);
    const id = `${created.toString(36)}-${this.#answers.toString(36)}`;
    const choice = { index: 0, finish_reason: 'stop', logprobs: null };
    const shared = { created, model: request.model };
    switch (request.operation) {
      case 'chat.completions': {
        const message = { role: 'assistant', content: text, refusal: null };
        return { id: `chatcmpl-${id}`, object: 'chat.completion', ...shared, choices: [{ ...choice, message }] };
      }
      case 'completions':
        return { id: `cmpl-${id}`, object: 'text_completion', ...shared, choices: [{ ...choice, text }] };
      case 'embeddings':
        throw this.#invalid('gave text where vectors were asked for');
    }
  }

  #failure(call: UpstreamCall, error: unknown): RepriseError {
    if (call.stopped || error instanceof RepriseError) return call.failure(error);
    const { status, error: detail } = (error ?? {}) as { status?: unknown; error?: unknown };
    const message = `The model function ${this.#options.name} failed.`;
    if (typeof status !== 'number' || !Number.isInteger(status) || status < 400 || status > 599) {
      return new ModelError('model_error', message, { cause: error });
    }
    const said = error instanceof Error ? error.message : message;
    const body = this.#encode({ error: detail ?? { message: said, type: 'upstream_error', param: null, code: null } });
    return new ModelError('model_error', message, { status, body, contentType: JSON_TYPE, cause: error });
  }

  #invalid(what: string): ModelError {
    return new ModelError('model_invalid_answer', `The model function ${this.#options.name} ${what}.`);
  }
}

/** `work`'s result, or a rejection as soon as the call is stopped: a function that ignores its signal holds nobody up. */
async function untilStopped<T>(work: Promise<T>, call: UpstreamCall): Promise<T> {
  const { signal } = call;
  return await new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(call.failure(signal.reason));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function isAsyncIterable(value: unknown): value is AsyncIterable<object> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

function closeQuietly(iterator: AsyncIterator<object>): void {
  iterator.return?.().catch(() => {});
}
