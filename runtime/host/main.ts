import { loadConfig, type Config } from '../config/index.ts';
import { toRepriseError } from '../errors.ts';
import { banner } from './banner.ts';
import { runServer } from './run-server.ts';

/** Signals after the first one, while draining, end the process at once. */
const FORCED_EXIT_CODE = 130;

/** Serves until SIGINT or SIGTERM, then finishes what runs and exits 0. */
export async function main(config: Config = loadConfig()): Promise<void> {
  const server = await runServer(config);
  process.stderr.write(banner(config, server));
  await new Promise<void>((resolve) => {
    let stopping = false;
    const stop = (signal: string): void => {
      if (stopping) process.exit(FORCED_EXIT_CODE);
      stopping = true;
      process.stderr.write(`\n${signal}: finishing running requests (at most ${config.server.drainMs / 1_000} s) …\n`);
      void server.close(config.server.drainMs).then(resolve, resolve);
    };
    process.on('SIGINT', () => stop('SIGINT'));
    process.on('SIGTERM', () => stop('SIGTERM'));
  });
  process.stderr.write('Stopped.\n');
}

/** Runs `main` as a process: a coded error goes to stderr in one line, exit 1. */
export async function mainProcess(): Promise<void> {
  try {
    await main();
    process.exit(0);
  } catch (error) {
    const coded = toRepriseError(error);
    const cause = coded.code === 'internal' ? `\n${String(coded.cause)}` : '';
    process.stderr.write(`reprise: ${coded.code}: ${coded.message}${cause}\n`);
    process.exit(1);
  }
}

if (process.argv[1] !== undefined && /[\\/]host[\\/]main\.[jt]s$/.test(process.argv[1])) await mainProcess();
