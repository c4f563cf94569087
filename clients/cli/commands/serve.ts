import { Option, type Command } from 'commander';
import type { Config, SettingsInput } from '../../../runtime/config/index.ts';
import { CommandFailure, UsageError } from '../exit.ts';
import { addExamples } from './shared.ts';

interface ServeOptions {
  readonly config?: string;
  readonly host?: string;
  readonly httpPort?: number;
  readonly grpcPort?: number;
  readonly grid?: 'memory' | 'hazelcast';
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
    .addOption(
      new Option(
        '--grid <kind>',
        'where answers are kept; hazelcast: the members of REPRISE_GRID_MEMBERS, else some on this machine, started when none runs',
      ).choices(['memory', 'hazelcast']),
    )
    .action(serve);
  addExamples(
    command,
    'reprise serve',
    'reprise serve --config reprise.yaml --http-port 9000',
    'reprise serve --grid hazelcast',
    'REPRISE_UPSTREAM_URL=https://api.openai.com/v1 REPRISE_UPSTREAM_KEY=… reprise serve',
  );
}

async function serve({ config, host, httpPort, grpcPort, grid: kind }: ServeOptions): Promise<void> {
  const [{ loadConfig }, { main, stopSignal }] = await Promise.all([
    import('../../../runtime/config/index.ts'),
    import('../../../runtime/host/main.ts'),
  ]);
  const server: SettingsInput['server'] = {
    ...(host !== undefined && { host }),
    ...(httpPort !== undefined && { httpPort }),
    ...(grpcPort !== undefined && { grpcPort }),
  };
  const load = (hazelcast: HazelcastSettings = {}): Config => {
    const grid: SettingsInput['grid'] = kind === undefined ? {} : { kind, hazelcast };
    return loadConfig({ ...(config !== undefined && { file: config }), overrides: { server, grid } });
  };
  const asked = load();
  if (kind !== 'hazelcast' || asked.origins['grid.hazelcast.members'] !== undefined) return main(asked);
  const [{ localMembers }, { refuseTakenPorts }] = await Promise.all([
    import('../../../runtime/host/local-members.ts'),
    import('../../../runtime/host/taken-ports.ts'),
  ]);
  await refuseTakenPorts(asked.server);
  const stop = stopSignal();
  const starting = new AbortController();
  void stop.then((signal) =>
    starting.abort(new CommandFailure('cancelled', `${signal}: the members were not started.`, undefined)),
  );
  const local = await localMembers(asked, (text) => process.stderr.write(`grid: ${text}\n`), starting.signal);
  try {
    await main(load({ members: [...local.addresses], clusterName: local.clusterName }), stop);
  } finally {
    await local.stop();
  }
}

type HazelcastSettings = NonNullable<NonNullable<SettingsInput['grid']>['hazelcast']>;

function port(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`A port is a whole number from 0 to 65535, not "${text}".`);
}
