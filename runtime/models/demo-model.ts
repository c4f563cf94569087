import { createHash } from 'node:crypto';
import { ModelError, RepriseError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Model, ModelCallOptions, ModelReply, ModelRequest, ModelStream, Operation } from '../ports/model.ts';
import { demoChoice } from './demo-answer.ts';
import type { DemoChoice } from './demo-answer.ts';
import { demoRefusal, parseDemoRequest } from './demo-request.ts';
import type { DemoRequest } from './demo-request.ts';

/** The demo model's declared speed, and its names. */
export interface DemoModelOptions {
  readonly firstTokenMs: number;
  readonly perTokenMs: number;
  /** Names for `/v1/models`. */
  readonly models: readonly string[];
}

export const DEFAULT_DEMO_MODEL_OPTIONS: DemoModelOptions = { firstTokenMs: 120, perTokenMs: 4, models: ['demo'] };

const ENCODER = new TextEncoder();
const FINGERPRINT = 'fp_reprise_demo';
const JSON_TYPE = 'application/json';

/** What every object of one answer carries. */
interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
}

interface Answer {
  readonly operation: Operation;
  readonly head: AnswerHead;
  readonly request: DemoRequest;
  readonly choices: readonly DemoChoice[];
}

/** A built-in `Model` that needs no upstream: it answers from the prompt alone, the same each time, with a declared latency. */
export class DemoModel implements Model {
  readonly #clock: Clock;
  readonly #options: DemoModelOptions;
  #calls = 0;

  constructor(deps: { readonly clock: Clock }, options: DemoModelOptions = DEFAULT_DEMO_MODEL_OPTIONS) {
    this.#clock = deps.clock;
    this.#options = options;
  }

  /** Calls so far, refused ones included. */
  get calls(): number {
    return this.#calls;
  }

  async call(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
    const answer = this.#answer(request);
    const steps = Math.max(0, ...answer.choices.map((choice) => choice.reasoning.length + choice.content.length));
    await this.#wait(this.#options.firstTokenMs + steps * this.#options.perTokenMs, options);
    return { status: 200, contentType: JSON_TYPE, body: encode(wholeAnswer(answer)) };
  }

