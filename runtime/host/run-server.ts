import { describeConfig, isLoopback, type Config } from '../config/index.ts';
import { toRepriseError } from '../errors.ts';
import type { Identity } from '../ports/service.ts';
import { GrpcServer } from '../server/grpc-server.ts';
import { HttpServer, type HttpAddress } from '../server/http-server.ts';
import { assemble, type Assembly, type AssemblyOverrides } from './assembly.ts';
import { closeServer } from './close-server.ts';
import { refuseTakenPorts } from './taken-ports.ts';
import { HostTelemetry } from './telemetry.ts';

/** A serving process: node, HTTP and gRPC. */
export interface RunningServer {
  readonly assembly: Assembly;
  readonly telemetry: HostTelemetry;
  readonly http: HttpAddress;
  readonly grpc: { readonly host: string; readonly port: number };
  /**
   * Finishes running requests and streams within `limitMs`, ends those that are left with `draining`, then stops everything, about
   * half a second later; a second call waits for the first.
   */
  close(limitMs: number): Promise<void>;
}

/** A connection may be silent for as long as a model may think, and a little longer. */
const IDLE_MARGIN_MS = 60_000;

/** Starts a node and its servers; what was started is stopped again when a later step fails. */
export async function runServer(config: Config, overrides: AssemblyOverrides = {}): Promise<RunningServer> {
  const telemetry = new HostTelemetry({ logLevel: config.telemetry.logLevel });
  for (const warning of config.warnings) telemetry.log('warn', warning);
  await refuseTakenPorts(config.server);
  const assembly = await assemble(config, telemetry, overrides);
  const http = httpServer(config, assembly, telemetry);
  const grpc = grpcServer(config, assembly, telemetry);
  try {
    await assembly.node.start();
    const httpAddress = await http.start();
    const grpcAddress = await grpc.start();
    let closing: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      await assembly.stop();
      telemetry.flush();
    };
    return {
      assembly,
      telemetry,
      http: httpAddress,
      grpc: grpcAddress,
      close: (limitMs) => (closing ??= closeServer({ http, grpc, node: assembly.node, stop }, limitMs)),
    };
  } catch (error) {
    await Promise.allSettled([http.close(0), grpc.close(0)]);
    await assembly.stop();
    throw error;
  }
}

function httpServer(config: Config, assembly: Assembly, telemetry: HostTelemetry): HttpServer {
  const { server } = config;
  const described = describeConfig(config);
  return new HttpServer({
    service: assembly.node.service,
    resolveIdentity: (headers): Identity => {
      const apiKey = headers['x-api-key'] ?? headers['api-key'];
      return assembly.identity.resolve(headers.authorization, typeof apiKey === 'string' ? apiKey : undefined);
    },
    host: server.host,
    port: server.httpPort,
    bodyBytesMax: config.node.bodyBytesMax,
    idleTimeoutMs: config.node.modelTimeoutMs + IDLE_MARGIN_MS,
    describeConfig: () => described,
    recordings: assembly.node.recordings,
    transfer: assembly.node.transfer,
    onInternalError: (error, requestId) => telemetry.failure('request failed', error, { requestId }),
    ...(config.identity.mode === 'local' && isLoopback(server.host) ? { allowedHosts: server.allowedHosts } : {}),
    ...(config.telemetry.metrics ? { metrics: () => telemetry.text() } : {}),
    ...(server.requestLog ? { onRequestDone: (record) => telemetry.request(record) } : {}),
  });
}

function grpcServer(config: Config, assembly: Assembly, telemetry: HostTelemetry): GrpcServer {
  const { server } = config;
  return new GrpcServer({
    service: assembly.node.service,
    resolveIdentity: (authorization, apiKey) => assembly.identity.resolve(authorization, apiKey),
    host: server.host,
    port: server.grpcPort,
    bodyBytesMax: config.node.bodyBytesMax,
    ...(server.requestLog ? { onCallDone: (record) => telemetry.request(record) } : {}),
    onInternalError: (error: unknown) => telemetry.failure('call failed', error, { code: toRepriseError(error).code }),
  });
}
