import { RepriseError } from '../errors.ts';
import type { Operation } from '../ports/model.ts';
import { JsonNumber, type JsonObject, type JsonValue } from './json.ts';

/** Items of one embeddings request, as many as OpenAI's own API takes. */
const BATCH_ITEMS_MAX = 2_048;

/** Checks the types of what we rely on, nothing else; the rest is the upstream's to judge. Fails with `invalid_request`. */
export function validateRequest(operation: Operation, tree: JsonObject): void {
  optional(tree, 'stream', isBoolean, 'must be true or false');
  optional(tree, 'temperature', isNumber, 'must be a number');
  optional(tree, 'n', isCount, 'must be a whole number, 1 or more');
  optional(tree, 'user', isText, 'must be a string');
  optional(tree, 'stream_options', isObject, 'must be an object');
  const streamOptions = tree.get('stream_options');
  if (streamOptions instanceof Map) {
    const includeUsage = streamOptions.get('include_usage') ?? null;
    if (includeUsage !== null && !isBoolean(includeUsage)) {
      throw refuse('stream_options.include_usage', 'must be true or false');
    }
  }
  if (operation === 'chat.completions') validateChat(tree);
  else if (operation === 'completions') optional(tree, 'prompt', isInput, 'must be a string or an array');
  else {
    const input = tree.get('input');
    if (input === undefined) throw refuse('input', 'is missing');
    if (!isInput(input)) throw refuse('input', 'must be a string, or an array of strings, tokens or token arrays');
    if (Array.isArray(input) && input.length === 0) throw refuse('input', 'is empty');
    if (Array.isArray(input) && !isNumber(input[0] ?? '') && input.length > BATCH_ITEMS_MAX) {
      throw refuse('input', `has ${input.length} items; at most ${BATCH_ITEMS_MAX} are taken in one request`);
    }
  }
}

function validateChat(tree: JsonObject): void {
  optional(tree, 'tools', isArray, 'must be an array');
  const messages = tree.get('messages');
  if (messages === undefined) throw refuse('messages', 'is missing');
  if (!Array.isArray(messages)) throw refuse('messages', 'must be an array');
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i];
    if (!(message instanceof Map)) throw refuse(`messages[${i}]`, 'must be an object');
    if (typeof message.get('role') !== 'string') throw refuse(`messages[${i}].role`, 'must be a string');
    validateContent(message.get('content'), `messages[${i}].content`);
  }
}

function validateContent(content: JsonValue | undefined, param: string): void {
  if (content === undefined || content === null || typeof content === 'string') return;
  if (!Array.isArray(content)) throw refuse(param, 'must be a string, an array of parts, or null');
  for (let i = 0; i < content.length; i++) {
    const part = content[i];
    if (!(part instanceof Map)) throw refuse(`${param}[${i}]`, 'must be an object');
    if (typeof part.get('type') !== 'string') throw refuse(`${param}[${i}].type`, 'must be a string');
    if (part.get('type') === 'text' && typeof part.get('text') !== 'string') {
      throw refuse(`${param}[${i}].text`, 'must be a string');
    }
  }
}

function optional(tree: JsonObject, name: string, fits: (value: JsonValue) => boolean, problem: string): void {
  const value = tree.get(name);
  if (value !== undefined && value !== null && !fits(value)) throw refuse(name, problem);
}

function isBoolean(value: JsonValue): boolean {
  return typeof value === 'boolean';
}

function isText(value: JsonValue): boolean {
  return typeof value === 'string';
}

function isNumber(value: JsonValue): boolean {
  return typeof value === 'number' || value instanceof JsonNumber;
}

function isCount(value: JsonValue): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

function isObject(value: JsonValue): boolean {
  return value instanceof Map;
}

function isArray(value: JsonValue): boolean {
  return Array.isArray(value);
}

/** A text, texts, tokens, or arrays of tokens; all items of one kind. */
function isInput(value: JsonValue): boolean {
  if (typeof value === 'string') return true;
  if (!Array.isArray(value)) return false;
  const kind = inputKind(value[0] ?? '');
  return kind !== 'other' && value.every((item) => inputKind(item) === kind);
}

function inputKind(item: JsonValue): 'text' | 'token' | 'tokens' | 'other' {
  if (typeof item === 'string') return 'text';
  if (isNumber(item)) return 'token';
  return Array.isArray(item) && item.every(isNumber) ? 'tokens' : 'other';
}

function refuse(param: string, problem: string): RepriseError {
  return new RepriseError('invalid_request', `\`${param}\` ${problem}.`, { param });
}
