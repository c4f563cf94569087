import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startMembers, type StartOptions } from './launcher.ts';
import { checkJava, javaVersion, memberJar } from './launcher-java.ts';
import { freePorts } from './launcher-ports.ts';
import { isAlive } from './launcher-state.ts';
import { lendJar, unavailable } from './testing/cluster.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reprise-launcher-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(() => void vi.unstubAllEnvs());

/** A program of this name that does what the script says, alone in a folder of its own. */
async function fakeProgram(name: string, script: string): Promise<string> {
  const bin = await mkdtemp(join(folder, 'bin-'));
  await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, name), 0o755);
  return bin;
}

describe('Java', () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15', 17],
    ['java version "1.8.0_292"', 8],
    ['openjdk version "21" 2023-09-19', 21],
    ['something else', undefined],
  ])('reads %j', (text, version) => expect(javaVersion(text)).toBe(version));

  it('that is missing is told with what to do', async () => {
    vi.stubEnv('JAVA_HOME', join(folder, 'nowhere'));
    await expect(checkJava()).rejects.toMatchObject({
      reason: 'java_missing',
      code: 'config_invalid',
      message: expect.stringContaining('JAVA_HOME'),
    });
  });

  it('that is too old is told with its version', async () => {
    const bin = await fakeProgram('java', 'echo \'openjdk version "11.0.2" 2019-01-15\' >&2');
    await mkdir(join(bin, 'home'));
    const home = await mkdtemp(join(folder, 'home-'));
    await mkdir(join(home, 'bin'));
    await writeFile(join(home, 'bin', 'java'), await readFile(join(bin, 'java')));
    await chmod(join(home, 'bin', 'java'), 0o755);
    vi.stubEnv('JAVA_HOME', home);
    await expect(checkJava()).rejects.toMatchObject({
      reason: 'java_too_old',
      message: expect.stringContaining('this is Java 11'),
    });
  });
});

describe("the members' jar", () => {
  const fetchTo = async (script: string): Promise<{ jar: Promise<string>; libDir: string; told: string[] }> => {
    const bin = await fakeProgram('mvn', script);
    vi.stubEnv('PATH', `${bin}:/bin:/usr/bin`);
    const libDir = await mkdtemp(join(folder, 'lib-'));
    const told: string[] = [];
    return { jar: memberJar({ libDir, onProgress: (text) => told.push(text) }), libDir, told };
  };
  const COPY = 'for a; do case "$a" in -DoutputDirectory=*) out=${a#*=};; esac; done';

  it('is fetched once, with progress, and found from then on', async () => {
    const { jar, libDir, told } = await fetchTo(
      `[ "$1" = -version ] && exit 0\n${COPY}\necho "[INFO] Downloading from central: somewhere/hazelcast-5.7.0.jar"\necho jar > "$out/hazelcast-5.7.0.jar"`,
    );
    const path = await jar;
    expect(await readFile(path, 'utf8')).toBe('jar\n');
    expect(told.join('\n')).toMatch(/fetching Hazelcast[^]*downloading hazelcast-5\.7\.0\.jar/);
    vi.stubEnv('PATH', '/nowhere');
    expect(await memberJar({ libDir, onProgress: () => undefined })).toBe(path);
  });

  it('that could not be fetched leaves nothing behind, and Maven is quoted', async () => {
    const { jar, libDir } = await fetchTo(
      `[ "$1" = -version ] && exit 0\n${COPY}\necho half > "$out/hazelcast-5.7.0.jar"\necho "[ERROR] no network"\nexit 1`,
    );
    await expect(jar).rejects.toMatchObject({
      reason: 'fetch_failed',
      message: expect.stringContaining('[ERROR] no network'),
    });
    await expect(readFile(join(libDir, 'hazelcast-5.7.0.jar'))).rejects.toThrow('ENOENT');
  });

  it('needs Maven only where it is missing', async () => {
    const { jar } = await fetchTo('exit 127');
    await expect(jar).rejects.toMatchObject({ reason: 'maven_missing', message: expect.stringContaining('mvn') });
  });
});

