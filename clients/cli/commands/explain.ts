import type { Command } from 'commander';
import { explainText } from '../explain-text.ts';
import { addRequestOptions, readRequest, type RequestOptions } from '../request-input.ts';
import { jsonDocument } from '../terminal.ts';
import { addExamples, addNodeOptions, type CommandContext, type NodeOptions } from './shared.ts';

/** Adds `reprise explain`: says what would be answered now, and why. */
export function addExplain(program: Command, context: CommandContext): void {
  const { terminal } = context;
  const command = program
    .command('explain')
    .description('say what would be answered now, and why: key, tiers, candidates, nearest stored key');
  addNodeOptions(addRequestOptions(command)).action(async (options: NodeOptions & RequestOptions) => {
    const { body, settings } = await readRequest(options, terminal);
    const explanation = await context.withNode(options, (node, call) => node.explain(body, { ...settings, ...call }));
    terminal.out(options.json === true ? jsonDocument(explanation) : explainText(explanation));
  });
  addExamples(
    command,
    'reprise explain --model demo --user "What is the capital of Spain?"',
    'reprise explain --model demo --system "Answer briefly." --user "Where is Madrid?" --threshold 0.95',
    'reprise explain --body request.json --json | jq .nearest',
  );
}
