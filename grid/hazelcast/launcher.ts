import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { LauncherError } from './launcher-error.ts';
import { checkJava, memberJar } from './launcher-java.ts';
import { freePorts, requireFree } from './launcher-ports.ts';
import { gridDir } from './launcher-state.ts';
import type { MemberSettings } from './member-arguments.ts';
import { hasJoined } from './member-probe.ts';
import { MemberProcess } from './member-process.ts';

export interface StartOptions {
  /** How many. */
  readonly members: number;
  /** One for each member; undefined: the first free ones from `portFrom` on. */
  readonly ports?: readonly number[] | undefined;
  /** 5701. */
  readonly portFrom?: number | undefined;
  /** Address that all listen on; a list: one each. Loopback unless told. */
  readonly host?: string | readonly string[] | undefined;
  /** `host:port` that nodes and members are told instead of where a member listens, one each. */
  readonly publicAddresses?: readonly string[] | undefined;
  /** Logs go to its `grid/logs`. */
  readonly dataDir: string;
  /** Folder of the jar; `grid/lib` of the data folder unless told. */
  readonly libDir?: string | undefined;
  /** Of each member, MiB. */
  readonly heapMb: number;
  readonly clusterName: string;
  /** Members of the whole cluster; as many as are started unless told. */
  readonly membersExpected?: number | undefined;
  /** More options of Java, for the member of an index. */
  readonly javaOptions?: ((index: number) => readonly string[]) | undefined;
  readonly onProgress?: ((text: string) => void) | undefined;
  /** Ends the start and every member that it made. */
  readonly signal?: AbortSignal | undefined;
}

/** One member that this process started. It ends with this process, unless it was released. */
export interface RunningMember {
  /** `host:port` that it listens on. */
  readonly address: string;
  /** `host:port` that nodes and other members are told. */
  readonly publicAddress: string;
  readonly port: number;
  readonly logFile: string;
  /** Of the process that runs now, or ran last. */
  readonly process: MemberProcess;
  readonly isRunning: boolean;
  /** Starts it again where it was, and resolves when it sees `count` members, itself counted. */
  restart(count?: number): Promise<void>;
}

export interface RunningMembers {
  readonly clusterName: string;
  readonly members: readonly RunningMember[];
  /** Where nodes reach them. */
  readonly addresses: readonly string[];
  /** Sends a signal to one; false when it is gone. */
  kill(index: number, signal: NodeJS.Signals): boolean;
  /** Stops one, or all: SIGTERM, and after `limitMs` SIGKILL. Resolves when they are gone. */
  stop(options?: { readonly index?: number; readonly limitMs?: number }): Promise<void>;
  /** Lets them outlive this process. */
  release(): Promise<void>;
}

const PORT = 5_701;
const JOIN_MS = 60_000;
const LOG_TAIL_BYTES = 4_096;
const LOG_TAIL_LINES = 15;

/**
 * Starts members on this machine and resolves when each has joined all others. When anything fails, or the signal comes, none
 * is left. Errors: `LauncherError`, or the signal's reason.
 */
export async function startMembers(options: StartOptions): Promise<RunningMembers> {
  const { onProgress = () => undefined, dataDir, signal } = options;
  await checkJava();
  signal?.throwIfAborted();
  const jar = await memberJar({ libDir: options.libDir ?? join(gridDir(dataDir), 'lib'), onProgress, signal });
  const members = (await placesOf(options)).map((place, index) => new Member(index, place, { options, jar }));
  try {
    onProgress(`starting ${members.length === 1 ? 'a member' : `${members.length} members`} …`);
    await Promise.all(members.map((member) => member.start(members.length)));
  } catch (error) {
    await Promise.all(members.map((member) => member.stop(0)));
    throw error;
  }
  return {
    clusterName: options.clusterName,
    members,
    addresses: members.map(({ publicAddress }) => publicAddress),
    kill: (index, name) => at(members, index).process.signal(name),
    async stop({ index, limitMs } = {}) {
      await Promise.all((index === undefined ? members : [at(members, index)]).map((member) => member.stop(limitMs)));
    },
    async release() {
      await Promise.all(members.map((member) => member.process.release()));
    },
  };
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly publicAddress: string | undefined;
  /** Addresses of all. */
  readonly members: readonly string[];
}

