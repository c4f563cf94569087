import { runCli } from './program.ts';
import { processTerminal } from './terminal.ts';

/** Runs the process's own command line, then ends the process. */
export async function main(): Promise<void> {
  const code = await runCli(process.argv.slice(2), processTerminal());
  // Standard output may be a pipe that still takes what was written.
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  process.exit(code);
}

if (process.argv[1] !== undefined && /[\\/]cli[\\/]main\.[jt]s$/.test(process.argv[1])) await main();
