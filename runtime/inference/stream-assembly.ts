import { type ByteRange, eventData, eventRanges } from '../cache/event-framing.ts';
import { type JsonObject, type JsonValue, stringifyJson } from '../cache/json.ts';
import type { Operation } from '../ports/model.ts';
import { isStorable } from '../cache/stored-only.ts';
import { RepriseError } from '../errors.ts';
import { readAnswerObject } from './stream-assembly-json.ts';
import { mergeDelta, mergeLatest } from './stream-assembly-merge.ts';
import { synthesizeStream } from './stream-assembly-synthesis.ts';

export { frameEvent } from '../cache/event-framing.ts';
export { isStorable, readUsage } from '../cache/stored-only.ts';
export { synthesizeStream } from './stream-assembly-synthesis.ts';

const encoder = new TextEncoder();
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

interface ChoiceState {
  readonly index: number;
  readonly fields: JsonObject;
  readonly message: JsonObject;
}

/**
 * The whole body that a recorded stream amounts to: for `chat.completions` one `chat.completion`, for `completions`
 * one `text_completion`. Undefined when the recording isn't a sequence of such chunks, or tells of an error.
 */
export function assembleBody(operation: Operation, recording: Uint8Array): Uint8Array | undefined {
  if (operation === 'embeddings') return undefined;
  const events = readEvents(recording);
  if (events === undefined) return undefined;
  const top: JsonObject = new Map();
  const choices = new Map<number, ChoiceState>();
  for (const event of events) {
    if ((event.get('error') ?? null) !== null || event.get('object') === 'error') return undefined;
    if (!takeEvent(event, top, choices)) return undefined;
  }
  const whole = finishChoices(operation, choices);
  if (whole === undefined) return undefined;
  return encoder.encode(stringifyJson(wholeBody(operation, top, whole)));
}

/**
 * True when an answer can be replayed in its other form, a stream as a body and a body as a stream, and may be stored
 * in that form too. Embeddings have one form only. Costs as much as both conversions. Never throws.
 */
export function convertible(operation: Operation, kind: 'body' | 'stream', payload: Uint8Array): boolean {
  if (operation === 'embeddings') return kind === 'body';
  const body = kind === 'body' ? payload : assembleBody(operation, payload);
  if (body === undefined || !isStorable(operation, 'body', body)) return false;
  try {
    const stream = synthesizeStream(operation, body);
    return (
      kind === 'stream' || (isStorable(operation, 'stream', stream) && assembleBody(operation, stream) !== undefined)
    );
  } catch (error) {
    if (error instanceof RepriseError) return false;
    throw error;
  }
}

/** Where the last event that carries usage and no choice stands, framing included; undefined when there is none. */
export function usageEventRange(recording: Uint8Array): ByteRange | undefined {
  if (!hasEmptyArray(recording)) return undefined;
  const ranges = eventRanges(recording) ?? [];
  for (let i = ranges.length - 1; i >= 0; i--) {
    const range = ranges[i] as ByteRange;
    if (!hasEmptyArray(recording.subarray(range.start, range.end))) continue;
    const event = readAnswerObject(eventData(recording, range));
    const choices = event?.get('choices');
    if (Array.isArray(choices) && choices.length === 0 && event?.get('usage') instanceof Map) return range;
  }
  return undefined;
}

/** True when `[]`, with or without white space inside, occurs anywhere: what every usage event has and few others do. */
function hasEmptyArray(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(OPEN_BRACKET); at >= 0; at = bytes.indexOf(OPEN_BRACKET, at + 1)) {
    let next = at + 1;
    while (isWhiteSpace(bytes[next])) next++;
    if (bytes[next] === CLOSE_BRACKET) return true;
  }
  return false;
}

function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function readEvents(recording: Uint8Array): readonly JsonObject[] | undefined {
  const ranges = eventRanges(recording);
  if (ranges === undefined) return undefined;
  const events: JsonObject[] = [];
  for (const range of ranges) {
    const event = readAnswerObject(eventData(recording, range));
    if (event === undefined) return undefined;
    events.push(event);
  }
  return events;
}

