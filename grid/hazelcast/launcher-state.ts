import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A member that was started, as another process can find it again. */
export interface MemberRecord {
  readonly pid: number;
  /** In its command line and in no other's. */
  readonly token: string;
  /** `host:port` that it listens on. */
  readonly address: string;
  readonly logFile: string;
}

/** Members that were started together and live on. */
export interface GridState {
  readonly version: 1;
  readonly clusterName: string;
  readonly membersExpected: number;
  readonly heapMb: number;
  readonly members: readonly MemberRecord[];
}

const PS_MS = 5_000;

/** Folder of all that the launcher keeps. */
export function gridDir(dataDir: string): string {
  return join(dataDir, 'grid');
}

/** What was started from this data folder; undefined when nothing was, or what is written there can't be read. */
export async function readState(dataDir: string): Promise<GridState | undefined> {
  try {
    const state = JSON.parse(await readFile(statePath(dataDir), 'utf8')) as Partial<GridState>;
    if (state.version !== 1 || !Array.isArray(state.members) || !state.members.every(isRecord)) return undefined;
    return state as GridState;
  } catch {
    return undefined;
  }
}

/** Writes it down, whole or not at all; false when another start did so meanwhile. */
export async function addState(dataDir: string, state: GridState): Promise<boolean> {
  await mkdir(gridDir(dataDir), { recursive: true });
  const path = statePath(dataDir);
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${JSON.stringify(state, undefined, 2)}\n`);
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

export async function removeState(dataDir: string): Promise<void> {
  await rm(statePath(dataDir), { force: true });
}

/**
 * True while the recorded process runs. Pids are used again: only a process whose command line has the member's token is the
 * member, and nothing else is ever sent a signal.
 */
export async function isAlive({ pid, token }: Pick<MemberRecord, 'pid' | 'token'>): Promise<boolean> {
  const line = await commandLine(pid);
  return line.split(/\s/).includes(`-Dreprise.member=${token}`);
}

function statePath(dataDir: string): string {
  return join(gridDir(dataDir), 'members.json');
}

function isRecord(value: unknown): value is MemberRecord {
  const { pid, token, address, logFile } = (value ?? {}) as Partial<Record<keyof MemberRecord, unknown>>;
  const isPid = Number.isInteger(pid) && (pid as number) > 1;
  return (
    isPid && typeof token === 'string' && token.length > 0 && typeof address === 'string' && typeof logFile === 'string'
  );
}

/** Arguments of a process, with spaces between them; empty when there is none. */
async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  }
  const listed = promisify(execFile)('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { timeout: PS_MS });
  return listed.then(({ stdout }) => stdout).catch(() => '');
}
