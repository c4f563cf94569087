import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';

import type { InferSettings, Operation } from '../node/index.ts';
import { UsageError } from './exit.ts';
import type { Terminal } from './terminal.ts';

/** An inference request as the command line gives it. */
export interface RequestInput {
  /** In OpenAI's JSON, UTF-8; a file's bytes reach the node as they are. */
  readonly body: Uint8Array;
  /** The operation, and what is asked of the cache. */
  readonly settings: InferSettings;
}

/** Options that describe a request, as commander parses them. */
export interface RequestOptions {
  readonly model?: string;
  readonly user?: string;
  readonly system?: string;
  readonly body?: string;
  readonly operation: Operation;
  readonly namespace?: string;
  readonly domain?: string;
  readonly tag?: readonly string[];
  readonly bucket?: number;
  readonly threshold?: number;
}

const OPERATIONS: readonly Operation[] = ['chat.completions', 'completions', 'embeddings'];

/** Adds the options that describe a request. */
export function addRequestOptions(command: Command): Command {
  return command
    .option('--model <name>', 'model that is asked')
    .option('--user <text>', 'the question: last user message, prompt or text to embed')
    .option('--system <text>', 'system message before it')
    .addOption(
      new Option('--body <file>', "the whole request in OpenAI's JSON; - reads standard input").conflicts([
        'model',
        'user',
        'system',
      ]),
    )
    .addOption(new Option('--operation <operation>', 'what is asked').choices(OPERATIONS).default('chat.completions'))
    .option('--namespace <name>', 'namespace whose settings and entries apply')
    .option('--domain <name>', 'domain of meaning; only a stricter one takes effect')
    .option('--tag <name>', 'tag of the entry, part of the key; may be repeated', collect)
    .option('--bucket <number>', 'sampling bucket', (text) => number(text, '--bucket', 0, 65_535, true))
    .option('--threshold <number>', 'raises the semantic threshold, 0 to 1', (text) =>
      number(text, '--threshold', 0, 1, false),
    );
}

/** The request that the options describe. Errors: `UsageError`. */
export async function readRequest(options: RequestOptions, terminal: Terminal): Promise<RequestInput> {
  const { operation, namespace, domain, tag, bucket, threshold } = options;
  const settings: InferSettings = {
    operation,
    ...(namespace !== undefined && { namespace }),
    ...(domain !== undefined && { domain }),
    ...(tag !== undefined && { tags: tag }),
    ...(bucket !== undefined && { bucket }),
    ...(threshold !== undefined && { threshold }),
  };
  const body = options.body === undefined ? composed(options) : await fileBody(options.body, terminal);
  return { body, settings };
}

function composed({ model, user, system, operation }: RequestOptions): Uint8Array {
  if (model === undefined || user === undefined) {
    throw new UsageError('Say what is asked: --model NAME --user TEXT, or --body FILE.');
  }
  if (system !== undefined && operation !== 'chat.completions') {
    throw new UsageError(`--system needs --operation chat.completions; ${operation} has no messages.`);
  }
  return new TextEncoder().encode(JSON.stringify({ model, ...asked(operation, user, system) }));
}

function asked(operation: Operation, user: string, system: string | undefined): Record<string, unknown> {
  if (operation === 'completions') return { prompt: user };
  if (operation === 'embeddings') return { input: user };
  const messages = [{ role: 'user', content: user }];
  return { messages: system === undefined ? messages : [{ role: 'system', content: system }, ...messages] };
}

async function fileBody(file: string, terminal: Terminal): Promise<Uint8Array> {
  if (file === '-') return await terminal.stdin();
  try {
    return await readFile(file);
  } catch (error) {
    throw new UsageError(`--body ${file} can't be read (${error instanceof Error ? error.message : 'unknown'}).`);
  }
}

function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

function number(text: string, option: string, min: number, max: number, isWhole: boolean): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
  throw new UsageError(`${option} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}, not "${text}".`);
}
