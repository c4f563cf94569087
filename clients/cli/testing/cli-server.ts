import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, type SettingsInput } from '../../../runtime/config/index.ts';
import { runServer, type RunningServer } from '../../../runtime/host/run-server.ts';
import { TestEmbedder } from '../../../runtime/host/testing/test-embedder.ts';
import { connectReprise } from '../../node/index.ts';

/** A whole server on free ports, with an embedder that knows what stands before a `|`. */
export interface CliServer {
  readonly server: RunningServer;
  /** Of its gRPC port. */
  readonly address: string;
  /** Has a question answered and stored; gives its entry's id. */
  store(question: string): Promise<string>;
  close(): Promise<void>;
}

const DRAIN_MS = 10_000;

/** Starts a server as the settings say; nothing is read from files or the environment. */
export async function startCliServer(settings: SettingsInput = {}): Promise<CliServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'reprise-cli-'));
  const config = loadConfig({
    file: false,
    env: {},
    overrides: {
      dataDir,
      server: { httpPort: 0, grpcPort: 0, requestLog: false },
      demo: { firstTokenMs: 0, perTokenMs: 0 },
      cache: { lookupBudgetMs: 10_000 },
      telemetry: { logLevel: 'error' },
      ...settings,
    },
  });
  const server = await runServer(config, { embedder: new TestEmbedder() });
  const address = `127.0.0.1:${server.grpc.port}`;
  return {
    server,
    address,
    async store(question) {
      const client = connectReprise({ address });
      const request = { model: 'demo', messages: [{ role: 'user', content: question }] };
      const { status } = await client.infer(request);
      client.close();
      await server.assembly.node.drain(DRAIN_MS);
      return status.entryId;
    },
    async close() {
      await server.close(DRAIN_MS);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
