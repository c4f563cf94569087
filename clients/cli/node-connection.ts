import { clientSettings, loadConfig, type ClientSettings } from '../../runtime/config/index.ts';
import { RepriseError } from '../../runtime/errors.ts';
import type { CallSettings, RepriseClient } from '../node/index.ts';
import { reachableHost } from './addresses.ts';
import { CommandFailure, UsageError } from './exit.ts';

/** Which node is asked, and as whom. */
export interface NodeAddress {
  readonly address?: string;
  readonly credential?: string;
}

/** What a command does with a node; it passes `call` on with each call. */
export type NodeWork<R> = (node: RepriseClient, call: CallSettings) => Promise<R>;

const GRPC_PORT = 50_051;
const ADDRESS = /^.+:\d{1,5}$/;
/** A purge walks over all entries, and the node bounds it by itself. */
const CALL_TIMEOUT_MS = 60_000;
/** A host that swallows packets would use up the deadline of the call. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Codes of failures that no node worded. */
const UNREACHABLE_CODES: readonly string[] = ['unreachable', 'deadline_exceeded'];

/** Lets `work` ask the node that the options name, then closes the connection. Errors: `unreachable`, `UsageError`, and the node's own. */
export async function withNode<R>(options: NodeAddress, work: NodeWork<R>): Promise<R> {
  const settings = clientSettings();
  const { address, note } = addressOf(options.address ?? settings.address, settings);
  const credential = options.credential ?? settings.credential?.reveal();
  return await ask({ address, ...(credential !== undefined && { credential }) }, work).catch((error: unknown) => {
    if (!(error instanceof Unanswered)) throw error;
    throw new RepriseError(
      'unreachable',
      `No Reprise answers at ${address} (${error.message}). Start one with "reprise serve", or name another with --address.${note}`,
      { cause: error.cause },
    );
  });
}

/** True when a Reprise answers at `address`, whatever it thinks of us. */
export async function isReprise(address: string, timeoutMs: number): Promise<boolean> {
  return await ask({ address, timeoutMs }, (node, call) => node.stats(call)).then(
    () => true,
    (error: unknown) => error instanceof CommandFailure && OWN_REFUSALS.includes(error.code),
  );
}

/** Codes with which a node refuses a caller; other gRPC servers refuse the method. */
const OWN_REFUSALS: readonly string[] = ['missing_credential', 'invalid_credential', 'permission_denied', 'draining'];

class Unanswered extends Error {}

async function ask<R>(
  options: { readonly address: string; readonly credential?: string; readonly timeoutMs?: number },
  work: NodeWork<R>,
): Promise<R> {
  const { connectReprise, RepriseClientError } = await import('../node/index.ts');
  const node = connectReprise({ timeoutMs: CALL_TIMEOUT_MS, ...options });
  const silent = new AbortController();
  const timer = setTimeout(
    () => {
      if (node.state !== 'ready') silent.abort();
    },
    Math.min(CONNECT_TIMEOUT_MS, options.timeoutMs ?? CALL_TIMEOUT_MS),
  );
  try {
    return await work(node, { signal: silent.signal });
  } catch (error) {
    if (silent.signal.aborted) throw new Unanswered('no answer in time', { cause: error });
    if (!(error instanceof RepriseClientError)) throw error;
    if (!UNREACHABLE_CODES.includes(error.code)) throw new CommandFailure(error.code, error.message, error);
    throw new Unanswered(firstSentence(error.message), { cause: error });
  } finally {
    clearTimeout(timer);
    node.close();
  }
}

/** Transport errors come with the whole history of the connection. */
function firstSentence(message: string): string {
  return (message.split(/\. |\n/)[0] ?? message).slice(0, 200);
}

interface FoundAddress {
  readonly address: string;
  /** What a person should know when nobody answers there. */
  readonly note: string;
}

function addressOf(named: string | undefined, settings: ClientSettings): FoundAddress {
  if (named !== undefined) {
    if (ADDRESS.test(named)) return { address: named, note: '' };
    throw new UsageError(`An address is host:port, such as 127.0.0.1:${GRPC_PORT}, not "${named}".`);
  }
  try {
    const { server } = loadConfig();
    return { address: `${reachableHost(server.host)}:${server.grpcPort || GRPC_PORT}`, note: '' };
  } catch {
    // A node's configuration may name credentials that a client's environment doesn't have.
    const note = '\nThe configuration here can\'t be read ("reprise config" tells why), so its port was not looked up.';
    return { address: `127.0.0.1:${settings.grpcPort ?? GRPC_PORT}`, note };
  }
}
