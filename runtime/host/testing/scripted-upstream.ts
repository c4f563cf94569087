import type { ServerResponse } from 'node:http';
import { respondJson, signalled, startEvents, startUpstream } from '../../models/testing/test-upstream.ts';
import type { SeenRequest, TestUpstream } from '../../models/testing/test-upstream.ts';

/** One model call as an upstream sees it. */
export interface UpstreamCallSeen {
  /** From 1, in the order of arrival. */
  readonly number: number;
  readonly path: string;
  readonly body: Record<string, unknown>;
  /** The body as it came. */
  readonly raw: string;
  /** The bearer token; empty without one. */
  readonly credential: string;
  readonly headers: SeenRequest['headers'];
  readonly response: ServerResponse;
  /** Resolves when the connection of this call's answer is closed, whoever closed it. */
  readonly closed: Promise<void>;
}

export type CallAnswer = (call: UpstreamCallSeen) => void | Promise<void>;

/** A real OpenAI-compatible HTTP server that counts its calls and answers as the test says now. */
export interface ScriptedUpstream {
  readonly url: string;
  readonly calls: readonly UpstreamCallSeen[];
  answer: CallAnswer;
  /** Resolves with the call of this number, once it has arrived. */
  arrived(number: number): Promise<UpstreamCallSeen>;
  close(): Promise<void>;
}

export async function startScriptedUpstream(answer: CallAnswer): Promise<ScriptedUpstream> {
  const calls: UpstreamCallSeen[] = [];
  let waiting: { readonly number: number; readonly resolve: (call: UpstreamCallSeen) => void }[] = [];
  const server: TestUpstream = await startUpstream(async (seen, response) => {
    const closed = signalled();
    response.once('close', () => closed.resolve());
    const call: UpstreamCallSeen = {
      number: calls.length + 1,
      path: seen.path,
      body: JSON.parse(seen.body === '' ? '{}' : seen.body) as Record<string, unknown>,
      raw: seen.body,
      credential: (seen.headers.authorization ?? '').replace(/^Bearer /, ''),
      headers: seen.headers,
      response,
      closed: closed.promise,
    };
    calls.push(call);
    waiting = waiting.filter((waiter) => {
      if (waiter.number !== call.number) return true;
      waiter.resolve(call);
      return false;
    });
    await upstream.answer(call);
  });
  const upstream: ScriptedUpstream = {
    url: server.url,
    calls,
    answer,
    arrived(number) {
      const known = calls[number - 1];
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => waiting.push({ number, resolve }));
    },
    close: server.close,
  };
  return upstream;
}

/** What a scripted model says in one choice. */
export interface ScriptedChoice {
  readonly content?: string | null;
  readonly reasoning?: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly logprobs?: boolean;
  readonly finishReason?: string;
}

export interface ScriptedAnswer {
  readonly choices: readonly ScriptedChoice[];
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** An answer of one choice with this text. */
export function says(content: string, promptTokens = 7, completionTokens = 11): ScriptedAnswer {
  return { choices: [{ content }], promptTokens, completionTokens };
}

/** Answers a call, whole or as events as it asks, the way OpenAI's own server does. Each call has an id of its own. */
export function answerWith(answer: ScriptedAnswer | ((call: UpstreamCallSeen) => ScriptedAnswer)): CallAnswer {
  return (call) => {
    const said = typeof answer === 'function' ? answer(call) : answer;
    if (call.body['stream'] !== true) {
      respondJson(call.response, wholeAnswer(call, said));
      return;
    }
    startEvents(call.response);
    for (const event of answerEvents(call, said)) writeEvent(call.response, event);
    endEvents(call.response);
  };
}

export function writeEvent(response: ServerResponse, event: unknown): void {
  response.write(`data: ${JSON.stringify(event)}\n\n`);
}

export function endEvents(response: ServerResponse): void {
  response.end('data: [DONE]\n\n');
}

/** The whole body of an answer to a call. */
export function wholeAnswer(call: UpstreamCallSeen, answer: ScriptedAnswer): Record<string, unknown> {
  const isChat = call.path.endsWith('/chat/completions');
  const choices = answer.choices.map((choice, index) => {
    const end = { logprobs: logprobsOf(choice, isChat), finish_reason: finishOf(choice) };
    if (!isChat) return { index, text: choice.content ?? '', ...end };
    const tools = choice.toolCalls?.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    }));
    const message = {
      role: 'assistant',
      content: choice.content ?? null,
      refusal: null,
      ...(choice.reasoning === undefined ? {} : { reasoning_content: choice.reasoning }),
      ...(tools === undefined ? {} : { tool_calls: tools }),
    };
    return { index, message, ...end };
  });
  const object = isChat ? 'chat.completion' : 'text_completion';
  return { ...headOf(call, object), choices, usage: usageOf(answer) };
}

