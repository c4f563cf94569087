import { ModelError } from '../errors.ts';
import { frameEvent } from '../cache/event-framing.ts';
import { type JsonObject, type JsonValue, stringifyJson } from '../cache/json.ts';
import type { Operation } from '../ports/model.ts';
import { readAnswerObject } from './stream-assembly-json.ts';

const PIECE_LENGTH_MIN = 48;
const PIECES_MAX = 256;

const encoder = new TextEncoder();

/** Top-level fields that every chunk repeats; any other stands in the first chunk only. */
const REPEATED: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'system_fingerprint',
  'service_tier',
]);

/**
 * A valid stream that amounts to a stored whole body: framed events, usage last in an event of its own, no `[DONE]`.
 * Fails with `model_invalid_answer` when the body isn't the operation's.
 */
export function synthesizeStream(operation: Operation, body: Uint8Array): Uint8Array {
  const whole = readAnswerObject(body);
  const choices = whole?.get('choices');
  if (whole === undefined || operation === 'embeddings' || !Array.isArray(choices)) throw invalidAnswer();
  const chunks = new ChunkWriter(whole, operation);
  for (let i = 0; i < choices.length; i++) {
    const choice = choices[i];
    if (!(choice instanceof Map)) throw invalidAnswer();
    const index = choice.get('index') ?? i;
    if (operation === 'chat.completions') writeChatChoice(chunks, index, choice);
    else writeTextChoice(chunks, index, choice);
  }
  const usage = whole.get('usage') ?? null;
  if (usage !== null) chunks.usage(usage);
  return chunks.bytes();
}

function invalidAnswer(): ModelError {
  return new ModelError('model_invalid_answer', 'The answer is not a completion that could be streamed.');
}

/** Makes chunks of one body and collects them framed. */
class ChunkWriter {
  readonly #first: JsonObject = new Map();
  readonly #repeated: JsonObject = new Map();
  readonly #framed: Uint8Array[] = [];

  constructor(whole: JsonObject, operation: Operation) {
    for (const [name, value] of whole) {
      if (name === 'choices' || name === 'usage') continue;
      const own = name === 'object' && operation === 'chat.completions' ? 'chat.completion.chunk' : value;
      this.#first.set(name, own);
      if (REPEATED.has(name)) this.#repeated.set(name, own);
    }
  }

  choice(index: JsonValue, fields: readonly (readonly [string, JsonValue])[]): void {
    this.#push([['choices', [new Map<string, JsonValue>([['index', index], ...fields])]]]);
  }

  usage(usage: JsonValue): void {
    this.#push([
      ['choices', []],
      ['usage', usage],
    ]);
  }

  bytes(): Uint8Array {
    let length = 0;
    for (const part of this.#framed) length += part.length;
    const bytes = new Uint8Array(length);
    let offset = 0;
    for (const part of this.#framed) {
      bytes.set(part, offset);
      offset += part.length;
    }
    return bytes;
  }

  #push(fields: readonly (readonly [string, JsonValue])[]): void {
    const base = this.#framed.length === 0 ? this.#first : this.#repeated;
    this.#framed.push(frameEvent(encoder.encode(stringifyJson(new Map([...base, ...fields])))));
  }
}

/** Role and lists first, then reasoning and other fields, then the text, the tool calls and the end. */
function writeChatChoice(chunks: ChunkWriter, index: JsonValue, choice: JsonObject): void {
  const message = choice.get('message');
  if (!(message instanceof Map)) throw invalidAnswer();
  const logprobs = choice.get('logprobs');
  const pending: (readonly [string, JsonValue])[] = logprobs === undefined ? [] : [['logprobs', null]];
  const delta = (...fields: (readonly [string, JsonValue])[]): void => {
    chunks.choice(index, [['delta', new Map(fields)], ...pending, ['finish_reason', null]]);
  };
  delta(...openingFields(message));
  for (const [name, value] of message) {
    if (!isOpening(name, value) && name !== 'content' && name !== 'tool_calls') delta([name, value]);
  }
  if ((logprobs ?? null) !== null) pending[0] = ['logprobs', logprobs as JsonValue];
  const content = message.get('content') ?? null;
  if (typeof content === 'string' && content !== '') {
    const pieces = pending.length > 0 && logprobs !== null ? [content] : piecesOf(content);
    for (const piece of pieces) delta(['content', piece]);
  } else if (content !== null && content !== '') delta(['content', content]);
  else if ((logprobs ?? null) !== null) delta();
  if (pending.length > 0) pending[0] = ['logprobs', null];
  writeToolCalls(message.get('tool_calls'), delta);
  chunks.choice(index, [['delta', new Map()], ...pending, ...closingFields(choice, 'message')]);
}

