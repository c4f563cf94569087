import { loadConfig, type Config } from '../config/index.ts';
import { toRepriseError } from '../errors.ts';
import { banner } from './banner.ts';
import { runServer } from './run-server.ts';

/** A second signal ends the process at once; within this time it is the first one, sent on by npm. */
const REPEATED_SIGNAL_MS = 1_500;
const FORCED_EXIT_CODE = 130;

/** Serves until SIGINT or SIGTERM, or `stop` resolves with the name of one, then finishes what runs. */
export async function main(config: Config = loadConfig(), stop: Promise<string> = stopSignal()): Promise<void> {
  const server = await runServer(config);
  process.stderr.write(banner(config, server));
  const signal = await stop;
  process.stderr.write(`\n${signal}: finishing running requests (at most ${config.server.drainMs / 1_000} s) …\n`);
  await server.close(config.server.drainMs);
  process.stderr.write('Stopped.\n');
}

/** The first SIGINT or SIGTERM, listened for from now on. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let firstAtMs: number | undefined;
    const onSignal = (signal: string): void => {
      const nowMs = performance.now();
      if (firstAtMs !== undefined && nowMs - firstAtMs > REPEATED_SIGNAL_MS) process.exit(FORCED_EXIT_CODE);
      firstAtMs ??= nowMs;
      resolve(signal);
    };
    process.on('SIGINT', () => onSignal('SIGINT'));
    process.on('SIGTERM', () => onSignal('SIGTERM'));
  });
}

/** Runs `main` as a process: exit 0 after a stop; a coded error goes to stderr in one line, exit 1. */
async function mainProcess(): Promise<void> {
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