/** The events of an answer to a call, choices interleaved; usage as the call asks. */
export function answerEvents(call: UpstreamCallSeen, answer: ScriptedAnswer): Record<string, unknown>[] {
  const isChat = call.path.endsWith('/chat/completions');
  const options = call.body['stream_options'] as { include_usage?: boolean } | undefined;
  const withUsage = options?.include_usage === true;
  const head = headOf(call, isChat ? 'chat.completion.chunk' : 'text_completion');
  const nothing = withUsage ? { usage: null } : {};
  const lists = answer.choices.map((choice, index) =>
    (isChat ? chatDeltas(choice) : textDeltas(choice)).map((fields) => ({ index, ...fields })),
  );
  const steps = Math.max(0, ...lists.map((list) => list.length));
  const events: Record<string, unknown>[] = [];
  for (let step = 0; step < steps; step += 1) {
    for (const list of lists) {
      const choice = list[step];
      if (choice !== undefined) events.push({ ...head, choices: [choice], ...nothing });
    }
  }
  if (withUsage) events.push({ ...head, choices: [], usage: usageOf(answer) });
  return events;
}

function headOf(call: UpstreamCallSeen, object: string): Record<string, unknown> {
  return {
    id: `call-${call.number}`,
    object,
    created: 1_700_000_000 + call.number,
    model: String(call.body['model']),
    system_fingerprint: 'fp_test',
  };
}

function usageOf(answer: ScriptedAnswer): Record<string, unknown> {
  const { promptTokens, completionTokens } = answer;
  const reasoningTokens = answer.choices.filter((choice) => choice.reasoning !== undefined).length * 3;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

function finishOf(choice: ScriptedChoice): string {
  return choice.finishReason ?? (choice.toolCalls === undefined ? 'stop' : 'tool_calls');
}

function logprobsOf(choice: ScriptedChoice, isChat: boolean): unknown {
  if (choice.logprobs !== true || choice.content === undefined || choice.content === null) return null;
  const words = piecesOf(choice.content);
  if (!isChat) return { tokens: words, token_logprobs: words.map(() => -0.25), text_offset: words.map(() => 0) };
  return { content: words.map((token) => ({ token, logprob: -0.25, bytes: null, top_logprobs: [] })), refusal: null };
}

function chatDeltas(choice: ScriptedChoice): Record<string, unknown>[] {
  const running = { logprobs: null, finish_reason: null };
  const hasText = choice.content !== undefined && choice.content !== null;
  const deltas: Record<string, unknown>[] = [
    { delta: { role: 'assistant', content: hasText ? '' : null, refusal: null }, ...running },
  ];
  for (const piece of piecesOf(choice.reasoning ?? ''))
    deltas.push({ delta: { reasoning_content: piece }, ...running });
  for (const piece of hasText ? piecesOf(choice.content) : []) {
    const logprobs = choice.logprobs === true ? logprobsOf({ ...choice, content: piece }, true) : null;
    deltas.push({ delta: { content: piece }, logprobs, finish_reason: null });
  }
  for (const [index, { id, name, arguments: args }] of (choice.toolCalls ?? []).entries()) {
    const first = { index, id, type: 'function', function: { name, arguments: '' } };
    deltas.push({ delta: { tool_calls: [first] }, ...running });
    for (const piece of args.match(/.{1,5}/gsu) ?? []) {
      deltas.push({ delta: { tool_calls: [{ index, function: { arguments: piece } }] }, ...running });
    }
  }
  deltas.push({ delta: {}, logprobs: null, finish_reason: finishOf(choice) });
  return deltas;
}

function textDeltas(choice: ScriptedChoice): Record<string, unknown>[] {
  const deltas: Record<string, unknown>[] = piecesOf(choice.content ?? '').map((text) => ({
    text,
    logprobs: choice.logprobs === true ? logprobsOf({ ...choice, content: text }, false) : null,
    finish_reason: null,
  }));
  deltas.push({ text: '', logprobs: null, finish_reason: finishOf(choice) });
  return deltas;
}

function piecesOf(text: string): string[] {
  return text.match(/\S+\s*/gu) ?? [];
}
