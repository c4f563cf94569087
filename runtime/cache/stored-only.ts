import type { Usage } from '../ports/entry.ts';
import type { Operation } from '../ports/model.ts';
import { eventData, eventRanges } from './event-framing.ts';

/** What a whole answer says of itself. */
export interface AnswerSummary {
  /** Why it must not be stored; empty when it may. */
  readonly refusal: '' | 'malformed' | 'error' | 'empty' | 'unfinished' | 'filtered' | 'miscounted';
  readonly usage: Usage;
  /** Model as the upstream reported it; empty when it didn't. */
  readonly model: string;
  readonly systemFingerprint: string;
}

/**
 * Reasons with which a complete answer ends. Any other, known or not, keeps an answer out of the store: an answer
 * that was filtered, aborted or cut for want of resources is never replayed.
 */
const COMPLETE_REASONS: ReadonlySet<string> = new Set([
  'stop',
  'length',
  'tool_calls',
  'function_call',
  'eos',
  'eos_token',
  'stop_sequence',
  'end_turn',
  'max_tokens',
  'tool_use',
]);

const NO_USAGE: Usage = Object.freeze({ promptTokens: 0, completionTokens: 0 });
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

interface CountedSummary extends AnswerSummary {
  /** Choices in the answer. */
  readonly choices: number;
}

interface Remembered {
  readonly operation: Operation;
  readonly kind: 'body' | 'stream';
  readonly summary: CountedSummary;
}

/** By the payload's identity, since several steps ask about the same immutable answer. */
const summaries = new WeakMap<Uint8Array, Remembered>();

/**
 * Reads a whole answer: may it be stored, and what does it report. `expectedChoices` is the number of choices asked
 * for: an answer with fewer or more is refused; without it any number will do. Never throws.
 */
export function summarizeAnswer(
  operation: Operation,
  kind: 'body' | 'stream',
  payload: Uint8Array,
  expectedChoices?: number,
): AnswerSummary {
  const summary = countedSummary(operation, kind, payload);
  if (summary.refusal !== '' || operation === 'embeddings') return summary;
  return summary.choices === (expectedChoices ?? summary.choices) ? summary : { ...summary, refusal: 'miscounted' };
}

function countedSummary(operation: Operation, kind: 'body' | 'stream', payload: Uint8Array): CountedSummary {
  const known = summaries.get(payload);
  if (known !== undefined && known.operation === operation && known.kind === kind) return known.summary;
  const summary = kind === 'body' ? summarizeBody(operation, payload) : summarizeStream(operation, payload);
  summaries.set(payload, { operation, kind, summary });
  return summary;
}

/** True for complete, successful answers only: choices that all ended well, or every embedding once. */
export function isStorable(operation: Operation, kind: 'body' | 'stream', payload: Uint8Array): boolean {
  return summarizeAnswer(operation, kind, payload).refusal === '';
}

/** Tokens that a whole answer, or part of a stream, reports; zeros where it reports none. */
export function readUsage(operation: Operation, kind: 'body' | 'stream', payload: Uint8Array): Usage {
  return summarizeAnswer(operation, kind, payload).usage;
}

type Plain = Readonly<Record<string, unknown>>;

function summarizeBody(operation: Operation, payload: Uint8Array): CountedSummary {
  const body = parsePlain(payload);
  if (body === undefined) {
    return { refusal: 'malformed', usage: NO_USAGE, model: '', systemFingerprint: '', choices: 0 };
  }
  const choices = body['choices'];
  return {
    refusal: bodyRefusal(operation, body),
    choices: Array.isArray(choices) ? choices.length : 0,
    usage: usageOf(body) ?? NO_USAGE,
    model: textOf(body['model']),
    systemFingerprint: textOf(body['system_fingerprint']),
  };
}

function bodyRefusal(operation: Operation, body: Plain): AnswerSummary['refusal'] {
  if (tellsOfError(body)) return 'error';
  if (operation === 'embeddings') return embeddingsRefusal(body['data']);
  const choices = body['choices'];
  if (!Array.isArray(choices)) return 'malformed';
  if (choices.length === 0) return 'empty';
  const indexes = new Set<unknown>();
  for (let i = 0; i < choices.length; i++) {
    const choice: unknown = choices[i];
    if (!isPlain(choice)) return 'malformed';
    indexes.add(choice['index'] ?? i);
    const answer = operation === 'completions' ? typeof choice['text'] === 'string' : isPlain(choice['message']);
    if (!answer) return 'malformed';
    const refusal = reasonRefusal(choice['finish_reason']);
    if (refusal !== '') return refusal;
  }
  return indexes.size === choices.length && isNumberedOff(indexes) ? '' : 'miscounted';
}

