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

interface Remembered {
  readonly operation: Operation;
  readonly kind: 'body' | 'stream';
  readonly summary: AnswerSummary;
}

/** By the payload's identity, since several steps ask about the same immutable answer. */
const summaries = new WeakMap<Uint8Array, Remembered>();

/** Reads a whole answer: may it be stored, and what does it report. Never throws. */
export function summarizeAnswer(operation: Operation, kind: 'body' | 'stream', payload: Uint8Array): AnswerSummary {
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

function summarizeBody(operation: Operation, payload: Uint8Array): AnswerSummary {
  const body = parsePlain(payload);
  if (body === undefined) return { refusal: 'malformed', usage: NO_USAGE, model: '', systemFingerprint: '' };
  return {
    refusal: bodyRefusal(operation, body),
    usage: usageOf(body) ?? NO_USAGE,
    model: textOf(body['model']),
    systemFingerprint: textOf(body['system_fingerprint']),
  };
}

function bodyRefusal(operation: Operation, body: Plain): AnswerSummary['refusal'] {
  if (isPresent(body['error'])) return 'error';
  if (operation === 'embeddings') return embeddingsRefusal(body['data']);
  const choices = body['choices'];
  if (!Array.isArray(choices)) return 'malformed';
  if (choices.length === 0) return 'empty';
  for (const choice of choices as unknown[]) {
    if (!isPlain(choice)) return 'malformed';
    const answer = operation === 'completions' ? typeof choice['text'] === 'string' : isPlain(choice['message']);
    if (!answer) return 'malformed';
    const refusal = reasonRefusal(choice['finish_reason']);
    if (refusal !== '') return refusal;
  }
  return '';
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

function summarizeStream(operation: Operation, recording: Uint8Array): AnswerSummary {
  const ranges = eventRanges(recording);
  const reasons = new Map<number, unknown>();
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
      if (isPresent(event['error'])) refusal ||= 'error';
      else if (!noteReasons(event['choices'], reasons)) refusal ||= 'malformed';
    }
  }
  if (refusal === '' && reasons.size === 0) refusal = 'empty';
  for (const reason of reasons.values()) refusal ||= reasonRefusal(reason);
  return { refusal, usage, model, systemFingerprint };
}

/** Remembers how each choice ended, null while it didn't. An event without choices is somebody's extension. */
function noteReasons(choices: unknown, reasons: Map<number, unknown>): boolean {
  if (choices === undefined || choices === null) return true;
  if (!Array.isArray(choices)) return false;
  for (const choice of choices as unknown[]) {
    if (!isPlain(choice)) return false;
    const index = choice['index'] ?? 0;
    if (typeof index !== 'number') return false;
    reasons.set(index, choice['finish_reason'] ?? reasons.get(index) ?? null);
  }
  return true;
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
