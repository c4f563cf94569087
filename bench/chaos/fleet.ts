import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { testCluster, type TestCluster } from '../../grid/hazelcast/testing/cluster.ts';
import { TSX } from '../fleet.ts';
import { Processes } from '../processes.ts';
import { STRICT_NAMESPACE } from './load.ts';

export const MEMBERS = 3;
export const HEAP_MB = 256;
/** Latency of the model. */
export const MODEL_MS = 30;

const HERE = fileURLToPath(new URL('.', import.meta.url));
const MAIN = join(HERE, '..', '..', 'runtime', 'host', 'main.ts');
/** How each process is started, from source. */
const NODE_ARGS = [...TSX, '--import', pathToFileURL(join(HERE, 'exit-with-parent.mjs')).href];
const READY = /^ready (\d+)$/;
/** A line of the banner. */
const HTTP_PORT = /^ {2}HTTP .*?:(\d+) /;
const ERROR_LEVEL = '"level":50';
const SHOWN_MAX = 5;

/** Three members behind proxies, two nodes on them, a third node whose cache is not used, and a model. */
export class ChaosFleet {
  readonly cluster: TestCluster;
  readonly nodes: readonly [string, string];
  readonly control: string;
  readonly #processes: Processes;
  readonly #folder: string;
  readonly #logs: ReadonlyMap<string, number>;

  private constructor(
    cluster: TestCluster,
    urls: readonly [string, string, string],
    own: { readonly processes: Processes; readonly folder: string; readonly logs: ReadonlyMap<string, number> },
  ) {
    this.cluster = cluster;
    this.nodes = [urls[0], urls[1]];
    this.control = urls[2];
    this.#processes = own.processes;
    this.#folder = own.folder;
    this.#logs = own.logs;
  }

  /** Nothing is left of it when it fails, or when the signal comes meanwhile. */
  static async start(log: (line: string) => void, signal?: AbortSignal): Promise<ChaosFleet> {
    const processes = new Processes();
    const folder = mkdtempSync(join(tmpdir(), 'reprise-chaos-'));
    const logs = new Map<string, number>();
    let cluster: TestCluster | undefined;
    try {
      log(`starting ${MEMBERS} members of ${HEAP_MB} MiB`);
      cluster = await testCluster({ members: MEMBERS, heapMb: HEAP_MB, proxied: true });
      signal?.throwIfAborted();
      log('starting the model, two nodes and the control');
      const model = await processes.serve(
        { args: [...NODE_ARGS, join(HERE, 'upstream.ts'), String(MODEL_MS)], core: undefined },
        READY,
      );
      const start = (name: string, env: Readonly<Record<string, string>>): Promise<string> => {
        const output = openSync(join(folder, `${name}.log`), 'a');
        logs.set(name, output);
        return startNode(processes, { name, folder, output, modelPort: model.told[0] ?? '', env });
      };
      const grid = gridVariables(cluster);
      const [one, two, control] = await Promise.all([
        start('node-1', grid),
        start('node-2', grid),
        start('control', {}),
      ]);
      signal?.throwIfAborted();
      return new ChaosFleet(cluster, [one, two, control], { processes, folder, logs });
    } catch (error) {
      await end({ processes, cluster, folder, logs });
      throw error;
    }
  }

  /** Errors in the nodes' logs, the first few in full. */
  errors(): readonly string[] {
    const lines = [...this.#logs.keys()].flatMap((name) =>
      readFileSync(join(this.#folder, `${name}.log`), 'utf8')
        .split('\n')
        .filter((line) => line.includes(ERROR_LEVEL))
        .map((line) => `${name}: ${line}`),
    );
    return lines.length <= SHOWN_MAX ? lines : [...lines.slice(0, SHOWN_MAX), `… ${lines.length} in all`];
  }

  async close(): Promise<void> {
    await end({ processes: this.#processes, cluster: this.cluster, folder: this.#folder, logs: this.#logs });
  }
}

async function startNode(
  processes: Processes,
  plan: {
    readonly name: string;
    readonly folder: string;
    readonly output: number;
    readonly modelPort: string;
    readonly env: Readonly<Record<string, string>>;
  },
): Promise<string> {
  const { name, folder, output, modelPort } = plan;
  const configFile = join(folder, `${name}.yaml`);
  writeFileSync(configFile, `namespaces:\n  ${STRICT_NAMESPACE}: { strict: true }\n`);
  const env = {
    REPRISE_CONFIG: configFile,
    REPRISE_NODE_ID: name,
    REPRISE_HTTP_PORT: '0',
    REPRISE_GRPC_PORT: '0',
    REPRISE_SEMANTIC: 'off',
    REPRISE_REQUEST_LOG: 'false',
    REPRISE_UPSTREAM_URL: `http://127.0.0.1:${modelPort}/v1`,
    REPRISE_DATA_DIR: join(folder, name),
    ...plan.env,
  };
  const { told } = await processes.serve(
    { args: [...NODE_ARGS, MAIN], env, cwd: folder, core: undefined, output },
    HTTP_PORT,
  );
  return `http://127.0.0.1:${told[0]}`;
}

function gridVariables({ addresses, clusterName }: TestCluster): Record<string, string> {
  const key = randomBytes(32).toString('base64');
  return {
    REPRISE_GRID_MEMBERS: addresses.join(','),
    REPRISE_GRID_CLUSTER: clusterName,
    REPRISE_GRID_MEMBERS_EXPECTED: String(MEMBERS),
    REPRISE_GRID_TOPOLOGY: 'hybrid',
    REPRISE_GRID_KEYS: `chaos:${key}`,
  };
}

async function end(own: {
  readonly processes: Processes;
  readonly cluster: TestCluster | undefined;
  readonly folder: string;
  readonly logs: ReadonlyMap<string, number>;
}): Promise<void> {
  await Promise.all([own.processes.stop(), own.cluster?.close()]);
  for (const output of own.logs.values()) closeSync(output);
  rmSync(own.folder, { recursive: true, force: true });
}
