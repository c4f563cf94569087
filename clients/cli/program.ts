import { Command, CommanderError } from 'commander';
import { toRepriseError } from '../../runtime/errors.ts';
import { addCalibrate } from './commands/calibrate.ts';
import { addConfig } from './commands/config.ts';
import { addDoctor } from './commands/doctor.ts';
import { addExplain } from './commands/explain.ts';
import { addExport } from './commands/export.ts';
import { addGrid } from './commands/grid.ts';
import { addImport } from './commands/import.ts';
import { addInvalidate } from './commands/invalidate.ts';
import { addJudge } from './commands/judge.ts';
import { addLookup } from './commands/lookup.ts';
import { addRecord } from './commands/record.ts';
import { addReplay } from './commands/replay.ts';
import { addReview } from './commands/review.ts';
import { addServe } from './commands/serve.ts';
import { addExamples, type CommandContext } from './commands/shared.ts';
import { addStats } from './commands/stats.ts';
import { addTrain } from './commands/train.ts';
import { addWorkload } from './commands/workload.ts';
import { CommandFailure, EXIT, UsageError, type ExitCode } from './exit.ts';
import { withNode } from './node-connection.ts';
import { packageInfo } from './package-info.ts';
import { jsonDocument, type Terminal } from './terminal.ts';

/** Runs one command line (without program and script) and gives its exit code. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exit: ExitCode = EXIT.done;
  const program = makeProgram({ terminal, withNode, setExit: (code) => (exit = code) });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exit;
  } catch (error) {
    return failed(error, args, terminal);
  }
}

function makeProgram(context: CommandContext): Command {
  const { terminal } = context;
  const program = new Command('reprise')
    .description('Reprise, a distributed cache for ML serving.')
    .version(packageInfo().version)
    .exitOverride()
    .showHelpAfterError('(--help tells more)')
    .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.err(text) });
  addServe(program);
  addLookup(program, context);
  addExplain(program, context);
  addInvalidate(program, context);
  addReview(program, context);
  addStats(program, context);
  addRecord(program, context);
  addReplay(program, context);
  addExport(program, context);
  addImport(program, context);
  addGrid(program, context);
  addWorkload(program, context);
  addJudge(program, context);
  addCalibrate(program, context);
  addTrain(program, context);
  addConfig(program, context);
  addDoctor(program, context);
  addExamples(
    program,
    'reprise serve',
    'reprise explain --model demo --user "What is the capital of France?"',
    'reprise invalidate --tag prices',
  );
  return program.addHelpText(
    'after',
    '\nResults go to standard output, progress and warnings to standard error. Exit codes: 0 done, 1 failed, 2 usage,\n3 unreachable, 4 found something wrong.',
  );
}

/** Tells of a failure and gives its exit code; with `--json` the failure is a document too. */
function failed(error: unknown, args: readonly string[], terminal: Terminal): ExitCode {
  if (error instanceof CommanderError) {
    // Help that was asked for ends with exit code 0, and so does the version; commander has printed both.
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  if (error instanceof UsageError) {
    terminal.err(`reprise: ${error.message}\n(--help tells more)\n`);
    return EXIT.usage;
  }
  const { code, message, cause } = error instanceof CommandFailure ? error : toRepriseError(error);
  terminal.err(`reprise: ${code}: ${message}\n`);
  if (code === 'internal' && cause instanceof Error) terminal.err(`${cause.stack ?? cause.message}\n`);
  if (args.includes('--json')) terminal.out(jsonDocument({ error: { code, message } }));
  return code === 'unreachable' ? EXIT.unreachable : EXIT.failed;
}
