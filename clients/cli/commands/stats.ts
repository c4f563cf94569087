import type { Command } from 'commander';
import { statsText } from '../stats-text.ts';
import { jsonDocument } from '../terminal.ts';
import { addExamples, addNodeOptions, type CommandContext, type NodeOptions } from './shared.ts';

/** Adds `reprise stats`: a node's counters since its start. */
export function addStats(program: Command, context: CommandContext): void {
  const { terminal } = context;
  const command = program
    .command('stats')
    .description("print a node's counters since its start: outcomes, hit rate, tokens and cost saved");
  addNodeOptions(command).action(async (options: NodeOptions) => {
    const stats = await context.withNode(options, (node, call) => node.stats(call));
    terminal.out(options.json === true ? jsonDocument(stats) : statsText(stats));
  });
  addExamples(command, 'reprise stats', 'reprise stats --address cache.internal:50051 --json | jq .byOutcome');
}
