import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addState, gridDir, isAlive, readState, removeState, type GridState } from './launcher-state.ts';
import { localGridStatus, stopLocalGrid } from './local-grid.ts';

const TOKEN = 'c0ffee';

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'reprise-state-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

function stateOf(pid: number, token = TOKEN): GridState {
  const member = { pid, token, address: '127.0.0.1:1', logFile: 'member.log' };
  return { version: 1, clusterName: 'reprise', membersExpected: 1, heapMb: 256, members: [member] };
}

describe('the state of a local grid', () => {
  it('is read as it was written, and written once', async () => {
    expect(await readState(dataDir)).toBeUndefined();
    expect(await addState(dataDir, stateOf(4_711))).toBe(true);
    expect(await addState(dataDir, stateOf(4_712))).toBe(false);
    expect(await readState(dataDir)).toEqual(stateOf(4_711));
    expect(await readdir(gridDir(dataDir))).toEqual(['members.json']);
    await removeState(dataDir);
    expect(await readState(dataDir)).toBeUndefined();
  });

  it.each(['', 'not json', '{"version":2,"members":[]}', '{"version":1,"members":[{"pid":1}]}', '[]'])(
    'is none when the file holds %j',
    async (text) => {
      await mkdir(gridDir(dataDir), { recursive: true });
      await writeFile(join(gridDir(dataDir), 'members.json'), text);
      expect(await readState(dataDir)).toBeUndefined();
      expect(await stopLocalGrid(dataDir)).toEqual({ members: 0, killed: 0 });
    },
  );

  it('never ends a stranger that has the number of a member that is gone', async () => {
    const stranger = spawn('sleep', ['60']);
    try {
      await once(stranger, 'spawn');
      const pid = stranger.pid ?? 0;
      await addState(dataDir, stateOf(pid));
      expect(await localGridStatus(dataDir)).toMatchObject({ isWhole: false, members: [{ condition: 'ended' }] });
      expect(await stopLocalGrid(dataDir)).toEqual({ members: 0, killed: 0 });
      expect(stranger.exitCode).toBeNull();
      expect(process.kill(pid, 0)).toBe(true);
      expect(await readState(dataDir)).toBeUndefined();
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  it('knows a member by its token, the whole of it', async () => {
    const member = spawn('sh', ['-c', 'read x', 'sh', `-Dreprise.member=${TOKEN}`]);
    try {
      await once(member, 'spawn');
      const pid = member.pid ?? 0;
      await expect.poll(() => isAlive({ pid, token: TOKEN })).toBe(true);
      expect(await isAlive({ pid, token: TOKEN.slice(0, -1) })).toBe(false);
      expect(await isAlive({ pid: process.pid, token: TOKEN })).toBe(false);
    } finally {
      member.kill('SIGKILL');
    }
  });

  it('has a member that ignores SIGTERM killed', { timeout: 40_000 }, async () => {
    const member = spawn('sh', ['-c', "trap '' TERM; while :; do sleep 1; done", 'sh', `-Dreprise.member=${TOKEN}`]);
    try {
      await once(member, 'spawn');
      await addState(dataDir, stateOf(member.pid ?? 0));
      await expect.poll(() => isAlive({ pid: member.pid ?? 0, token: TOKEN })).toBe(true);
      expect(await stopLocalGrid(dataDir, { termMs: 300 })).toEqual({ members: 1, killed: 1 });
      expect(member.signalCode).toBe('SIGKILL');
    } finally {
      member.kill('SIGKILL');
    }
  });
});
