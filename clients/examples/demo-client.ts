import OpenAI from 'openai';
import type { Ask, Step } from './demo-plan.ts';

/** What became of one request. */
export interface Answered {
  readonly ask: Ask;
  /** `hit exact-l1`, `miss` …, from the Cache-Status header; `error` for a failed request. */
  readonly outcome: string;
  readonly ms: number;
  /** The entry that served, or under which the answer is stored; empty where there is none. */
  readonly entryId: string;
  readonly similarity: number | undefined;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Why it failed; empty when it didn't. */
  readonly failure: string;
}

/** How the demo asks. */
export interface AskingOptions {
  /** Of the OpenAI API, with `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  readonly namespace: string;
  /** Requests under way at once. */
  readonly concurrency: number;
  readonly onAnswered: (count: number) => void;
}

const TIMEOUT_MS = 60_000;

/** Sends all requests through the official client, each step when a place is free, and waits for their answers. */
export async function askAll(steps: readonly Step[], options: AskingOptions): Promise<Answered[]> {
  const client = new OpenAI({
    baseURL: options.baseUrl,
    apiKey: options.apiKey,
    maxRetries: 0,
    timeout: TIMEOUT_MS,
    defaultHeaders: { 'x-reprise-namespace': options.namespace },
  });
  const answered: Answered[] = [];
  const waiting = [...steps].reverse();
  const work = async (): Promise<void> => {
    for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
      answered.push(...(await Promise.all(step.map((ask) => answer(client, ask, options.model)))));
      options.onAnswered(answered.length);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, work));
  return answered;
}

async function answer(client: OpenAI, ask: Ask, model: string): Promise<Answered> {
  const startedMs = performance.now();
  try {
    const { headers, usage } = await (ask.streamed ? streamed(client, ask, model) : whole(client, ask, model));
    const similarity = headers.get('x-reprise-similarity');
    return {
      ask,
      outcome: outcomeOf(headers.get('cache-status') ?? ''),
      ms: performance.now() - startedMs,
      entryId: headers.get('x-reprise-entry') ?? '',
      similarity: similarity === null ? undefined : Number(similarity),
      promptTokens: usage?.prompt_tokens ?? 0,
      completionTokens: usage?.completion_tokens ?? 0,
      failure: '',
    };
  } catch (error) {
    const ms = performance.now() - startedMs;
    const failure = error instanceof Error ? error.message : String(error);
    const nothing = { entryId: '', similarity: undefined, promptTokens: 0, completionTokens: 0 };
    return { ask, outcome: 'error', ms, failure, ...nothing };
  }
}

interface Received {
  readonly headers: Headers;
  readonly usage: OpenAI.CompletionUsage | null | undefined;
}

function messagesOf({ text }: Ask): OpenAI.ChatCompletionMessageParam[] {
  return [{ role: 'user', content: text }];
}

async function whole(client: OpenAI, ask: Ask, model: string): Promise<Received> {
  const request = client.chat.completions.create({ model, messages: messagesOf(ask) });
  const { data, response } = await request.withResponse();
  return { headers: response.headers, usage: data.usage };
}

async function streamed(client: OpenAI, ask: Ask, model: string): Promise<Received> {
  const request = client.chat.completions.create({
    model,
    messages: messagesOf(ask),
    stream: true,
    stream_options: { include_usage: true },
  });
  const { data, response } = await request.withResponse();
  let usage: OpenAI.CompletionUsage | null | undefined;
  for await (const chunk of data) usage = chunk.usage ?? usage;
  return { headers: response.headers, usage };
}

/** The outcome in a Cache-Status value; empty when it isn't Reprise's. */
function outcomeOf(cacheStatus: string): string {
  if (!cacheStatus.startsWith('reprise;')) return '';
  const detail = /; detail="?([^;"]+)/.exec(cacheStatus)?.[1];
  if (cacheStatus.startsWith('reprise; hit')) return `hit ${detail ?? ''}`.trim();
  return /; fwd=([a-z]+)/.exec(cacheStatus)?.[1] ?? '';
}
