import { setTimeout as sleep } from 'node:timers/promises';
import { startMembers, type StartOptions } from './launcher.ts';
import { LauncherError } from './launcher-error.ts';
import { addState, isAlive, readState, removeState, type GridState, type MemberRecord } from './launcher-state.ts';
import { membersSeenBy } from './member-probe.ts';

/** What one recorded member does: `joined` sees all others, `apart` fewer, `silent` runs without an answer. */
export type MemberCondition = 'joined' | 'apart' | 'silent' | 'ended';

export interface MemberStatus extends MemberRecord {
  readonly condition: MemberCondition;
  /** Members that it sees, itself counted. */
  readonly sees: number;
}

export interface LocalGridStatus extends Omit<GridState, 'members'> {
  readonly members: readonly MemberStatus[];
  /** True when every member runs and sees all others. */
  readonly isWhole: boolean;
}

export type LocalStartOptions = Pick<
  StartOptions,
  'members' | 'ports' | 'dataDir' | 'heapMb' | 'clusterName' | 'membersExpected' | 'onProgress' | 'signal'
>;

export interface Stopped {
  /** Members that ran. */
  readonly members: number;
  /** Of them, those that had to be killed. */
  readonly killed: number;
}

const PROBE_MS = 3_000;
const TERM_MS = 20_000;
const KILL_MS = 5_000;
const POLL_MS = 50;

/**
 * Starts members on loopback that live on, and writes down which they are. One grid a data folder: `already_running` while
 * any member of an earlier start runs. Errors: `LauncherError`, or the signal's reason.
 */
export async function startLocalGrid(options: LocalStartOptions): Promise<GridState> {
  const { dataDir } = options;
  const before = await readState(dataDir);
  if (before !== undefined && (await anyAlive(before))) throw alreadyRunning();
  await removeState(dataDir);
  const running = await startMembers(options);
  const state: GridState = {
    version: 1,
    clusterName: options.clusterName,
    membersExpected: options.membersExpected ?? options.members,
    heapMb: options.heapMb,
    members: running.members.map(({ address, logFile, process: { pid, token } }) => ({ pid, token, address, logFile })),
  };
  // Another start may have been quicker: what isn't written down must not run.
  if (!(await addState(dataDir, state))) {
    await running.stop();
    throw alreadyRunning();
  }
  await running.release();
  return state;
}

/** What was started from this data folder, each member asked; undefined when nothing was. */
export async function localGridStatus(dataDir: string): Promise<LocalGridStatus | undefined> {
  const state = await readState(dataDir);
  if (state === undefined) return undefined;
  const members = await Promise.all(state.members.map((member) => statusOf(member, state)));
  return { ...state, members, isWhole: members.every(({ condition }) => condition === 'joined') };
}

/** Stops what was started from this data folder: SIGTERM, and after `termMs` SIGKILL. Resolves when all are gone. */
export async function stopLocalGrid(dataDir: string, { termMs = TERM_MS } = {}): Promise<Stopped> {
  const state = await readState(dataDir);
  if (state === undefined) return { members: 0, killed: 0 };
  const ends = await Promise.all(state.members.map((member) => stopMember(member, termMs)));
  await removeState(dataDir);
  return {
    members: ends.filter((end) => end !== 'gone').length,
    killed: ends.filter((end) => end === 'killed').length,
  };
}

async function statusOf(member: MemberRecord, { clusterName, members }: GridState): Promise<MemberStatus> {
  if (!(await isAlive(member))) return { ...member, condition: 'ended', sees: 0 };
  const seen = await membersSeenBy({ address: member.address, clusterName, limitMs: PROBE_MS });
  if (seen === undefined) return { ...member, condition: 'silent', sees: 0 };
  return { ...member, condition: seen.length >= members.length ? 'joined' : 'apart', sees: seen.length };
}

async function stopMember(member: MemberRecord, termMs: number): Promise<'gone' | 'stopped' | 'killed'> {
  if (!(await signal(member, 'SIGTERM'))) return 'gone';
  if (await isGone(member, termMs)) return 'stopped';
  await signal(member, 'SIGKILL');
  if (await isGone(member, KILL_MS)) return 'killed';
  throw new LauncherError(
    'member_ended',
    `The member at ${member.address} (pid ${member.pid}) can't be ended: end it by hand.`,
  );
}

/** Sends a signal to the member and never to another process that has its number now; false when it is gone. */
async function signal(member: MemberRecord, name: NodeJS.Signals): Promise<boolean> {
  if (!(await isAlive(member))) return false;
  try {
    return process.kill(member.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

async function isGone(member: MemberRecord, limitMs: number): Promise<boolean> {
  const untilMs = performance.now() + limitMs;
  while (performance.now() < untilMs) {
    if (!(await isAlive(member))) return true;
    await sleep(POLL_MS);
  }
  return false;
}

async function anyAlive({ members }: GridState): Promise<boolean> {
  return (await Promise.all(members.map(isAlive))).includes(true);
}

function alreadyRunning(): LauncherError {
  return new LauncherError(
    'already_running',
    'Members run already from this data folder: reprise grid status tells which, reprise grid stop ends them.',
  );
}
