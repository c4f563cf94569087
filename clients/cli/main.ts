import { EXIT } from './exit.ts';
import { runCli } from './program.ts';
import { processTerminal } from './terminal.ts';

/** Runs the process's own command line, then ends the process. */
export async function main(): Promise<void> {
  const terminal = processTerminal();
  const code = await runCli(process.argv.slice(2), terminal);
  // Standard output may be a pipe that still takes what was written.
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  process.exit(terminal.hasFailed && code === EXIT.done ? EXIT.failed : code);
}

if (process.argv[1] !== undefined && /[\\/]cli[\\/]main\.[jt]s$/.test(process.argv[1])) await main();
