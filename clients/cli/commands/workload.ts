import { Option, type Command } from 'commander';
import { TRACE_FORMATS, type TraceFormat } from '../../../simulation/workload/trace.ts';

import { counted, size } from '../format.ts';
import { columnsOf } from '../replay/replay-options.ts';
import { addExamples, type CommandContext } from './shared.ts';

interface WorkloadOptions {
  readonly out: string;
  readonly format: TraceFormat | 'auto';
  readonly columns?: string;
}

/** Adds `reprise workload`: a made-up workload, or a trace of another format, as a recording. */
export function addWorkload(program: Command, { terminal }: CommandContext): void {
  const command = program
    .command('workload')
    .description('write a made-up workload, or a trace of any format, as a recording (reprise/record/v1)')
    .argument('<trace>', 'made-up workload or trace file, as replay takes them')
    .requiredOption('--out <file>', 'file to write, gzip where it ends with .gz')
    .addOption(new Option('--format <name>', 'format of a file').choices(['auto', ...TRACE_FORMATS]).default('auto'))
    .option('--columns <spec>', 'columns of CSV, as replay takes them')
    .action(async (trace: string, options: WorkloadOptions) => {
      const [{ openTrace }, { recordLines }, { LineFile }] = await Promise.all([
        import('../../../simulation/bin/open-trace.ts'),
        import('../../../simulation/workload/record-lines.ts'),
        import('../record/line-file.ts'),
      ]);
      const source = await openTrace(trace, {
        format: options.format,
        onDetected: (what) => terminal.err(`${what}\n`),
        ...(options.columns !== undefined && { columns: columnsOf(options.columns) }),
      });
      const encoder = new TextEncoder();
      const file = await LineFile.fill(options.out, Infinity, async (lines) => {
        for await (const text of recordLines(source)) await lines.take(encoder.encode(text));
      });
      terminal.out(`${counted(file.lines - 1, 'request')}, ${size(file.bytes)} of lines in ${options.out}\n`);
    });
  addExamples(
    command,
    'reprise workload users:users=500,requests=2e5,daily=0.8,size=4000 --out users.jsonl.gz',
    'reprise workload log.csv --columns key=3,time=1,unit=s --out log.jsonl.gz',
  );
}
