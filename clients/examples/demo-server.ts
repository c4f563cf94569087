/**
 * A server for the demo, in a process of its own so that the client doesn't slow it: any free ports, the demo model, nothing
 * kept. It tells its parent its URL, and stops when the parent lets go of it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddingEnvironment, loadConfig } from '../../runtime/config/index.ts';
import { runServer } from '../../runtime/host/run-server.ts';

/** First message to the parent. */
export type DemoServerMessage = { readonly url: string } | { readonly failure: string };

const DRAIN_MS = 1_000;
/** Ten times the default: on a busy machine the demo shall show what is found, not what is skipped. */
const LOOKUP_BUDGET_MS = 500;

function tell(message: DemoServerMessage): void {
  process.send?.(message);
}

async function serve(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'reprise-demo-'));
  process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const released = new Promise<void>((resolve) => process.once('disconnect', () => resolve()));
  const config = loadConfig({
    file: false,
    env: embeddingEnvironment(),
    overrides: {
      dataDir,
      server: { httpPort: 0, grpcPort: 0 },
      cache: { lookupBudgetMs: LOOKUP_BUDGET_MS },
      telemetry: { logLevel: 'error' },
    },
  });
  const server = await runServer(config);
  tell({ url: server.http.url });
  await released;
  await server.close(DRAIN_MS);
}

serve().then(
  () => process.exit(0),
  (error: unknown) => {
    tell({ failure: error instanceof Error ? error.message : String(error) });
    process.exit(1);
  },
);
