import type { Command } from 'commander';
import { clientSettings } from '../../../runtime/config/index.ts';
import { localHttpUrl } from '../local-http-url.ts';

/** Options of commands that carry entries. */
export interface TransferOptions {
  readonly url?: string;
  readonly credential?: string;
  readonly json?: true;
}

/** Which node, as whom, and what interrupts it. */
export interface TransferNode {
  readonly url: string;
  readonly credential?: string;
  readonly signal: AbortSignal;
}

export function addTransferOptions(command: Command): Command {
  return command
    .option('--url <url>', 'HTTP address of the node (else 127.0.0.1 and the configured port)')
    .option('--credential <key>', 'credential of an admin; others can see it here, not in REPRISE_API_KEY')
    .option('--json', 'print one JSON document');
}

/** Runs `work` on the node that the options name; Ctrl-C and SIGTERM abort its signal. */
export async function whileUnderway<R>(options: TransferOptions, work: (node: TransferNode) => Promise<R>): Promise<R> {
  const credential = options.credential ?? clientSettings().credential?.reveal();
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const url = options.url ?? localHttpUrl();
    return await work({ url, signal: stop.signal, ...(credential !== undefined && { credential }) });
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
