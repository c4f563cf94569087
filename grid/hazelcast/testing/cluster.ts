import { spawnSync } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RepriseError } from '../../../runtime/errors.ts';
import { startMembers, type RunningMember, type RunningMembers } from '../launcher.ts';
import { JAVA, jarPath, javaVersion, memberJar } from '../launcher-java.ts';
import { freePorts } from '../launcher-ports.ts';
import { gridDir } from '../launcher-state.ts';
import { FaultyProxy, type Fault } from './faulty-proxy.ts';
import { QuickJava } from './quick-java.ts';

export interface ClusterOptions {
  /** 3. */
  readonly members?: number;
  /** Of each member, MiB; 256. */
  readonly heapMb?: number;
  /** As many as there are members. */
  readonly membersExpected?: number;
  /** All connections to a member, its own members' too, go through a proxy that it advertises. */
  readonly proxied?: boolean;
}

/** Members that live as long as a test. */
export interface TestCluster {
  readonly clusterName: string;
  /** What a node is configured with: `host:port` of the proxies, where there are any. */
  readonly addresses: readonly string[];
  readonly members: readonly RunningMember[];
  /** SIGKILL; resolves when it is gone. */
  kill(index: number): Promise<void>;
  /** SIGSTOP: it neither answers nor lets go of its connections. */
  pause(index: number): void;
  /** SIGCONT. */
  resume(index: number): void;
  /** Starts a member that ended at its old address; resolves when it sees `count` members, itself counted (1). */
  restart(index: number, count?: number): Promise<void>;
  /** The fault of nodes' connections to a member; undefined: none. Proxied clusters only. */
  setFault(index: number, fault: Fault | undefined): void;
  /** Resets nodes' connections to a member; new ones are welcome. Proxied clusters only. */
  cut(index: number): void;
  /** Parts members from each other, not from nodes: members of one group reach each other only. Proxied clusters only. */
  split(groups: readonly (readonly number[])[]): void;
  /** Takes all faults and splits away. */
  heal(): void;
  /** Ends all members and removes their folder; always, and more than once if need be. */
  close(): Promise<void>;
}

/** Below the ports that systems give to outgoing connections. */
const PORT_MIN = 15_000;
const PORT_MAX = 30_000;
const JAVA_CHECK_MS = 20_000;
const NODES = 'nodes';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
/** Tests share one jar with `reprise grid` of this repository. */
export const LIB_DIR = join(ROOT, '.reprise', 'grid', 'lib');

let reason: { readonly text: string | undefined } | undefined;

/** Why members can't run here, in a line; undefined when they can. */
export function unavailable(): string | undefined {
  reason ??= { text: findReason() };
  return reason.text;
}

/** Gives a data folder the tests' jar, so that what is started from it fetches none. */
export async function lendJar(dataDir: string): Promise<void> {
  const jar = await memberJar({ libDir: LIB_DIR, onProgress: () => undefined });
  const libDir = join(gridDir(dataDir), 'lib');
  await mkdir(libDir, { recursive: true });
  await symlink(jar, jarPath(libDir));
}

/** Starts members on free ports of loopback under a random cluster name. Even a killed test leaves none behind. */
export async function testCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const { members: count = 3, heapMb = 256, membersExpected, proxied = false } = options;
  const missing = unavailable();
  if (missing !== undefined) throw new RepriseError('config_invalid', missing);
  const dataDir = await mkdtemp(join(tmpdir(), 'reprise-grid-'));
  // Proxied members listen on addresses of their own and connect from them: that is how a proxy tells them from nodes.
  const hosts = Array.from({ length: count }, (_, index) => (proxied ? `127.0.0.${index + 2}` : '127.0.0.1'));
  const proxies: FaultyProxy[] = [];
  const java = new QuickJava(LIB_DIR);
  let running: RunningMembers | undefined;
  const close = async (): Promise<void> => {
    await java.keepClasses(running);
    // What they hold is thrown away: nothing needs to be handed over.
    await running?.stop({ limitMs: 0 });
    await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const ports = await freePorts('127.0.0.1', count, randomInt(PORT_MIN, PORT_MAX));
    if (proxied) proxies.push(...(await openProxies(hosts, ports)));
    running = await startMembers({
      members: count,
      host: hosts,
      ports,
      ...(proxied && { publicAddresses: proxies.map(({ address }) => address) }),
      dataDir,
      libDir: LIB_DIR,
      heapMb,
      clusterName: `test-${randomUUID()}`,
      membersExpected: membersExpected ?? count,
      javaOptions: (index) => java.optionsOf(index),
    });
  } catch (error) {
    await close();
    throw error;
  }
  return clusterOf(running, { hosts, proxies, close });
}

function clusterOf(
  running: RunningMembers,
  {
    hosts,
    proxies,
    close,
  }: {
    readonly hosts: readonly string[];
    readonly proxies: readonly FaultyProxy[];
    readonly close: () => Promise<void>;
  },
): TestCluster {
  const { members, addresses, clusterName } = running;
  const proxyOf = (index: number): FaultyProxy => at(proxies, index, 'the cluster is not proxied, or has no member');
  const memberOf = (index: number): RunningMember => at(members, index, 'the cluster has no member');
  return {
    clusterName,
    addresses,
    members,
    kill: (index) => running.stop({ index, limitMs: 0 }),
    pause: (index) => void running.kill(index, 'SIGSTOP'),
    resume: (index) => void running.kill(index, 'SIGCONT'),
    restart: (index, count) => memberOf(index).restart(count),
    setFault: (index, fault) => proxyOf(index).setFault(fault, NODES),
    cut: (index) => proxyOf(index).cut(NODES),
    split(groups) {
      for (const index of members.keys()) {
        for (const [other, host] of hosts.entries()) {
          const isTogether = index === other || groups.some((group) => group.includes(index) && group.includes(other));
          proxyOf(index).setFault(isTogether ? undefined : { kind: 'refuse' }, host);
        }
      }
    },
    heal() {
      for (const proxy of proxies) proxy.heal();
    },
    close,
  };
}

/** One in front of each member, on the member's own address. */
async function openProxies(hosts: readonly string[], ports: readonly number[]): Promise<FaultyProxy[]> {
  const nameOf = (remote: string): string => (hosts.includes(remote) ? remote : NODES);
  return Promise.all(
    hosts.map((host, index) =>
      FaultyProxy.open({ host, target: { host, port: at(ports, index, 'there is no port') }, nameOf }),
    ),
  );
}

function at<T>(list: readonly T[], index: number, otherwise: string): T {
  const item = list[index];
  if (item === undefined) throw new Error(`${otherwise} ${index}`);
  return item;
}

function findReason(): string | undefined {
  const java = spawnSync('sh', ['-c', `${JAVA} -version`], { encoding: 'utf8', timeout: JAVA_CHECK_MS });
  if (java.status !== 0) return 'no Java was found: members of the grid need Java 17 or newer';
  const version = javaVersion(`${java.stdout}${java.stderr}`);
  if (version === undefined || version < 17) return `members of the grid need Java 17 or newer, and this is ${version}`;
  if (existsSync(jarPath(LIB_DIR))) return undefined;
  const maven = spawnSync('mvn', ['-version'], { encoding: 'utf8', timeout: JAVA_CHECK_MS });
  return maven.status === 0
    ? undefined
    : `there is neither ${jarPath(LIB_DIR)} nor Maven to fetch it: run reprise grid start where there is a network`;
}
