import { spawn, spawnSync, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** The cores that a bench uses; undefined where a process can't be pinned. */
export interface Cores {
  readonly server: number | undefined;
  readonly load: number | undefined;
}

const START_MS = 60_000;
const STOP_MS = 5_000;
const TICKS_PER_SECOND = 100;
const SAID_MAX = 50;
/** What the shell of the caller says to Reprise is no part of a bench. */
const INHERITED = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('REPRISE_')));

/** One core for the servers and another for the load, of those that this process may use. */
export function chooseCores(): Cores {
  const [server, load] = allowedCores();
  const canPin = spawnSync('taskset', ['--version']).status === 0;
  return canPin && load !== undefined ? { server, load } : { server: undefined, load: undefined };
}

function allowedCores(): readonly number[] {
  let list: string;
  try {
    list = /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  } catch {
    return [];
  }
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_item, index) => first + index);
  });
}

export interface ProcessPlan {
  readonly args: readonly string[];
  /** Instead of this Node.js. */
  readonly program?: string;
  readonly core: number | undefined;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Where standard output goes; a pipe unless told. */
  readonly output?: number;
}

/** Processes of one run; none outlives it. */
export class Processes {
  readonly #running = new Set<ChildProcess>();

  /** Starts a server and waits until it has said all of `ready`; gives its process id and the first group of each. */
  async serve(
    plan: ProcessPlan,
    ...ready: readonly RegExp[]
  ): Promise<{ readonly pid: number; readonly told: readonly string[] }> {
    const child = this.#spawn(plan, ['ignore', plan.output ?? 'pipe', 'pipe']);
    const told: string[] = [];
    const said: string[] = [];
    await new Promise<void>((resolve, reject) => {
      const fail = (): void => reject(new Error(`${plan.args.join(' ')} did not start:\n${said.join('\n')}`));
      const timer = setTimeout(fail, START_MS);
      child.once('exit', fail);
      const onLine = (line: string): void => {
        if (said.length < SAID_MAX) said.push(line);
        for (const [at, pattern] of ready.entries()) told[at] ??= pattern.exec(line)?.[1] as string;
        if (!ready.every((_pattern, at) => told[at] !== undefined)) return;
        clearTimeout(timer);
        child.off('exit', fail);
        resolve();
      };
      for (const stream of [child.stdout, child.stderr]) {
        if (stream !== null) createInterface({ input: stream }).on('line', onLine);
      }
    });
    return { pid: child.pid ?? 0, told };
  }

  /** Starts a program that answers each line with one line, and waits for its first. */
  async talk(plan: ProcessPlan): Promise<Dialogue> {
    const child = this.#spawn(plan, ['pipe', 'pipe', 'inherit']);
    const dialogue = new Dialogue(child);
    await dialogue.next(START_MS);
    return dialogue;
  }

  /** Runs a program to its end and gives its output. */
  async run(plan: ProcessPlan, limitMs: number): Promise<string> {
    const child = this.#spawn(plan, ['ignore', 'pipe', 'pipe']);
    const parts: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout?.on('data', (part: Buffer) => parts.push(part));
    child.stderr?.on('data', (part: Buffer) => errors.push(part));
    const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
    const [code] = (await once(child, 'close')) as [number | null];
    clearTimeout(timer);
    if (code !== 0) throw new Error(`${plan.args.join(' ')} failed:\n${Buffer.concat(errors).toString()}`);
    return Buffer.concat(parts).toString();
  }

  /** Ends what still runs. */
  async stop(): Promise<void> {
    const ended = [...this.#running].map(async (child) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      clearTimeout(timer);
    });
    await Promise.all(ended);
  }

  /** The same at once, when there is no time left. */
  kill(): void {
    for (const child of this.#running) child.kill('SIGKILL');
  }

  #spawn(plan: ProcessPlan, stdio: StdioOptions): ChildProcess {
    const { args, program = process.execPath, core, cwd } = plan;
    const command = core === undefined ? [program, ...args] : ['taskset', '-c', String(core), program, ...args];
    const [first = program, ...rest] = command;
    const child = spawn(first, rest, { stdio, cwd, env: { ...INHERITED, ...plan.env } });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    return child;
  }
}

/** A program that answers each line with one line. */
export class Dialogue {
  readonly #child: ChildProcess;
  #onLine: (line: string) => void = () => undefined;
  #onExit: () => void = () => undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', (line) => this.#onLine(line));
    child.once('exit', () => this.#onExit());
  }

  ask(line: string, limitMs: number): Promise<string> {
    this.#child.stdin?.write(`${line}\n`);
    return this.next(limitMs);
  }

  /** The next line that the program says. */
  next(limitMs: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('The load generator said nothing in time.')), limitMs);
      this.#onExit = () => {
        clearTimeout(timer);
        reject(new Error('The load generator ended.'));
      };
      this.#onLine = (line) => {
        clearTimeout(timer);
        resolve(line);
      };
    });
  }
}

/** CPU time that a process has used, all threads, user and system, microseconds; NaN where it can't be read. */
export function cpuUs(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1_000_000;
  } catch {
    return Number.NaN;
  }
}
