import type { Command } from 'commander';
import type { InvalidateReply, InvalidationTarget } from '../../node/index.ts';
import { UsageError } from '../exit.ts';
import { counted, duration } from '../format.ts';
import { jsonDocument } from '../terminal.ts';
import { addExamples, addNodeOptions, type CommandContext, type NodeOptions } from './shared.ts';

interface InvalidateOptions extends NodeOptions {
  readonly entry?: string;
  readonly tag?: string;
  readonly namespace?: string;
  readonly model?: string;
  readonly tenant?: string;
  readonly ofTenant?: string;
  readonly soft?: true;
  readonly purge?: true;
  readonly yes?: true;
}

/** Adds `reprise invalidate`: makes answers invalid on every node. */
export function addInvalidate(program: Command, context: CommandContext): void {
  const { terminal } = context;
  const command = program
    .command('invalidate')
    .description('make answers invalid on every node: by entry, tag, namespace, model or tenant (one of them)')
    .option('--entry <id>', 'one entry, by its id (x-reprise-entry)')
    .option('--tag <name>', 'all answers with this tag')
    .option('--namespace <name>', 'all answers of this namespace')
    .option('--model <name>', "all answers of this model, every tenant's; needs --yes")
    .option('--tenant <name>', 'all answers of this tenant; needs --yes')
    .option('--of-tenant <name>', 'whose tag or namespace it is; needs the role admin')
    .option('--soft', 'make them stale only: they may be served inside their grace')
    .option('--purge', 'also remove the bytes')
    .option('--yes', 'confirms --model and --tenant');
  addNodeOptions(command).action(async (options: InvalidateOptions) => {
    const target = targetOf(options);
    const reply = await context.withNode(options, (node, call) =>
      node.invalidate(target, {
        ...call,
        invalidation: options.soft === true ? 'soft' : 'hard',
        purge: options.purge === true,
        ...(options.ofTenant !== undefined && { tenant: options.ofTenant }),
      }),
    );
    terminal.out(options.json === true ? jsonDocument(reply) : replyText(reply, options));
  });
  addExamples(
    command,
    'reprise invalidate --tag prices',
    'reprise invalidate --entry 3f2a… --purge',
    'reprise invalidate --model gpt-4o-mini --yes',
    'reprise invalidate --namespace support --soft --json',
  );
}

/** The one target that is named. Errors: `UsageError`. */
function targetOf(options: InvalidateOptions): InvalidationTarget {
  const { entry, tag, namespace, model, tenant, ofTenant } = options;
  const targets: InvalidationTarget[] = [];
  if (entry !== undefined) targets.push({ kind: 'entry', entryId: entry });
  if (tag !== undefined) targets.push({ kind: 'tag', tag });
  if (namespace !== undefined) targets.push({ kind: 'namespace', namespace });
  if (model !== undefined) targets.push({ kind: 'model', model });
  if (tenant !== undefined) targets.push({ kind: 'tenant', tenant });
  const named = Object.entries({ entry, tag, namespace, model, tenant, 'of-tenant': ofTenant });
  const empty = named.find(([, value]) => value === '');
  if (empty !== undefined) throw new UsageError(`--${empty[0]} is empty; say which one.`);
  const [target] = targets;
  if (target === undefined || targets.length > 1) {
    throw new UsageError('Name exactly one of --entry, --tag, --namespace, --model and --tenant.');
  }
  if (ofTenant !== undefined && target.kind !== 'tag' && target.kind !== 'namespace') {
    throw new UsageError('--of-tenant goes with --tag or --namespace.');
  }
  if (target.kind === 'model' && options.yes !== true) {
    throw new UsageError(`This reaches every answer of the model ${target.model}, of all tenants; add --yes.`);
  }
  if (target.kind === 'tenant' && options.yes !== true) {
    throw new UsageError(`This reaches every answer of the tenant ${target.tenant}; add --yes.`);
  }
  return target;
}

function replyText(reply: InvalidateReply, options: InvalidateOptions): string {
  const { sequence, stalenessBoundMs, reach, removedEntries } = reply;
  const how = options.soft === true ? 'Stale' : 'Invalid';
  const whom =
    reach === 'grid'
      ? `on every node within ${duration(stalenessBoundMs)}`
      : 'on this node, whose answers are in its own process';
  const removed = options.purge === true ? `, ${counted(removedEntries, 'entry', 'entries')} removed` : '';
  return `${how} ${whom} (ledger sequence ${sequence}${removed}).\n`;
}
