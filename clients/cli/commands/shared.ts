import { InvalidArgumentError, type Command } from 'commander';
import type { Config } from '../../../runtime/config/index.ts';
import type { ExitCode } from '../exit.ts';
import type { NodeAddress, NodeWork } from '../node-connection.ts';
import type { Terminal } from '../terminal.ts';

/** What commands work with. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** Opens a connection to the node that the options name; closed when `work` is done. */
  withNode<R>(options: NodeAddress, work: NodeWork<R>): Promise<R>;
  /** A command that isn't just done says so here; 0 unless told. */
  readonly setExit: (code: ExitCode) => void;
}

/** Options that say which node is asked, and how the result is printed. */
export interface NodeOptions extends NodeAddress {
  readonly json?: true;
}

/** Adds the options of commands that ask a running node. */
export function addNodeOptions(command: Command): Command {
  return command
    .option(
      '--address <host:port>',
      'gRPC address of the node (REPRISE_ADDRESS; else 127.0.0.1 and the configured port)',
    )
    .option(
      '--credential <key>',
      'credential to send; other users of this machine can see it here, not in REPRISE_API_KEY',
    )
    .option('--json', 'print one JSON document');
}

/** Adds examples below the help of a command. */
export function addExamples(command: Command, ...examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  $ ${example}\n`).join('')}`);
}

/** The configuration of a file, else of its usual places; what it warns of goes to standard error. */
export async function loadedConfig(file: string | undefined, terminal: Terminal): Promise<Config> {
  const { loadConfig } = await import('../../../runtime/config/index.ts');
  const config = loadConfig(file === undefined ? {} : { file });
  for (const warning of config.warnings) terminal.err(`warning: ${warning}\n`);
  return config;
}

const SEED_MAX = 2 ** 31 - 1;

/** Reads the value of `--seed`. */
export function seedOf(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= SEED_MAX) return value;
  throw new InvalidArgumentError(`It must be a whole number from 0 to ${SEED_MAX}.`);
}
