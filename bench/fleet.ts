import { closeSync, ftruncateSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { testCluster, type TestCluster } from '../grid/hazelcast/testing/cluster.ts';
import type { Cores, Dialogue, Processes } from './processes.ts';
import type { ServerName } from './scenarios.ts';

/** A server that runs. */
export interface Server {
  readonly pid: number;
  readonly httpPort: number;
  readonly grpcPort: number;
}

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '..');
/** What runs a TypeScript file, whatever the working folder. */
export const TSX: readonly string[] = ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href];
const CREDENTIALS = 'bench-key:bench';
/** Room for every stored answer of a run. */
const ENTRIES_BYTES_MAX = '768MiB';

const READY = /^ready (\d+)$/;
/** Lines of the banner. */
const HTTP_PORT = /^ {2}HTTP .*?:(\d+) /;
const GRPC_PORT = /^ {2}gRPC .*:(\d+)$/;

/** Settings of the Reprise servers beyond those that all of them have. */
const SETTINGS: Readonly<Partial<Record<ServerName, Readonly<Record<string, string>>>>> = {
  memo: { REPRISE_ENTRIES_BYTES_MAX: ENTRIES_BYTES_MAX },
  'no-memo': { REPRISE_ENTRIES_BYTES_MAX: ENTRIES_BYTES_MAX, REPRISE_BODY_MEMO_BYTES: '0' },
  unique: {},
  grid: { REPRISE_GRID: 'hazelcast', REPRISE_GRID_TOPOLOGY: 'centralised', REPRISE_LOOKUP_BUDGET_MS: '1000' },
};

const MEMBER_HEAP_MB = 1_024;

/** The servers of one run, all on one core, and the upstream, on the other. */
export class Fleet {
  readonly #processes: Processes;
  readonly #cores: Cores;
  readonly #folder: string;
  readonly #fromSource: boolean;
  readonly #servers = new Map<ServerName, Server>();
  readonly #logs = new Map<ServerName, number>();
  #upstreamPort = '';
  #generator: Dialogue | undefined;
  #cluster: TestCluster | undefined;

  /** `folder`: for logs and data. `fromSource`: Reprise as it is, not as it was built. */
  constructor(processes: Processes, cores: Cores, options: { folder: string; fromSource: boolean }) {
    this.#processes = processes;
    this.#cores = cores;
    this.#folder = options.folder;
    this.#fromSource = options.fromSource;
  }

  async start(names: Iterable<ServerName>): Promise<void> {
    const upstream = { args: [...TSX, join(HERE, 'upstream.ts')], core: this.#cores.load };
    this.#upstreamPort = (await this.#processes.serve(upstream, READY)).told[0] ?? '';
    const generator = { args: [...TSX, join(HERE, 'load.ts')], core: this.#cores.load };
    this.#generator = await this.#processes.talk(generator);
    const wanted = new Set(names);
    if (wanted.has('grid')) this.#cluster = await testCluster({ members: 1, heapMb: MEMBER_HEAP_MB });
    for (const name of wanted) {
      const settings = SETTINGS[name];
      this.#servers.set(name, settings === undefined ? await this.#echo(name) : await this.#reprise(name, settings));
    }
  }

  /** Has the generator run a load; plan and result are JSON. */
  async generate(plan: string, limitMs: number): Promise<string> {
    if (this.#generator === undefined) throw new Error('The generator does not run.');
    return this.#generator.ask(plan, limitMs);
  }

  server(name: ServerName): Server {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`The server ${name} does not run.`);
    return server;
  }

  /** Empties the logs: they are written for their cost, not for their text. */
  emptyLogs(): void {
    for (const log of this.#logs.values()) ftruncateSync(log);
  }

  async close(): Promise<void> {
    for (const log of this.#logs.values()) closeSync(log);
    await this.#cluster?.close();
  }

  async #echo(name: ServerName): Promise<Server> {
    const plan = { args: [...TSX, join(HERE, 'echo-server.ts'), name, ...this.#member()], core: this.#cores.server };
    const { pid, told } = await this.#processes.serve(plan, READY);
    return { pid, httpPort: Number(told[0]), grpcPort: Number(told[0]) };
  }

  async #reprise(name: ServerName, settings: Readonly<Record<string, string>>): Promise<Server> {
    const log = openSync(join(this.#folder, `${name}.log`), 'a');
    this.#logs.set(name, log);
    const main = this.#fromSource
      ? [...TSX, join(ROOT, 'runtime/host/main.ts')]
      : [join(ROOT, 'dist/runtime/host/main.js')];
    const env = {
      REPRISE_HTTP_PORT: '0',
      REPRISE_GRPC_PORT: '0',
      REPRISE_API_KEYS: CREDENTIALS,
      REPRISE_SEMANTIC: 'off',
      REPRISE_UPSTREAM_URL: `http://127.0.0.1:${this.#upstreamPort}/v1`,
      REPRISE_DATA_DIR: join(this.#folder, name),
      ...settings,
      ...(name === 'grid' ? this.#onMember() : {}),
    };
    const plan = { args: main, env, cwd: this.#folder, core: this.#cores.server, output: log };
    const { pid, told } = await this.#processes.serve(plan, HTTP_PORT, GRPC_PORT);
    return { pid, httpPort: Number(told[0]), grpcPort: Number(told[1]) };
  }

  #member(): readonly string[] {
    return this.#cluster === undefined ? [] : [...this.#cluster.addresses, this.#cluster.clusterName];
  }

  #onMember(): Readonly<Record<string, string>> {
    const [address = '', clusterName = ''] = this.#member();
    return { REPRISE_GRID_MEMBERS: address, REPRISE_GRID_CLUSTER: clusterName };
  }
}
