import type { Command } from 'commander';
import type { Imported } from '../transfer/import-from-file.ts';
import { EXIT } from '../exit.ts';
import { count } from '../format.ts';
import { progressLineOn } from '../progress.ts';
import { jsonDocument } from '../terminal.ts';
import { addExamples, type CommandContext } from './shared.ts';
import { addTransferOptions, whileUnderway, type TransferOptions } from './transfer.ts';

interface ImportCommandOptions extends TransferOptions {
  readonly adopt?: true;
}

const LEFT_OUT: readonly (readonly [count: keyof Imported, what: string])[] = [
  ['expired', 'expired'],
  ['invalid', 'invalidated since'],
  ['kept', 'older than what is there'],
  ['foreign', 'of another ledger'],
  ['tooLarge', 'larger than this node stores'],
  ['unreadable', 'unreadable'],
];

/** Adds `reprise import`: a file of entries into a running node's grid. */
export function addImport(program: Command, { terminal, setExit }: CommandContext): void {
  const command = program
    .command('import')
    .description(
      'offer the entries of a file to the grid of a running node, which leaves out what was invalidated or expired',
    )
    .argument('<file>', 'file that `reprise export` wrote; gzip where it ends with .gz')
    .option(
      '--adopt',
      'take entries of another ledger: says that nothing in the file was invalidated since its export',
    );
  addTransferOptions(command).action(async (path: string, options: ImportCommandOptions) => {
    const { importFromFile } = await import('../transfer/import-from-file.ts');
    const line = progressLineOn(terminal);
    const done = await whileUnderway(options, (node) =>
      importFromFile({
        ...node,
        path,
        adopt: options.adopt === true,
        onProgress: (what, at, total) =>
          line.progress(() => `${what} ${count(at)}${total === undefined ? '' : ` of ${count(total)}`} entries`),
      }),
    ).finally(() => line.end());
    if (done.unreadable > 0 || done.foreign > 0) setExit(EXIT.foundWrong);
    terminal.out(options.json === true ? jsonDocument(done) : textOf(done));
  });
  addExamples(command, 'reprise import answers.jsonl.gz', 'reprise import answers.jsonl.gz --adopt --json');
}

function textOf(done: Imported): string {
  const left = LEFT_OUT.filter(([name]) => Number(done[name]) > 0).map(
    ([name, what]) => `${count(Number(done[name]))} ${what}`,
  );
  const rest = left.length === 0 ? '' : `; left out: ${left.join(', ')}`;
  return `${count(done.imported)} of ${count(done.entries)} entries imported${rest}\n`;
}
