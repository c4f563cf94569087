import { execFile } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import { access, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { isAtLeast, type PackageInfo } from '../package-info.ts';
import type { Finding } from './finding.ts';

const TOOL_TIMEOUT_MS = 20_000;

/** Whether this Node.js will do. */
export function nodeFinding({ nodeMin }: PackageInfo, version: string = process.versions.node): Finding {
  const name = 'Node.js';
  if (isAtLeast(version.split('.').map(Number), nodeMin)) return { name, state: 'ok', detail: version };
  const advice = `Install ${nodeMin.join('.')} or newer from https://nodejs.org.`;
  return { name, state: 'fail', detail: `${version} is too old`, advice };
}

/** Whether the node can keep its files. */
export async function dataDirFinding(dataDir: string): Promise<Finding> {
  const name = 'data folder';
  const advice = 'Make it writable, or set REPRISE_DATA_DIR to another folder.';
  let there = dataDir;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  try {
    if (there !== dataDir) {
      await access(there, constants.W_OK);
      return { name, state: 'ok', detail: `${dataDir} will be made` };
    }
    const probe = join(dataDir, `.doctor-${process.pid}`);
    await writeFile(probe, '');
    await rm(probe);
    return { name, state: 'ok', detail: `${dataDir} is writable` };
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return { name, state: 'fail', detail: `${dataDir} can't be written (${code})`, advice };
  }
}

/** Java and Maven, which Reprise can use and doesn't need. */
export async function toolFindings(): Promise<Finding[]> {
  return await Promise.all([
    toolFinding('Java', 'java', '-version', 'not installed; nothing here needs it'),
    toolFinding('Maven', 'mvn', '-v', 'not installed; the embedding model then comes by HTTP'),
  ]);
}

async function toolFinding(name: string, command: string, argument: string, missing: string): Promise<Finding> {
  const line = await firstLine(command, argument);
  return { name, state: 'info', detail: line ?? missing };
}

/** First line of a tool's output; undefined when it isn't there or fails. */
function firstLine(command: string, argument: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { timeout: TOOL_TIMEOUT_MS, shell: process.platform === 'win32' };
    execFile(command, [argument], options, (error, stdout, stderr) => {
      const line = `${stdout}${stderr}`
        .split('\n')
        .map((text) => stripVTControlCharacters(text).trim())
        .find((text) => text !== '');
      resolve(error === null ? line : undefined);
    });
  });
}

/** Where the tests' data is; an installed package has no tests. */
export function testDataFinding({ root }: PackageInfo, named: string | undefined): Finding[] {
  if (!existsSync(join(root, 'tsconfig.json'))) return [];
  const name = 'test data';
  const folder = named ?? join(root, '..', 'shared', 'data');
  if (existsSync(folder)) return [{ name, state: 'info', detail: folder }];
  if (named !== undefined) {
    const advice = 'Correct REPRISE_TEST_DATA.';
    return [{ name, state: 'warn', detail: `${named} doesn't exist`, advice }];
  }
  return [{ name, state: 'info', detail: 'not there; the tests leave out runs on real questions' }];
}
