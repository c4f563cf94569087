import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { differences } from './lib/proto.mjs';
import { areDependenciesInstalled, newsOnly, nodeProblem, ROOT, sourceState } from './lib/setup.mjs';
import { countTests, summaryLine } from './lib/test-summary.mjs';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'reprise-setup-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, content: unknown): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
}

describe('the version of Node', () => {
  it.each(['20.20.0', '20.21.3', '22.0.0', '24.1.0'])('%s will do', (version) => {
    expect(nodeProblem(version)).toBeUndefined();
  });

  it.each(['18.19.1', '20.19.9', '20.2.0'])('%s will not, and the message names both', (version) => {
    expect(nodeProblem(version)).toContain('20.20');
    expect(nodeProblem(version)).toContain(version);
  });
});

describe('progress', () => {
  it('is told when it is made, and when nothing was for half a minute', () => {
    const told: string[] = [];
    let nowMs = 0;
    const news = newsOnly(
      (line) => told.push(`${nowMs / 1_000} ${line}`),
      () => nowMs,
    );
    for (nowMs = 5_000; nowMs <= 50_000; nowMs += 5_000) news(nowMs < 15_000 ? 'a' : 'b');
    expect(told).toEqual(['5 a', '15 b', '45 b']);
  });
});

describe('the packages', () => {
  const wanted = {
    '': { name: 'reprise' },
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
    'node_modules/b': { version: '2.0.0', integrity: 'sha512-b', optional: true },
  };
  const a = { 'node_modules/a': wanted['node_modules/a'] };

  function installed(packages: unknown, folders: readonly string[] = ['a', 'b', 'c']): boolean {
    write('package-lock.json', { packages: wanted });
    for (const folder of folders) write(`node_modules/${folder}/package.json`, '{}');
    if (packages !== undefined) write('node_modules/.package-lock.json', { packages });
    return areDependenciesInstalled(root);
  }

  it('are there when npm lists what the lock file asks for', () => {
    expect(installed({ ...a, 'node_modules/b': wanted['node_modules/b'] })).toBe(true);
  });

  it('may lack optional ones, which are for other machines', () => {
    expect(installed(a)).toBe(true);
  });

  it('are not there when an installation was taken back and only the list is left', () => {
    expect(installed(a, [])).toBe(false);
  });

  it.each([
    ['nothing was installed', undefined],
    ['one is missing', {}],
    ['one has another version', { 'node_modules/a': { version: '1.0.1', integrity: 'sha512-a' } }],
    ['one has another content', { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-c' } }],
    ['there is one too many', { ...a, 'node_modules/c': { version: '1.0.0' } }],
  ])('are not there when %s', (_, packages) => {
    expect(installed(packages)).toBe(false);
  });
});

describe('the state of the sources', () => {
  beforeEach(() => {
    for (const name of ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json']) write(name, '{}');
    write('runtime/a.ts', 'export const a = 1;');
  });

  it('changes with a source, an added asset and the build options', () => {
    const states = new Set([sourceState(root).hash]);
    write('runtime/a.ts', 'export const a = 2;');
    states.add(sourceState(root).hash);
    write('proto/gen/set.binpb', 'x');
    states.add(sourceState(root).hash);
    write('tsconfig.build.json', '{"a":1}');
    states.add(sourceState(root).hash);
    expect(states.size).toBe(4);
  });

  it('does not change with tests, docs or the contract suites', () => {
    const before = sourceState(root);
    write('runtime/a.test.ts', 'x');
    write('docs/a.md', 'x');
    write('grid/conformance/contract.ts', 'x');
    expect(sourceState(root)).toEqual(before);
  });
});

describe('the count of a test run', () => {
  const file = (status: string, ...tests: string[]) => ({
    status,
    assertionResults: tests.map((state) => ({ status: state })),
  });

  it('counts tests by state', () => {
    const report = { testResults: [file('passed', 'passed', 'pending'), file('failed', 'passed', 'failed')] };
    expect(countTests(report, 1)).toEqual({ passed: 2, failed: 1, skipped: 1 });
  });

  it('counts a file that did not load as a failure', () => {
    expect(countTests({ testResults: [file('failed'), file('passed', 'passed')] }, 1)).toMatchObject({
      passed: 1,
      failed: 1,
    });
  });

  it('never reports a failed run as passed', () => {
    expect(countTests({ testResults: [file('passed', 'passed')] }, 1)).toMatchObject({ failed: 1 });
    expect(countTests(undefined, 1)).toMatchObject({ passed: 0, failed: 1 });
  });

  it('ends in one line', () => {
    expect(summaryLine({ passed: 3, failed: 0 })).toBe('3 passed, 0 failed');
  });
});

describe('generated folders', () => {
  it('differ by changed, missing and surplus files', () => {
    write('committed/same', 'x');
    write('committed/changed', 'x');
    write('committed/surplus', 'x');
    write('generated/same', 'x');
    write('generated/changed', 'y');
    write('generated/sub/missing', 'x');
    expect(differences(join(root, 'committed'), join(root, 'generated'))).toEqual([
      'changed is not as generated',
      'sub/missing is missing',
      'surplus is not generated by anything',
    ]);
  });
});

describe('commands', () => {
  const node = (...args: string[]) => spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });

  it('npm start hands on what stands after --', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    // npm appends the arguments to the end of the command line, whatever stands there.
    expect(scripts['start']).toMatch(/^exec node scripts\/start\.mjs$/);
  });

  it('npm start -- --help names the variables and sets nothing up', () => {
    const { status, stdout, stderr } = node('scripts/start.mjs', '--help');
    expect(status).toBe(0);
    expect(stdout).toContain('REPRISE_UPSTREAM_URL');
    expect(stderr).toBe('');
  });

  it('npm run verify refuses a step that it does not have', () => {
    const { status, stderr } = node('scripts/verify.mjs', '--only', 'everything');
    expect(status).toBe(2);
    expect(stderr).toContain('Steps, in order');
  });
});
