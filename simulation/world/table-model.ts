import { ModelError } from '../../runtime/errors.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Model, ModelCallOptions, ModelReply, ModelRequest, ModelStream } from '../../runtime/ports/model.ts';
import type { Random } from '../../runtime/ports/random.ts';

/** How long a table model takes, virtual milliseconds; drawn evenly from each range. */
export interface TableModelOptions {
  readonly name: string;
  readonly firstTokenMsMin: number;
  readonly firstTokenMsMax: number;
  /** Pause between two words. */
  readonly wordMs: number;
}

interface Answer {
  readonly id: string;
  readonly created: number;
  readonly words: readonly string[];
  readonly promptTokens: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A model for simulated nodes: answers from a table of asked text to answer, and what the table lacks with an echo. Speaks the
 * OpenAI bodies of chat completions and completions, unary and as events; latency passes on the given clock.
 */
export class TableModel implements Model {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #table: ReadonlyMap<string, string>;
  readonly #options: TableModelOptions;
  #calls = 0;

  constructor(deps: { clock: Clock; random: Random }, table: ReadonlyMap<string, string>, options: TableModelOptions) {
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#table = table;
    this.#options = options;
  }

  /** Calls begun so far. */
  get calls(): number {
    return this.#calls;
  }

  async call(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
    const answer = this.#begin(request);
    await this.#pass(this.#firstTokenMs() + answer.words.length * this.#options.wordMs, options);
    return { status: 200, contentType: 'application/json', body: json(this.#wholeBody(request, answer)) };
  }

  async stream(request: ModelRequest, options: ModelCallOptions): Promise<ModelStream> {
    const answer = this.#begin(request);
    await this.#pass(this.#firstTokenMs(), options);
    return { kind: 'events', events: this.#events(request, answer, options) };
  }

  models(): Promise<readonly string[]> {
    return Promise.resolve([this.#options.name]);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async *#events(request: ModelRequest, answer: Answer, options: ModelCallOptions): AsyncGenerator<Uint8Array> {
    for (const [index, word] of answer.words.entries()) {
      if (index > 0) await this.#pass(this.#options.wordMs, options);
      yield json(this.#chunk(request, answer, index === 0 ? word : ` ${word}`, null));
    }
    yield json(this.#chunk(request, answer, '', 'stop'));
    const { choices: _choices, ...rest } = this.#chunk(request, answer, '', null);
    yield json({ ...rest, choices: [], usage: usageOf(answer) });
  }

  #begin(request: ModelRequest): Answer {
    this.#calls++;
    const asked = askedText(request);
    const created = Math.floor(this.#clock.wallMs() / 1_000);
    const id = `table-${this.#random.uint32().toString(16).padStart(8, '0')}`;
    const text = this.#table.get(asked) ?? `You asked: ${asked}`;
    return { id, created, words: text.split(' '), promptTokens: asked.split(/\s+/u).length };
  }

  #firstTokenMs(): number {
    const { firstTokenMsMin, firstTokenMsMax } = this.#options;
    return firstTokenMsMin + this.#random.float() * (firstTokenMsMax - firstTokenMsMin);
  }

  /** Lets `ms` pass, or fails at the deadline or when the signal is aborted. */
  async #pass(ms: number, options: ModelCallOptions): Promise<void> {
    const leftMs = options.deadlineAtMs - this.#clock.monotonicMs();
    await this.#clock.sleep(Math.max(0, Math.min(ms, leftMs)), options.signal);
    if (ms > leftMs) throw new ModelError('model_timeout', 'The table model took longer than its deadline.');
  }

  #wholeBody(request: ModelRequest, answer: Answer): object {
    const text = answer.words.join(' ');
    const isChat = request.operation === 'chat.completions';
    const content = isChat ? { message: { role: 'assistant', content: text } } : { text };
    return {
      id: answer.id,
      object: isChat ? 'chat.completion' : 'text_completion',
      created: answer.created,
      model: request.model,
      choices: [{ index: 0, ...content, finish_reason: 'stop' }],
      usage: usageOf(answer),
    };
  }

  #chunk(request: ModelRequest, answer: Answer, text: string, finish: 'stop' | null): { readonly choices: object } {
    const isChat = request.operation === 'chat.completions';
    const content = isChat ? { delta: text === '' ? {} : { role: 'assistant', content: text } } : { text };
    const chunk = {
      id: answer.id,
      object: isChat ? 'chat.completion.chunk' : 'text_completion',
      created: answer.created,
      model: request.model,
      choices: [{ index: 0, ...content, finish_reason: finish }],
    };
    return chunk;
  }
}

function usageOf(answer: Answer): object {
  const { promptTokens } = answer;
  const completionTokens = answer.words.length;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/** The last message's text, or the prompt. */
function askedText(request: ModelRequest): string {
  const body = JSON.parse(decoder.decode(request.body)) as {
    readonly messages?: readonly { readonly content?: unknown }[];
    readonly prompt?: unknown;
  };
  const isChat = request.operation === 'chat.completions';
  const asked = isChat ? body.messages?.[body.messages.length - 1]?.content : body.prompt;
  if (request.operation !== 'embeddings' && typeof asked === 'string') return asked;
  throw new ModelError('model_error', 'The table model answers texts only.', {
    status: 400,
    contentType: 'application/json',
    body: json({ error: { message: 'The table model answers texts only.', type: 'invalid_request_error' } }),
  });
}

function json(value: object): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}
