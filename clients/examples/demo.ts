import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { clientSettings } from '../../runtime/config/index.ts';
import { EXIT, UsageError, type ExitCode } from '../cli/exit.ts';
import { jsonDocument } from '../cli/terminal.ts';
import { askAll } from './demo-client.ts';
import { planSteps } from './demo-plan.ts';
import { FAMILIES } from './demo-questions.ts';
import { summarise, summaryText } from './demo-report.ts';
import type { DemoServerMessage } from './demo-server.ts';

const HELP = `npm run demo [-- OPTIONS]: sends a few hundred questions (repeats, rephrasings, traps) through the official openai
client and shows what came from memory and what was saved. Without --url it starts a server of its own.

  --url URL         ask this Reprise; its key is REPRISE_API_KEY
  --model NAME      model to ask (demo)
  --families N      only the first N families of questions
  --seed TEXT       order of the requests (1)
  --concurrency N   requests under way at once (8)
  --json            print one JSON document

Exit codes: 0 done, 1 a request failed, 2 usage, 3 unreachable, 4 a question got the answer to another one.
`;

interface DemoOptions {
  readonly url: string | undefined;
  readonly model: string;
  readonly families: number;
  readonly seed: string;
  readonly concurrency: number;
  readonly json: boolean;
}

/** Runs the demo and gives its exit code. */
export async function runDemo(args: readonly string[]): Promise<ExitCode> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(HELP);
    return EXIT.done;
  }
  const options = parseOptions(args);
  const families = FAMILIES.slice(0, options.families);
  const steps = planSteps(families, options.seed);
  const requests = steps.reduce((sum, step) => sum + step.length, 0);
  const server = options.url === undefined ? await startServer() : undefined;
  try {
    const url = (server?.url ?? options.url ?? '').replace(/\/(v1\/?)?$/, '');
    const semantic = await semanticState(url);
    if (semantic === undefined) {
      process.stderr.write(`No Reprise answers at ${url}.\n`);
      return EXIT.unreachable;
    }
    process.stderr.write(
      `Seed ${options.seed}: ${requests} requests on ${families.length} families of questions, ${options.concurrency} at a time, to ${url}\nSemantic matching: ${semantic}\n`,
    );
    const startedMs = performance.now();
    const answered = await askAll(steps, {
      baseUrl: `${url}/v1`,
      apiKey: (options.url === undefined ? undefined : clientSettings().credential?.reveal()) ?? 'none',
      model: options.model,
      // A namespace of its own: what other runs stored would hide where the answers come from.
      namespace: `demo-${randomUUID()}`,
      concurrency: options.concurrency,
      onAnswered: progress(requests),
    });
    const summary = summarise(answered, performance.now() - startedMs);
    process.stdout.write(options.json ? jsonDocument(summary) : `\n${summaryText(summary)}`);
    if (summary.wrong.length > 0) return EXIT.foundWrong;
    return summary.failures.length > 0 ? EXIT.failed : EXIT.done;
  } finally {
    await server?.stop();
  }
}

function parseOptions(args: readonly string[]): DemoOptions {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        url: { type: 'string' },
        model: { type: 'string', default: 'demo' },
        families: { type: 'string', default: String(FAMILIES.length) },
        seed: { type: 'string', default: '1' },
        concurrency: { type: 'string', default: '8' },
        json: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  const { url, model, seed, json } = values;
  if (url !== undefined && !URL.canParse(url)) throw new UsageError(`--url must be a URL, not "${url}".`);
  return {
    url,
    model,
    seed,
    json,
    families: wholeNumber('--families', values.families, FAMILIES.length),
    concurrency: wholeNumber('--concurrency', values.concurrency, 256),
  };
}

function wholeNumber(option: string, text: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new UsageError(`${option} must be a whole number from 1 to ${max}, not "${text}".`);
}

interface DemoServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a server in a process of its own. */
async function startServer(): Promise<DemoServer> {
  process.stderr.write('Starting a server …\n');
  const script = fileURLToPath(new URL(`./demo-server${extname(import.meta.url)}`, import.meta.url));
  const child = fork(script, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const message = await firstMessage(child);
  if ('failure' in message) throw new Error(`The server did not start: ${message.failure}`);
  return {
    url: message.url,
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

function firstMessage(child: ChildProcess): Promise<DemoServerMessage> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as DemoServerMessage));
    child.once('error', reject);
    child.once('exit', (code) => resolve({ failure: `exit code ${code}` }));
  });
}

const PROBE_TIMEOUT_MS = 5_000;

/** What the server says of its semantic matching; undefined when no Reprise answers. */
async function semanticState(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    const { parts } = (await response.json()) as { parts: readonly { name: string; detail: string }[] };
    return parts.find((part) => part.name === 'semantic')?.detail ?? 'off';
  } catch {
    return undefined;
  }
}

/** Tells how far the run is: on one line of a terminal, else every hundred requests. */
function progress(requests: number): (answered: number) => void {
  let told = 0;
  return (answered) => {
    if (process.stderr.isTTY) {
      process.stderr.write(`\r${answered} of ${requests}${answered === requests ? '\n' : ''}`);
    } else if (answered >= told + 100 || answered === requests) {
      told = answered;
      process.stderr.write(`${answered} of ${requests} answered\n`);
    }
  };
}

/** Runs the process's own command line, then ends the process. */
async function main(): Promise<void> {
  try {
    process.exitCode = await runDemo(process.argv.slice(2));
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(`${isUsage ? error.message : String(error)}\n${isUsage ? '(--help tells more)\n' : ''}`);
    process.exitCode = isUsage ? EXIT.usage : EXIT.failed;
  }
}

if (process.argv[1] !== undefined && /[\\/]examples[\\/]demo\.[jt]s$/.test(process.argv[1])) await main();
