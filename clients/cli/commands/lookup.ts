import type { Command } from 'commander';
import type { LookupReply } from '../../node/index.ts';
import { statusText } from '../explain-text.ts';
import { printable } from '../format.ts';
import { addRequestOptions, readRequest, type RequestOptions } from '../request-input.ts';
import { addExamples, addNodeOptions, type CommandContext, type NodeOptions } from './shared.ts';

interface LookupOptions extends NodeOptions, RequestOptions {
  readonly raw?: true;
}

/** Adds `reprise lookup`: prints the stored answer of a request and never calls a model. */
export function addLookup(program: Command, context: CommandContext): void {
  const { terminal } = context;
  const command = program
    .command('lookup')
    .description('print the stored answer to a request; never calls a model; exit 1 when there is none');
  addNodeOptions(addRequestOptions(command))
    .option('--raw', "print the answer's bytes and nothing else")
    .action(async (options: LookupOptions) => {
      const { body, settings } = await readRequest(options, terminal);
      const found = await context.withNode(options, (node, call) => node.lookup(body, { ...settings, ...call }));
      if (options.json === true) return terminal.out(lookupDocument(found));
      if (options.raw !== true) return terminal.out(`${statusText(found.status)}\n\n${answerText(found)}\n`);
      terminal.err(`${statusText(found.status)}\n`);
      terminal.out(found.body);
    });
  addExamples(
    command,
    'reprise lookup --model demo --user "What is the capital of France?"',
    'reprise lookup --body request.json --namespace support --json',
    'reprise lookup --operation embeddings --model all-minilm-l6-v2-q --user "a text" --raw > vector.json',
  );
}

/** JSON is embedded as stored: parsing would round its numbers. */
function lookupDocument({ status, contentType, body }: LookupReply): string {
  const text = new TextDecoder().decode(body);
  const embedded = contentType.startsWith('application/json') ? text : JSON.stringify(text);
  return `{"status":${JSON.stringify(status)},"contentType":${JSON.stringify(contentType)},"body":${embedded}}\n`;
}

interface Answer {
  readonly choices?: readonly { readonly text?: unknown; readonly message?: { readonly content?: unknown } }[];
}

/** The first choice's text where there is one, else the whole body. */
function answerText({ body, contentType }: LookupReply): string {
  const text = new TextDecoder().decode(body);
  if (!contentType.startsWith('application/json')) return printable(text);
  const [choice] = (JSON.parse(text) as Answer).choices ?? [];
  const content = choice?.message?.content ?? choice?.text;
  return printable(typeof content === 'string' ? content : text);
}