/** True for exactly the indexes 0, 1 … as many as there are. */
function isNumberedOff(indexes: { readonly size: number; has(index: number): boolean }): boolean {
  for (let i = 0; i < indexes.size; i++) if (!indexes.has(i)) return false;
  return true;
}

/** Some servers tell of an error with `error`, others with an object that says it is one. */
function tellsOfError(answer: Plain): boolean {
  return isPresent(answer['error']) || answer['object'] === 'error';
}

function embeddingsRefusal(data: unknown): AnswerSummary['refusal'] {
  if (!Array.isArray(data)) return 'malformed';
  if (data.length === 0) return 'empty';
  const seen = new Set<number>();
  for (const item of data as unknown[]) {
    if (!isPlain(item)) return 'malformed';
    const { embedding, index } = item;
    if (!(Array.isArray(embedding) || typeof embedding === 'string') || embedding.length === 0) return 'malformed';
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= data.length) return 'miscounted';
    seen.add(index);
  }
  return seen.size === data.length ? '' : 'miscounted';
}

function summarizeStream(operation: Operation, recording: Uint8Array): CountedSummary {
  const ranges = eventRanges(recording);
  const endings = new Map<number, string>();
  let usageEvents = 0;
  let refusal: AnswerSummary['refusal'] = ranges === undefined || operation === 'embeddings' ? 'malformed' : '';
  let usage = NO_USAGE;
  let model = '';
  let systemFingerprint = '';
  for (const range of ranges ?? []) {
    const event = parsePlain(eventData(recording, range));
    if (event === undefined) refusal = 'malformed';
    else {
      usage = usageOf(event) ?? usage;
      model = textOf(event['model']) || model;
      systemFingerprint = textOf(event['system_fingerprint']) || systemFingerprint;
      if (isUsageEvent(event)) usageEvents++;
      if (tellsOfError(event)) refusal ||= 'error';
      else refusal ||= noteChoices(operation, event['choices'], endings);
    }
  }
  if (refusal === '' && endings.size === 0) refusal = 'empty';
  for (const reason of endings.values()) refusal ||= reasonRefusal(reason);
  // An entry knows the place of one usage event only: that which clients that didn't ask for usage don't get.
  if (usageEvents > 1) refusal ||= 'malformed';
  if (!isNumberedOff(endings)) refusal ||= 'miscounted';
  return { refusal, usage, model, systemFingerprint, choices: endings.size };
}

/**
 * Remembers how each choice first ended, with an empty text while it didn't, and refuses what contradicts or follows
 * an end. An event without choices is somebody's extension.
 */
function noteChoices(operation: Operation, choices: unknown, endings: Map<number, string>): AnswerSummary['refusal'] {
  if (choices === undefined || choices === null) return '';
  if (!Array.isArray(choices)) return 'malformed';
  for (const choice of choices as unknown[]) {
    if (!isPlain(choice)) return 'malformed';
    const index = choice['index'] ?? 0;
    const piece = choice[operation === 'completions' ? 'text' : 'delta'] ?? '';
    const reason = choice['finish_reason'] ?? '';
    if (typeof index !== 'number' || typeof reason !== 'string') return 'malformed';
    if (piece !== '' && (operation === 'completions' ? typeof piece !== 'string' : !isPlain(piece))) return 'malformed';
    const ending = endings.get(index) ?? '';
    if (ending === '') endings.set(index, reason);
    else if (addsToAnswer(piece)) return 'malformed';
    else if (reason !== '' && reason !== ending) return reasonRefusal(ending) || reasonRefusal(reason) || 'malformed';
  }
  return '';
}

/** True when a piece of an answer says anything; its role is no news. */
function addsToAnswer(piece: unknown): boolean {
  if (!isPlain(piece)) return piece !== '';
  return Object.entries(piece).some(([name, value]) => {
    if (name === 'role' || !isPresent(value) || value === '') return false;
    return !(Array.isArray(value) && value.length === 0);
  });
}

/** True for an event with usage and no choice. */
function isUsageEvent(event: Plain): boolean {
  const choices = event['choices'];
  return Array.isArray(choices) && choices.length === 0 && isPlain(event['usage']);
}

function reasonRefusal(reason: unknown): '' | 'unfinished' | 'filtered' {
  if (typeof reason !== 'string' || reason === '') return 'unfinished';
  return COMPLETE_REASONS.has(reason.toLowerCase()) ? '' : 'filtered';
}

function usageOf(answer: Plain): Usage | undefined {
  const usage = answer['usage'];
  if (!isPlain(usage)) return undefined;
  return {
    promptTokens: countOf(usage['prompt_tokens']),
    completionTokens: countOf(usage['completion_tokens']),
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Ordinary JSON will do here: nothing that is read needs more than a double. */
function parsePlain(bytes: Uint8Array): Plain | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return isPlain(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