/** The first delta: the role, an empty text (or null), and fields that say nothing yet. */
function openingFields(message: JsonObject): (readonly [string, JsonValue])[] {
  const fields: (readonly [string, JsonValue])[] = [['role', message.get('role') ?? 'assistant']];
  const content = message.get('content');
  if (content !== undefined) fields.push(['content', typeof content === 'string' ? '' : null]);
  for (const [name, value] of message) {
    if (name !== 'role' && name !== 'content' && isOpening(name, value)) fields.push([name, value]);
  }
  return fields;
}

function isOpening(name: string, value: JsonValue): boolean {
  return name === 'role' || (name !== 'content' && (value === null || (Array.isArray(value) && value.length === 0)));
}

/** Each call's name first, then its arguments, as upstreams send them. */
function writeToolCalls(
  calls: JsonValue | undefined,
  delta: (...fields: (readonly [string, JsonValue])[]) => void,
): void {
  if (!Array.isArray(calls)) {
    if (calls !== undefined && calls !== null) delta(['tool_calls', calls]);
    return;
  }
  for (let i = 0; i < calls.length; i++) {
    const call = calls[i];
    if (!(call instanceof Map)) throw invalidAnswer();
    const fn = call.get('function');
    const args = fn instanceof Map ? fn.get('arguments') : undefined;
    const head: JsonObject = new Map<string, JsonValue>([['index', i], ...call]).set('index', i);
    if (fn instanceof Map && typeof args === 'string' && args !== '') {
      head.set('function', new Map(fn).set('arguments', ''));
      delta(['tool_calls', [head]]);
      const rest: JsonObject = new Map();
      rest.set('index', i).set('function', new Map([['arguments', args]]));
      delta(['tool_calls', [rest]]);
    } else delta(['tool_calls', [head]]);
  }
}

function writeTextChoice(chunks: ChunkWriter, index: JsonValue, choice: JsonObject): void {
  const text = choice.get('text');
  if (typeof text !== 'string') throw invalidAnswer();
  const logprobs = choice.get('logprobs');
  const nothing: (readonly [string, JsonValue])[] = logprobs === undefined ? [] : [['logprobs', null]];
  if ((logprobs ?? null) !== null) {
    chunks.choice(index, [
      ['text', text],
      ['logprobs', logprobs as JsonValue],
      ['finish_reason', null],
    ]);
  } else {
    for (const piece of piecesOf(text)) {
      chunks.choice(index, [['text', piece], ...nothing, ['finish_reason', null]]);
    }
  }
  chunks.choice(index, [['text', ''], ...nothing, ...closingFields(choice, 'text')]);
}

/** The fields of the last chunk of a choice: how it ended, and all that isn't part of the answer. */
function closingFields(choice: JsonObject, answer: string): (readonly [string, JsonValue])[] {
  return [...choice].filter(([name]) => name !== 'index' && name !== 'logprobs' && name !== answer);
}

/** A text in pieces that end at white space, not too many, and never inside a surrogate pair. */
function piecesOf(text: string): readonly string[] {
  const length = Math.max(PIECE_LENGTH_MIN, Math.ceil(text.length / PIECES_MAX));
  const pieces: string[] = [];
  let start = 0;
  while (text.length - start > length) {
    let end = start + length;
    const space = text.lastIndexOf(' ', end - 1);
    if (space > start) end = space + 1;
    else if (isHighSurrogate(text.charCodeAt(end - 1))) end++;
    pieces.push(text.slice(start, end));
    start = end;
  }
  if (start < text.length) pieces.push(text.slice(start));
  return pieces;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