/** Merges one chunk; false when it isn't one. */
function takeEvent(event: JsonObject, top: JsonObject, choices: Map<number, ChoiceState>): boolean {
  for (const [name, value] of event) {
    if (name === 'choices' || name === 'obfuscation') continue;
    if (value !== null || !top.has(name)) top.set(name, value);
  }
  const list = event.get('choices') ?? null;
  if (list === null) return true;
  if (!Array.isArray(list)) return false;
  for (const choice of list) if (!takeChoice(choice, choices)) return false;
  return true;
}

function takeChoice(choice: JsonValue, choices: Map<number, ChoiceState>): boolean {
  if (!(choice instanceof Map)) return false;
  const index = choice.get('index') ?? 0;
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0) return false;
  let state = choices.get(index);
  if (state === undefined) {
    state = { index, fields: new Map(), message: new Map() };
    choices.set(index, state);
  }
  for (const [name, value] of choice) {
    if (name === 'index' || (name === 'finish_reason' && hasEnded(state.fields))) continue;
    if (name !== 'delta') mergeLatest(state.fields, name, value, { concatenated: 'text' });
    else if (value instanceof Map) for (const [field, piece] of value) mergeDelta(state.message, field, piece);
    else if (value !== null) return false;
  }
  return true;
}

/** The first reason counts: what some servers send behind it must not turn a filtered answer into a finished one. */
function hasEnded(fields: JsonObject): boolean {
  const reason = fields.get('finish_reason') ?? '';
  return reason !== '';
}

/** Choices in order, as a whole body has them; undefined when there is none. */
function finishChoices(operation: Operation, choices: ReadonlyMap<number, ChoiceState>): JsonObject[] | undefined {
  const ordered = [...choices.values()].sort((a, b) => a.index - b.index);
  const whole: JsonObject[] = [];
  for (const { index, fields, message } of ordered) {
    const choice: JsonObject = new Map<string, JsonValue>([['index', index]]);
    if (operation === 'chat.completions') choice.set('message', wholeMessage(message));
    else if (!fields.has('text')) choice.set('text', '');
    for (const [name, value] of fields) if (name !== 'finish_reason') choice.set(name, value);
    whole.push(choice.set('finish_reason', fields.get('finish_reason') ?? null));
  }
  return whole.length === 0 ? undefined : whole;
}

function wholeMessage(parts: JsonObject): JsonObject {
  const message: JsonObject = new Map();
  message.set('role', parts.get('role') ?? 'assistant');
  message.set('content', parts.get('content') ?? null);
  for (const [name, value] of parts) {
    if (name !== 'role' && name !== 'content') message.set(name, name === 'tool_calls' ? wholeToolCalls(value) : value);
  }
  return message;
}

/** A whole body's tool calls stand in order and carry no index. */
function wholeToolCalls(value: JsonValue): JsonValue {
  if (!Array.isArray(value)) return value;
  const indexOf = (call: JsonValue): number => {
    const index = call instanceof Map ? call.get('index') : undefined;
    return typeof index === 'number' ? index : 0;
  };
  const ordered = [...value].sort((a, b) => indexOf(a) - indexOf(b));
  return ordered.map((call) => (call instanceof Map ? new Map([...call].filter(([name]) => name !== 'index')) : call));
}

function wholeBody(operation: Operation, top: JsonObject, choices: JsonObject[]): JsonObject {
  const body: JsonObject = new Map();
  for (const [name, value] of top) {
    if (name === 'usage') continue;
    if (name === 'object') {
      body.set('object', operation === 'chat.completions' ? 'chat.completion' : 'text_completion');
    } else body.set(name, value);
  }
  body.set('choices', choices);
  const usage = top.get('usage') ?? null;
  if (usage !== null) body.set('usage', usage);
  return body;
}
