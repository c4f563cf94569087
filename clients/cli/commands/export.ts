import type { Command } from 'commander';
import { count, size } from '../format.ts';
import { progressLineOn } from '../progress.ts';
import { jsonDocument } from '../terminal.ts';
import { addExamples, type CommandContext } from './shared.ts';
import { addTransferOptions, whileUnderway, type TransferOptions } from './transfer.ts';

interface ExportCommandOptions extends TransferOptions {
  readonly tenant?: string;
  readonly namespace?: string;
}

/** Adds `reprise export`: the entries of a running node's grid as a file. */
export function addExport(program: Command, { terminal }: CommandContext): void {
  const command = program
    .command('export')
    .description(
      "write the entries of a running node's grid to a file that `reprise import` reads; it holds answers in clear",
    )
    .argument('<file>', 'file to write: JSON Lines (reprise/entries/v1), gzip where it ends with .gz')
    .option('--tenant <name>', 'entries of this tenant only')
    .option('--namespace <name>', 'entries of this namespace only');
  addTransferOptions(command).action(async (path: string, options: ExportCommandOptions) => {
    const { exportToFile } = await import('../transfer/export-to-file.ts');
    const line = progressLineOn(terminal);
    const done = await whileUnderway(options, (node) =>
      exportToFile({
        ...node,
        path,
        ...(options.tenant !== undefined && { tenant: options.tenant }),
        ...(options.namespace !== undefined && { namespace: options.namespace }),
        onProgress: (entries, bytes) => line.progress(() => `exported ${count(entries)} entries, ${size(bytes)}`),
      }),
    ).finally(() => line.end());
    if (options.json === true) return terminal.out(jsonDocument(done));
    terminal.out(`${count(done.entries)} entries, ${size(done.bytes)} of lines in ${done.path}\n`);
  });
  addExamples(
    command,
    'reprise export answers.jsonl.gz',
    'reprise export --namespace support --tenant acme support.jsonl.gz',
    'reprise import answers.jsonl.gz --url http://10.0.0.7:8080',
  );
}
