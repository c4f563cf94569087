import { ModelError } from '../errors.ts';
import type { Operation } from '../ports/model.ts';
import type { Schema } from './demo-schema.ts';

/** A tool that a request offers. */
export interface DemoTool {
  readonly name: string;
  readonly parameters: Schema;
}

/** What the demo model reads of a request. */
export interface DemoRequest {
  /** One for each prompt; chat has one. */
  readonly questions: readonly string[];
  /** Text of the last message when a tool wrote it, else empty. */
  readonly toolResult: string;
  /** Messages before the last one, system messages aside. */
  readonly turnsBefore: number;
  readonly promptTokens: number;
  readonly choices: number;
  readonly tokensMax: number;
  readonly stop: readonly string[];
  readonly tools: readonly DemoTool[];
  /** `none`, `auto`, `required`, or a tool's name after `tool:`. */
  readonly toolChoice: string;
  /** Undefined: plain text. */
  readonly responseSchema: Schema | undefined;
  readonly reasons: boolean;
  readonly includeUsage: boolean;
}

const CHOICES_MAX = 16;
const PROMPTS_MAX = 64;
const ENCODER = new TextEncoder();

type Json = Record<string, unknown>;

/** A request, understood. Errors: `model_error` with status 400 and OpenAI's error body. */
export function parseDemoRequest(operation: Operation, body: Uint8Array): DemoRequest {
  const json = JSON.parse(new TextDecoder().decode(body)) as Json;
  const shared = {
    choices: positiveInteger(json, 'n', 1, CHOICES_MAX),
    tokensMax: positiveInteger(json, 'max_completion_tokens', positiveInteger(json, 'max_tokens', Infinity)),
    stop: [json['stop']].flat().filter((stop): stop is string => typeof stop === 'string' && stop !== ''),
    includeUsage: asJson(json['stream_options'])['include_usage'] === true,
  };
  if (operation === 'completions') return { ...shared, ...parsePrompt(json) };
  return { ...shared, ...parseChat(json) };
}

/** A refusal in OpenAI's shape. */
export function demoRefusal(message: string, param: string, status = 400): ModelError {
  const error = { message, type: 'invalid_request_error', param, code: null };
  const body = ENCODER.encode(JSON.stringify({ error }));
  return new ModelError('model_error', message, { status, body, contentType: 'application/json', param });
}

/** The tokens of a text as the demo model counts and streams them: words with the white space after them. */
export function demoTokens(text: string): string[] {
  return text.match(/^\s+|\S+\s*/gu) ?? [];
}

function parsePrompt(json: Json) {
  const prompts = typeof json['prompt'] === 'string' ? [json['prompt']] : json['prompt'];
  const valid = Array.isArray(prompts) && prompts.length > 0 && prompts.length <= PROMPTS_MAX;
  if (!valid || !prompts.every((prompt) => typeof prompt === 'string')) {
    throw demoRefusal(`The demo model takes a prompt as a string or up to ${PROMPTS_MAX} strings.`, 'prompt');
  }
  const promptTokens = prompts.reduce((sum, prompt) => sum + demoTokens(prompt).length, 0);
  const plain = { toolResult: '', turnsBefore: 0, tools: [], toolChoice: 'none', responseSchema: undefined };
  return { questions: prompts, promptTokens, ...plain, reasons: false };
}

function parseChat(json: Json) {
  const { messages } = json;
  if (!Array.isArray(messages) || messages.length === 0) {
    throw demoRefusal('A chat needs at least one message.', 'messages');
  }
  const list = messages.map(asJson);
  const texts = list.map((message) => textOf(message['content']));
  const last = list.length - 1;
  const lastUser = list.findLastIndex((message) => message['role'] === 'user');
  return {
    questions: [texts[lastUser] ?? ''],
    toolResult: list[last]?.['role'] === 'tool' ? (texts[last] ?? '') : '',
    turnsBefore: list.slice(0, last).filter((message) => !['system', 'developer'].includes(String(message['role'])))
      .length,
    promptTokens: texts.reduce((sum, text) => sum + demoTokens(text).length, 0),
    tools: parseTools(json['tools']),
    toolChoice: parseToolChoice(json['tool_choice']),
    responseSchema: parseResponseFormat(json['response_format']),
    reasons: typeof json['reasoning_effort'] === 'string' && json['reasoning_effort'] !== 'none',
  };
}

function parseTools(tools: unknown): DemoTool[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) => {
    const { name, parameters } = asJson(asJson(tool)['function']);
    return typeof name === 'string' ? [{ name, parameters: asJson(parameters) }] : [];
  });
}

function parseToolChoice(choice: unknown): string {
  if (choice === 'none' || choice === 'required') return choice;
  const { name } = asJson(asJson(choice)['function']);
  return typeof name === 'string' ? `tool:${name}` : 'auto';
}

function parseResponseFormat(format: unknown): Schema | undefined {
  const { type, json_schema: named } = asJson(format);
  if (type === 'json_object') return { type: 'object', properties: { answer: { type: 'string' } } };
  return type === 'json_schema' ? asJson(asJson(named)['schema']) : undefined;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.map((part: unknown) => asJson(part)['text']).filter((text) => typeof text === 'string');
  return texts.join('\n');
}

function positiveInteger(json: Json, name: string, fallback: number, max = Number.MAX_SAFE_INTEGER): number {
  const value = json[name];
  if (value === undefined || value === null) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw demoRefusal(`${name} must be a whole number from 1 to ${max}.`, name);
}

function asJson(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