  async stream(request: ModelRequest, options: ModelCallOptions): Promise<ModelStream> {
    const answer = this.#answer(request);
    await this.#wait(this.#options.firstTokenMs, options);
    return { kind: 'events', events: this.#events(answer, options) };
  }

  models(): Promise<readonly string[]> {
    return Promise.resolve(this.#options.models);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #answer(request: ModelRequest): Answer {
    this.#calls += 1;
    const { operation } = request;
    if (operation === 'embeddings') throw demoRefusal('The demo model makes no embeddings.', 'model', 404);
    const parsed = parseDemoRequest(operation, request.body);
    const created = Math.floor(this.#clock.wallMs() / 1_000);
    const digest = createHash('sha256').update(request.body).digest('hex').slice(0, 12);
    const prefix = operation === 'completions' ? 'cmpl' : 'chatcmpl';
    const id = `${prefix}-demo-${digest}-${created.toString(36)}-${this.#calls.toString(36)}`;
    const head = { id, created, model: request.model, system_fingerprint: FINGERPRINT };
    const choices = parsed.questions.flatMap((question) =>
      Array.from({ length: parsed.choices }, (_, index) => demoChoice(parsed, question, index)),
    );
    return { operation, head, request: parsed, choices };
  }

  async *#events(answer: Answer, options: ModelCallOptions): AsyncGenerator<Uint8Array, undefined> {
    const deltas = answer.choices.map((choice, index) => choiceDeltas(answer, choice, index));
    const object = answer.operation === 'completions' ? 'text_completion' : 'chat.completion.chunk';
    const withoutUsage = answer.request.includeUsage ? { usage: null } : {};
    const steps = Math.max(...deltas.map((list) => list.length));
    for (let step = 0; step < steps; step += 1) {
      if (step > 0) await this.#wait(this.#options.perTokenMs, options);
      for (const list of deltas) {
        const choice = list[step];
        if (choice !== undefined) yield encode({ ...answer.head, object, choices: [choice], ...withoutUsage });
      }
    }
    if (answer.request.includeUsage) yield encode({ ...answer.head, object, choices: [], usage: usage(answer) });
  }

  async #wait(ms: number, options: ModelCallOptions): Promise<void> {
    const { signal } = options;
    const leftMs = options.deadlineAtMs - this.#clock.monotonicMs();
    try {
      signal.throwIfAborted();
      if (ms > 0) await this.#clock.sleep(Math.max(0, Math.min(ms, leftMs)), signal);
    } catch (error) {
      throw new RepriseError('cancelled', 'The model call was cancelled.', { cause: error });
    }
    if (ms >= leftMs) throw new ModelError('model_timeout', 'The demo model did not answer in time.');
  }
}

function wholeAnswer(answer: Answer): object {
  const choices = answer.choices.map((choice, index) => {
    const shared = { index, finish_reason: choice.finishReason, logprobs: null };
    const content = choice.content.join('');
    if (answer.operation === 'completions') return { ...shared, text: content };
    const reasoning = choice.reasoning.length === 0 ? {} : { reasoning_content: choice.reasoning.join('') };
    if (choice.tool === undefined) {
      return { ...shared, message: { role: 'assistant', content, refusal: null, ...reasoning } };
    }
    const toolCalls = [{ id: toolCallId(answer, index), type: 'function', function: toolFunction(choice.tool) }];
    return { ...shared, message: { role: 'assistant', content: null, refusal: null, tool_calls: toolCalls } };
  });
  const object = answer.operation === 'completions' ? 'text_completion' : 'chat.completion';
  return { ...answer.head, object, choices, usage: usage(answer) };
}

/** The `choices` members that stream one choice, one a step. */
function choiceDeltas(answer: Answer, choice: DemoChoice, index: number): object[] {
  const last = { index, finish_reason: choice.finishReason, logprobs: null };
  const running = { index, finish_reason: null, logprobs: null };
  if (answer.operation === 'completions') {
    return [...choice.content.map((text) => ({ ...running, text })), { ...last, text: '' }];
  }
  const first = { role: 'assistant', content: choice.tool === undefined ? '' : null, refusal: null };
  const deltas: object[] = [first, ...choice.reasoning.map((token) => ({ reasoning_content: token }))];
  if (choice.tool !== undefined) deltas.push(...toolDeltas(toolCallId(answer, index), choice.tool));
  for (const token of choice.content) deltas.push({ content: token });
  return [...deltas.map((delta) => ({ ...running, delta })), { ...last, delta: {} }];
}

function toolDeltas(id: string, tool: NonNullable<DemoChoice['tool']>): object[] {
  const pieces = tool.argumentsJson.match(/.{1,16}/gsu) ?? [];
  return [
    { tool_calls: [{ index: 0, id, type: 'function', function: { name: tool.name, arguments: '' } }] },
    ...pieces.map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
  ];
}

function toolFunction(tool: NonNullable<DemoChoice['tool']>): object {
  return { name: tool.name, arguments: tool.argumentsJson };
}

function toolCallId(answer: Answer, index: number): string {
  return `call_${answer.head.id.slice('chatcmpl-'.length)}-${index}`;
}

function usage(answer: Answer): object {
  const reasoningTokens = answer.choices.reduce((sum, choice) => sum + choice.reasoning.length, 0);
  const textTokens = answer.choices.reduce((sum, choice) => sum + choice.content.length + (choice.tool ? 1 : 0), 0);
  const promptTokens = answer.request.promptTokens;
  const completionTokens = reasoningTokens + textTokens;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(reasoningTokens === 0 ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
}

function encode(value: object): Uint8Array {
  return ENCODER.encode(JSON.stringify(value));
}