describe('ports', () => {
  it('are the first free ones', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const found = await freePorts('127.0.0.1', 2, port);
    expect(found).toHaveLength(2);
    expect(found[0]).toBeGreaterThan(port);
    taken.close();
  });
});

describe.skipIf(unavailable() !== undefined)('startMembers', () => {
  let options: StartOptions;

  beforeAll(async () => {
    const dataDir = join(folder, 'data');
    await lendJar(dataDir);
    options = { members: 1, dataDir, heapMb: 256, clusterName: 'launcher-test', portFrom: 15_900 };
  }, 120_000);

  it('names the taken port before it starts anything', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await expect(startMembers({ ...options, ports: [port] })).rejects.toMatchObject({
      reason: 'ports_taken',
      code: 'address_in_use',
      message: expect.stringContaining(String(port)),
    });
    taken.close();
  });

  it('shows the end of the log of a member that ends at once', async () => {
    const failure = startMembers({ ...options, javaOptions: () => ['-XX:NoSuchOption=1'] });
    await expect(failure).rejects.toMatchObject({
      reason: 'member_ended',
      message: expect.stringMatching(/member 1 .* ended with exit code 1\.[^]*NoSuchOption/),
    });
  });

  it('leaves no process behind when it is interrupted', async () => {
    const stop = new AbortController();
    const starting = startMembers({
      ...options,
      members: 2,
      dataDir: options.dataDir,
      signal: stop.signal,
      onProgress: (text) => {
        if (text.startsWith('starting')) setTimeout(() => stop.abort(new Error('interrupted')), 300);
      },
    });
    await expect(starting).rejects.toThrow('interrupted');
    expect(await livingMembers(options.dataDir)).toEqual([]);
  });

  it(
    'accepts every line of hazelcast.yaml, and the member ends with a parent that is killed',
    { timeout: 90_000 },
    async () => {
      const script = join(folder, 'parent.ts');
      const launcher = fileURLToPath(new URL('launcher.ts', import.meta.url));
      const strict = ['-XX:TieredStopAtLevel=1', '-Dhazelcast.config.schema.validation.enabled=true'];
      await writeFile(
        script,
        `import { startMembers } from ${JSON.stringify(launcher)};
      const { members } = await startMembers({ ...${JSON.stringify(options)}, javaOptions: () => ${JSON.stringify(strict)} });
      const { pid, token } = members[0].process;
      console.log(JSON.stringify({ pid, token }));`,
      );
      const parent = spawn(process.execPath, ['--import', 'tsx', script], { stdio: ['ignore', 'pipe', 'inherit'] });
      try {
        const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
        const member = JSON.parse(line) as { readonly pid: number; readonly token: string };
        expect(await isAlive(member)).toBe(true);
        const log = await readFile(join(options.dataDir, 'grid', 'logs', 'member-1.log'), 'utf8');
        expect(log).toContain('is STARTED');
        // The client that asked whether it had joined may have left by a reset.
        const complaints = (log.match(/WARNING.*|SEVERE.*|.*Exception.*/g) ?? []).filter(
          (line) => !/connectionType=NJS|Connection reset/.test(line),
        );
        expect(complaints).toEqual([]);
        parent.kill('SIGKILL');
        await expect.poll(() => isAlive(member), { timeout: 5_000 }).toBe(false);
      } finally {
        parent.kill('SIGKILL');
      }
    },
  );
});

/** Pids of members whose command line names this folder. */
async function livingMembers(dataDir: string): Promise<string[]> {
  const listed = spawn('sh', ['-c', 'for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline 2>/dev/null; echo; done']);
  let text = '';
  listed.stdout.on('data', (part: Buffer) => (text += part.toString()));
  await once(listed, 'close');
  return text.split('\n').filter((line) => line.includes('-Dreprise.member=') && line.includes(dataDir));
}
