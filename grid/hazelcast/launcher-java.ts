import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { LauncherError } from './launcher-error.ts';
import { memberFiles } from './member-files.ts';

/** Java of JAVA_HOME where that is set, else of the path: the shell knows both. */
export const JAVA = '"${JAVA_HOME:+$JAVA_HOME/bin/}java"';

const JAVA_MIN = 17;
const JAVA_CHECK_MS = 20_000;
const FETCH_MS = 10 * 60_000;
const TAIL_LINES = 20;

export interface FetchOptions {
  /** Folder of the jar. */
  readonly libDir: string;
  readonly onProgress: (text: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Fails with `java_missing` or `java_too_old` unless members can run here. */
export async function checkJava(): Promise<void> {
  const { code, lines } = await run(['sh', '-c', `${JAVA} -version`], { limitMs: JAVA_CHECK_MS });
  const howTo = `Install a Java ${JAVA_MIN} runtime or newer (a JRE will do) and put it on the PATH, or set JAVA_HOME.`;
  if (code !== 0) {
    throw new LauncherError(
      'java_missing',
      `Members of the grid run on Java, and none was found. ${howTo} Without it: REPRISE_GRID=memory keeps the cache in the node itself.`,
    );
  }
  const found = javaVersion(lines.join('\n'));
  if (found === undefined || found < JAVA_MIN) {
    const what =
      found === undefined ? `this one tells no version (${lines[0] ?? 'no output'})` : `this is Java ${found}`;
    throw new LauncherError(
      'java_too_old',
      `Members of the grid need Java ${JAVA_MIN} or newer, and ${what}. ${howTo}`,
    );
  }
}

/** The major version that `java -version` tells: 8 of "1.8.0_292", 17 of "17.0.15". */
export function javaVersion(text: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(text);
  return match === null ? undefined : Number(match[1]);
}

/** Path of the members' jar in a folder, there or not. */
export function jarPath(libDir: string): string {
  return resolve(libDir, `hazelcast-${memberFiles().version}.jar`);
}

/** The members' jar; Maven fetches it when it isn't there. Errors: `maven_missing`, `fetch_failed`. */
export async function memberJar({ libDir, onProgress, signal }: FetchOptions): Promise<string> {
  const jar = jarPath(libDir);
  if (existsSync(jar)) return jar;
  const { pom, version } = memberFiles();
  const maven = await run(['mvn', '-version'], { limitMs: JAVA_CHECK_MS, signal });
  if (maven.code !== 0) {
    throw new LauncherError(
      'maven_missing',
      `Maven fetches the members' jar, and mvn was not found. Install Maven, or put hazelcast-${version}.jar into ${resolve(libDir)} yourself.`,
    );
  }
  onProgress(`fetching Hazelcast ${version} with Maven (20 MB, once) …`);
  await mkdir(libDir, { recursive: true });
  // Into a folder of its own, then renamed: what was broken off is never taken for a jar.
  const landing = await mkdtemp(join(libDir, 'fetch-'));
  try {
    const fetched = await run(
      [
        'mvn',
        '-B',
        '-f',
        pom,
        'dependency:copy-dependencies',
        `-DoutputDirectory=${resolve(landing)}`,
        '-DincludeScope=runtime',
      ],
      {
        limitMs: FETCH_MS,
        signal,
        onLine: (line) => {
          const file = /Downloading from [^:]+: .*\/([^/\s]+\.jar)/.exec(line)?.[1];
          if (file !== undefined) onProgress(`downloading ${file} …`);
        },
      },
    );
    const landed = join(landing, `hazelcast-${version}.jar`);
    if (fetched.code !== 0 || !existsSync(landed)) {
      const tail = fetched.lines.filter((line) => /ERROR|BUILD/.test(line)).slice(0, TAIL_LINES);
      throw new LauncherError(
        'fetch_failed',
        `Maven could not fetch Hazelcast ${version}; without a network, put hazelcast-${version}.jar into ${resolve(libDir)} yourself. Maven said:\n${tail.join('\n')}`,
      );
    }
    await rename(landed, jar);
    onProgress(`Hazelcast ${version} is in ${resolve(libDir)}`);
    return jar;
  } finally {
    await rm(landing, { recursive: true, force: true });
  }
}

interface RunOptions {
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onLine?: (line: string) => void;
}

const LINES_MAX = 2_000;

/** Runs a program and gives what it said; a program that isn't there ends with 127, one that takes too long is ended. */
async function run(
  [program = '', ...args]: readonly string[],
  { limitMs, signal, onLine }: RunOptions,
): Promise<{ readonly code: number; readonly lines: readonly string[] }> {
  const limit = AbortSignal.timeout(limitMs);
  const ends = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  const lines: string[] = [];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], signal: ends });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (lines.length < LINES_MAX) lines.push(line);
      onLine?.(line);
    });
  }
  const code = await new Promise<number>((done) => {
    child.once('error', () => done(127));
    child.once('close', (exitCode) => done(exitCode ?? 1));
  });
  signal?.throwIfAborted();
  return { code, lines };
}
