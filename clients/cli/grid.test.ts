import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { stopLocalGrid } from '../../grid/hazelcast/local-grid.ts';
import { lendJar, unavailable } from '../../grid/hazelcast/testing/cluster.ts';
import { EXIT } from './exit.ts';
import { runCaptured } from './testing/captured-terminal.ts';

interface GridDocument {
  readonly running: boolean;
  readonly whole: boolean;
  readonly environment: Readonly<Record<string, string>>;
  readonly members: readonly { readonly address: string; readonly pid: number; readonly condition: string }[];
}

let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'reprise-cli-grid-'));
  vi.stubEnv('REPRISE_DATA_DIR', dataDir);
});
afterAll(async () => {
  await stopLocalGrid(dataDir);
  vi.unstubAllEnvs();
  await rm(dataDir, { recursive: true, force: true });
});

describe('reprise grid', () => {
  it.each([
    [['start', '--members', '0'], '--members'],
    [['start', '--members', 'three'], '--members'],
    [['start', '--heap', '64'], '--heap'],
    [['start', '--port', '70000'], '--port'],
    [['start', '--port', '65535', '--members', '3'], '--port'],
    [['start', '--cluster', 'a b'], '--cluster'],
    [['start', '--no-such-option'], '--no-such-option'],
  ])('refuses %j', async (args, named) => {
    const { code, out, err } = await runCaptured(['grid', ...args]);
    expect([code, out]).toEqual([EXIT.usage, '']);
    expect(err).toContain(named);
  });

  it('has nothing to tell and nothing to stop where nothing was started', async () => {
    const status = await runCaptured(['grid', 'status', '--json']);
    expect(status.code).toBe(EXIT.unreachable);
    expect(status.json()).toEqual({ running: false, members: [] });
    const stop = await runCaptured(['grid', 'stop']);
    expect([stop.code, stop.out]).toEqual([EXIT.done, 'No members ran.\n']);
  });
});

describe.skipIf(unavailable() !== undefined)('reprise grid with members', { timeout: 120_000 }, () => {
  beforeAll(() => lendJar(dataDir), 120_000);

  it('says in its own code why it can not start', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const run = await runCaptured(['grid', 'start', '--members', '2', '--port', String(port), '--json']);
    expect(run.code).toBe(EXIT.failed);
    expect(run.json()).toMatchObject({ error: { code: 'ports_taken' } });
    expect(run.err).toContain('Take 1 or 3');
    taken.close();
  });

  it('starts, finds, and stops a member that outlives its starter', async () => {
    const start = await runCaptured(['grid', 'start', '--heap', '256', '--cluster', 'cli-test', '--json']);
    expect(start.err).toContain('sees 1 of 1');
    expect(start.code).toBe(EXIT.done);
    const { environment, members } = start.json<GridDocument>();
    const [member] = members;
    expect(environment).toEqual({
      REPRISE_GRID_MEMBERS: member?.address,
      REPRISE_GRID_CLUSTER: 'cli-test',
      REPRISE_GRID_MEMBERS_EXPECTED: '1',
    });

    const again = await runCaptured(['grid', 'start']);
    expect(again.code).toBe(EXIT.done);
    expect(again.err).toContain('run already');
    expect(again.out).toContain(member?.address);
    const other = await runCaptured(['grid', 'start', '--members', '3', '--json']);
    expect(other.code).toBe(EXIT.failed);
    expect(other.json<GridDocument>().members).toHaveLength(1);

    const status = await runCaptured(['grid', 'status', '--json']);
    expect(status.code).toBe(EXIT.done);
    expect(status.json<GridDocument>()).toMatchObject({
      whole: true,
      members: [{ condition: 'joined', pid: member?.pid }],
    });

    process.kill(member?.pid ?? 0, 'SIGSTOP');
    const silent = await runCaptured(['grid', 'status']);
    expect(silent.code).toBe(EXIT.unreachable);
    expect(silent.out).toContain('does not answer');
    process.kill(member?.pid ?? 0, 'SIGCONT');

    const stop = await runCaptured(['grid', 'stop']);
    expect([stop.code, stop.out]).toEqual([EXIT.done, '1 member stopped.\n']);
    expect(await livingMembers()).toEqual([]);
    expect((await runCaptured(['grid', 'status'])).code).toBe(EXIT.unreachable);
  });

  it('leaves no process behind when Ctrl-C comes during the start', async () => {
    const main = fileURLToPath(new URL('main.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', main, 'grid', 'start', '--members', '3', '--json'], {
      env: { ...process.env, REPRISE_DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let err = '';
    let out = '';
    let isInterrupted = false;
    child.stdout.on('data', (part: Buffer) => (out += part.toString()));
    child.stderr.on('data', (part: Buffer) => {
      err += part.toString();
      if (err.includes('starting') && !isInterrupted) {
        isInterrupted = true;
        setTimeout(() => child.kill('SIGINT'), 500);
      }
    });
    const [code] = (await once(child, 'close')) as [number];
    expect([code, JSON.parse(out)]).toMatchObject([EXIT.failed, { error: { code: 'cancelled' } }]);
    expect(err).toContain('no member was left');
    expect(await readdir(join(dataDir, 'grid'))).not.toContain('members.json');
    expect(await livingMembers()).toEqual([]);
  });
});

/** Command lines of members that were started from the data folder. */
async function livingMembers(): Promise<string[]> {
  const listed = spawn('ps', ['-eww', '-o', 'args=']);
  let text = '';
  listed.stdout.on('data', (part: Buffer) => (text += part.toString()));
  await once(listed, 'close');
  return text.split('\n').filter((line) => line.includes('-Dreprise.member=') && line.includes(dataDir));
}
