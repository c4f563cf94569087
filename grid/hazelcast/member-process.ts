import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { JAVA } from './launcher-java.ts';
import { LauncherError } from './launcher-error.ts';
import { memberArguments, type MemberSettings } from './member-arguments.ts';

/**
 * Runs the member and watches its starter: standard input of this shell is a pipe that only the starter holds. When the
 * starter dies, however it does, the pipe ends and the whole process group goes with it, unless the word came that the member
 * is to live on. The group is the shell's own, so no stranger can be meant.
 */
const SHELL = `
exec 4<&0 </dev/null
${JAVA} "$@" 3>&- 4<&- &
member=$!
echo "$member" >&3
exec 3>&-
{ read -r word <&4; [ "$word" = release ] || kill -KILL 0; } &
exec 4<&-
wait "$member"
code=$?
trap '' TERM
kill -TERM 0
exit "$code"
`;
const TERM_MS = 15_000;
const KILL_MS = 10_000;
const PID_MS = 10_000;

export interface SpawnOptions extends MemberSettings {
  readonly logFile: string;
}

/** One member as a process of its own, in a process group of its own: a Ctrl-C in the terminal doesn't reach it. */
export class MemberProcess {
  readonly pid: number;
  /** In the member's command line and in no other's: how it is known again. */
  readonly token: string;
  readonly #shell: ChildProcess;
  readonly #exited: Promise<void>;
  #isRunning = true;
  #wasKilled = false;
  #exitCode: number | undefined = undefined;

  private constructor(
    shell: ChildProcess,
    exited: Promise<void>,
    member: { readonly pid: number; readonly token: string },
  ) {
    this.pid = member.pid;
    this.token = member.token;
    this.#shell = shell;
    this.#exited = exited.then(() => {
      this.#isRunning = false;
      this.#exitCode = shell.exitCode ?? undefined;
    });
  }

  /** Resolves when the process is there; it joins later. */
  static async spawn(options: SpawnOptions): Promise<MemberProcess> {
    const token = randomUUID();
    const log = openLog(options.logFile);
    const shell = spawn('sh', ['-c', SHELL, 'grid-member', ...memberArguments({ ...options, token })], {
      stdio: ['pipe', log, log, 'pipe'],
      detached: true,
    });
    closeSync(log);
    // A shell that ended leaves a broken pipe behind; its end is told by `exit`.
    shell.stdin?.on('error', () => undefined);
    const exited = new Promise<void>((resolve) => {
      shell.once('exit', () => resolve());
      shell.once('error', () => resolve());
    });
    const pid = await pidFrom(shell.stdio[3] as Readable);
    if (pid === undefined) {
      throw new LauncherError(
        'member_ended',
        'A member could not be started: the system has no sh, or no process left.',
      );
    }
    return new MemberProcess(shell, exited, { pid, token });
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Of the Java process; undefined while it runs, or when it was killed with its starter's shell. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** True when SIGKILL was sent from here. */
  get wasKilled(): boolean {
    return this.#wasKilled;
  }

  /** Resolves when the process is gone. */
  get exited(): Promise<void> {
    return this.#exited;
  }

  /** Sends a signal to the member; false when it is gone. */
  signal(signal: NodeJS.Signals): boolean {
    if (signal === 'SIGKILL') this.#wasKilled = true;
    return this.#isRunning && process.kill(this.pid, signal);
  }

  /** SIGTERM, on which a member hands its partitions over, then SIGKILL when `limitMs` passed. */
  async stop(limitMs = TERM_MS): Promise<void> {
    if (limitMs > 0 && this.signal('SIGTERM') && (await within(this.#exited, limitMs))) return;
    await this.kill();
  }

  /** SIGKILL; resolves when the member is gone and its port is free. */
  async kill(): Promise<void> {
    if (!this.signal('SIGKILL') || (await within(this.#exited, KILL_MS))) return;
    // The system takes its time; the shell is of no use any more.
    if (this.#shell.pid !== undefined) process.kill(-this.#shell.pid, 'SIGKILL');
  }

  /** Lets the member outlive this process. */
  async release(): Promise<void> {
    const { stdin } = this.#shell;
    await new Promise<void>((resolve) => (stdin === null ? resolve() : stdin.end('release\n', () => resolve())));
    this.#shell.unref();
  }
}

/** True when it resolved in time. */
async function within(promise: Promise<void>, limitMs: number): Promise<boolean> {
  const limit = new AbortController();
  const passed = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), limitMs);
    limit.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
  try {
    return await Promise.race([promise.then(() => true), passed]);
  } finally {
    limit.abort();
  }
}

async function pidFrom(stream: Readable): Promise<number | undefined> {
  let text = '';
  stream.on('data', (part: Buffer) => (text += part.toString()));
  await once(stream, 'close', { signal: AbortSignal.timeout(PID_MS) }).catch(() => undefined);
  const pid = Number(text.trim());
  return Number.isInteger(pid) && pid > 1 ? pid : undefined;
}

/** A fresh log; the one before is kept, and no more. */
function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  try {
    renameSync(path, `${path}.1`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return openSync(path, 'a');
}
