import type { Command } from 'commander';
import type { SettingsInput } from '../../../runtime/config/index.ts';
import { UsageError } from '../exit.ts';
import { addExamples } from './shared.ts';

interface ServeOptions {
  readonly config?: string;
  readonly host?: string;
  readonly httpPort?: number;
  readonly grpcPort?: number;
}

/** Adds `reprise serve`: a node in this process, until SIGINT or SIGTERM. */
export function addServe(program: Command): void {
  const command = program
    .command('serve')
    .description('run a node: HTTP and gRPC, until Ctrl-C or SIGTERM')
    .option('--config <file>', 'configuration file (REPRISE_CONFIG; else reprise.yaml where there is one)')
    .option('--host <address>', 'address to bind')
    .option('--http-port <port>', 'port of the HTTP server; 0: any free one', port)
    .option('--grpc-port <port>', 'port of the gRPC server; 0: any free one', port)
    .action(async ({ config, host, httpPort, grpcPort }: ServeOptions) => {
      const [{ loadConfig }, { main }] = await Promise.all([
        import('../../../runtime/config/index.ts'),
        import('../../../runtime/host/main.ts'),
      ]);
      const server: SettingsInput['server'] = {
        ...(host !== undefined && { host }),
        ...(httpPort !== undefined && { httpPort }),
        ...(grpcPort !== undefined && { grpcPort }),
      };
      await main(loadConfig({ ...(config !== undefined && { file: config }), overrides: { server } }));
    });
  addExamples(
    command,
    'reprise serve',
    'reprise serve --config reprise.yaml --http-port 9000',
    'REPRISE_UPSTREAM_URL=https://api.openai.com/v1 REPRISE_UPSTREAM_KEY=… reprise serve',
  );
}

function port(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`A port is a whole number from 0 to 65535, not "${text}".`);
}
