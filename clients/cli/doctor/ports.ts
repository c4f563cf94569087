import { createServer } from 'node:net';
import type { Config } from '../../../runtime/config/index.ts';
import { reachableHost } from '../addresses.ts';
import type { Finding } from './finding.ts';
import { httpGet } from '../http-get.ts';

const PROBE_TIMEOUT_MS = 3_000;

/** Tells whether a Reprise answers at a gRPC address. */
export type GrpcProbe = (address: string, timeoutMs: number) => Promise<boolean>;

/** Whether the configured ports are free, or held by a Reprise that runs. */
export async function portFindings({ server }: Pick<Config, 'server'>, isRepriseGrpc: GrpcProbe): Promise<Finding[]> {
  const { host, httpPort, grpcPort } = server;
  const asked = reachableHost(host);
  return await Promise.all([
    portFinding({ name: 'HTTP port', variable: 'REPRISE_HTTP_PORT', host, port: httpPort }, () =>
      isRepriseHttp(`http://${asked}:${httpPort}/readyz`),
    ),
    portFinding({ name: 'gRPC port', variable: 'REPRISE_GRPC_PORT', host, port: grpcPort }, () =>
      isRepriseGrpc(`${asked}:${grpcPort}`, PROBE_TIMEOUT_MS),
    ),
  ]);
}

interface Port {
  readonly name: string;
  readonly variable: string;
  readonly host: string;
  readonly port: number;
}

async function portFinding(where: Port, isReprise: () => Promise<boolean>): Promise<Finding> {
  const { name, variable, host, port } = where;
  const at = `${host}:${port}`;
  if (port === 0) return { name, state: 'ok', detail: 'any free one' };
  const problem = await bindProblem(host, port);
  if (problem === undefined) return { name, state: 'ok', detail: `${at} is free` };
  if (problem !== 'EADDRINUSE') {
    const advice = `Set ${variable} to another port, or REPRISE_HOST to an address of this machine.`;
    return { name, state: 'fail', detail: `${at} can't be bound (${problem})`, advice };
  }
  if (await isReprise()) return { name, state: 'ok', detail: `${at} is held by a Reprise that is running` };
  const advice = `Stop it, or set ${variable} to a free port.`;
  return { name, state: 'fail', detail: `${at} is in use by another program`, advice };
}

function bindProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

async function isRepriseHttp(url: string): Promise<boolean> {
  try {
    const { json } = await httpGet(url, { timeoutMs: PROBE_TIMEOUT_MS });
    const document = json as { readonly ready?: unknown; readonly parts?: unknown } | null | undefined;
    return typeof document?.ready === 'boolean' && Array.isArray(document.parts);
  } catch {
    return false;
  }
}
