import { Readable } from 'node:stream';
import type { ExitCode } from '../exit.ts';
import { runCli } from '../program.ts';
import type { Terminal } from '../terminal.ts';

/** What a command line did. */
export interface CliRun {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
  /** Standard output as the one JSON document that it must be. */
  json<T = Record<string, unknown>>(): T;
}

/** Runs a command line in this process and keeps what it writes. */
export async function runCaptured(args: readonly string[], stdin = ''): Promise<CliRun> {
  let out = '';
  let err = '';
  const terminal: Terminal = {
    out: (text) => (out += typeof text === 'string' ? text : new TextDecoder().decode(text)),
    err: (text) => (err += text),
    stdin: () => Promise.resolve(new TextEncoder().encode(stdin)),
    keys: () => Readable.from(stdin.split('')) as AsyncIterable<string>,
  };
  const code = await runCli(args, terminal);
  return { code, out, err, json: <T>() => JSON.parse(out) as T };
}