interface MemberContext {
  readonly options: StartOptions;
  readonly jar: string;
}

class Member implements RunningMember {
  readonly address: string;
  readonly publicAddress: string;
  readonly port: number;
  readonly logFile: string;
  readonly #name: string;
  readonly #settings: MemberSettings;
  readonly #options: StartOptions;
  #process: MemberProcess | undefined = undefined;

  constructor(index: number, place: Place, { options, jar }: MemberContext) {
    this.port = place.port;
    this.address = `${place.host}:${place.port}`;
    this.publicAddress = place.publicAddress ?? this.address;
    this.logFile = join(gridDir(options.dataDir), 'logs', `member-${index + 1}.log`);
    this.#name = `member ${index + 1} (${this.address})`;
    this.#options = options;
    this.#settings = {
      ...place,
      jar,
      clusterName: options.clusterName,
      membersExpected: options.membersExpected ?? options.members,
      heapMb: options.heapMb,
      javaOptions: options.javaOptions?.(index),
    };
  }

  get process(): MemberProcess {
    if (this.#process === undefined) throw new Error(`${this.#name} was never started`);
    return this.#process;
  }

  get isRunning(): boolean {
    return this.#process?.isRunning === true;
  }

  async restart(count = 1): Promise<void> {
    if (this.isRunning) throw new Error(`${this.#name} is running`);
    await requireFree([this.#settings]);
    try {
      await this.start(count);
    } catch (error) {
      await this.stop(0);
      throw error;
    }
  }

  /** Resolves when it sees `count` members, itself counted. */
  async start(count: number): Promise<void> {
    const { signal, onProgress } = this.#options;
    signal?.throwIfAborted();
    const member = await MemberProcess.spawn({ ...this.#settings, logFile: this.logFile });
    this.#process = member;
    const ended = new AbortController();
    void member.exited.then(() => ended.abort(this.#ended(member)));
    const joined = await hasJoined({
      address: this.address,
      clusterName: this.#settings.clusterName,
      limitMs: JOIN_MS,
      count,
      signal: AbortSignal.any([ended.signal, ...(signal === undefined ? [] : [signal])]),
      onSeen: (seen) => onProgress?.(`${this.#name} sees ${seen} of ${count}`),
    });
    if (joined) return;
    throw new LauncherError(
      'join_timeout',
      `${this.#name} did not see ${count} members within ${JOIN_MS / 1_000} s. The end of its log, ${this.logFile}:\n${tailOf(this.logFile)}`,
    );
  }

  async stop(limitMs?: number): Promise<void> {
    await this.#process?.stop(limitMs);
  }

  #ended({ exitCode }: MemberProcess): LauncherError {
    return new LauncherError(
      'member_ended',
      `${this.#name} ended${exitCode === undefined ? '' : ` with exit code ${exitCode}`}. The end of its log, ${this.logFile}:\n${tailOf(this.logFile)}`,
    );
  }
}

async function placesOf(options: StartOptions): Promise<Place[]> {
  const { members: count, ports, portFrom = PORT, host = '127.0.0.1', publicAddresses } = options;
  const hosts = typeof host === 'string' ? Array.from({ length: count }, () => host) : host;
  const chosen = ports ?? (await freePorts(at(hosts, 0), count, portFrom));
  const listen = hosts.map((name, index) => ({ host: name, port: at(chosen, index) }));
  await requireFree(listen);
  const members = listen.map(({ host: name, port }, index) => publicAddresses?.[index] ?? `${name}:${port}`);
  return listen.map((place, index) => ({ ...place, publicAddress: publicAddresses?.[index], members }));
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`there is no member ${index}`);
  return item;
}

/** The last lines of a log. */
function tailOf(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, LOG_TAIL_BYTES));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8').trim().split('\n').slice(-LOG_TAIL_LINES).join('\n');
  } catch {
    return '(it has none)';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
