import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from './lib/setup.mjs';

/** A file planted into a small tree of the shape of ours: where, and what it imports or says. */
interface Planted {
  readonly path: string;
  readonly source: string;
}

/** What each room exports, so that imports between rooms resolve. */
const STUBS = [
  'runtime/errors.ts',
  ...[
    'runtime/ports',
    'runtime/policy',
    'runtime/actor',
    'runtime/cache',
    'runtime/semantic',
    'runtime/inference',
    'runtime/node',
    'runtime/models',
    'runtime/config',
    'runtime/server',
    'runtime/host',
    'grid/near-cache',
    'grid/memory',
    'grid/breaker',
    'grid/conformance',
    'proto/gen',
    'clients/node',
    'clients/gateway',
    'clients/cli',
    'simulation/kernel',
    'simulation/world',
    'simulation/bin',
  ].map((room) => `${room}/stub.ts`),
];

/** An import of a module of the tree, of a package, or of a Node built-in. */
function imports(from: string, target: string, number: number, test = ''): Planted {
  const path = `${from}/planted-${number}${test}.ts`;
  const isOurs = /^(runtime|grid|clients|simulation|proto|bench|scripts)(\/|$)/.test(target);
  const file = target.endsWith('.ts') ? target : `${target}/stub.ts`;
  const specifier = isOurs ? relative(dirname(path), file) : target;
  return {
    path,
    source: `import * as target from '${specifier.startsWith('.') || !isOurs ? specifier : `./${specifier}`}';\nexport { target };\n`,
  };
}

const FORBIDDEN_IMPORTS: readonly (readonly [from: string, target: string])[] = [
  ['runtime/cache', 'node:fs'],
  ['runtime/cache', 'fs'],
  ['runtime/cache', 'zod'],
  ['runtime/actor', 'node:timers/promises'],
  ['runtime/semantic', '@huggingface/tokenizers'],
  ['runtime/node', 'node:crypto'],
  ['runtime/inference', 'undici'],
  ['grid/near-cache', 'node:crypto'],
  ['grid/memory', 'node:timers'],
  ['simulation/kernel', 'node:crypto'],
  ['runtime/ports', 'runtime/cache'],
  ['runtime/policy', 'runtime/cache'],
  ['runtime/actor', 'runtime/cache'],
  ['runtime/cache', 'runtime/semantic'],
  ['runtime/cache', 'grid/memory'],
  ['runtime/semantic', 'runtime/inference'],
  ['runtime/inference', 'runtime/node'],
  ['runtime/node', 'grid/memory'],
  ['runtime/node', 'runtime/host'],
  ['runtime/models', 'runtime/cache'],
  ['runtime/config', 'runtime/server'],
  ['runtime/server', 'runtime/host'],
  ['runtime/server', 'grid/memory'],
  ['grid/near-cache', 'runtime/cache'],
  ['grid/memory', 'grid/breaker'],
  ['clients/node', 'runtime/errors.ts'],
  ['clients/gateway', 'runtime/server'],
  ['proto/gen', 'runtime/errors.ts'],
  ['simulation/kernel', 'runtime/cache'],
  ['simulation/world', 'runtime/node'],
  ['scripts', 'runtime/cache'],
  ['runtime/unlisted', 'runtime/ports'],
  ['runtime/models', 'zod'],
  ['runtime/server', 'pino'],
  ['runtime/server', 'prom-client'],
  ['runtime/server', 'onnxruntime-node'],
  ['runtime/host', 'fastify'],
  ['runtime/host', 'commander'],
  ['runtime/host', 'picocolors'],
  ['runtime/host', 'not-installed-anywhere'],
];

const ALLOWED_IMPORTS: readonly (readonly [from: string, target: string])[] = [
  ['runtime/ports', 'runtime/errors.ts'],
  ['runtime/cache', 'runtime/ports'],
  ['runtime/cache', 'runtime/actor'],
  ['runtime/cache', 'runtime/policy'],
  ['runtime/semantic', 'runtime/cache'],
  ['runtime/semantic', 'fastest-levenshtein'],
  ['runtime/inference', 'runtime/semantic'],
  ['runtime/node', 'runtime/inference'],
  ['runtime/node', 'grid/near-cache'],
  ['runtime/node', 'grid/breaker'],
  ['runtime/models', 'undici'],
  ['runtime/models', 'runtime/config'],
  ['runtime/config', 'zod'],
  ['runtime/config', 'node:fs'],
  ['runtime/config', 'runtime/node'],
  ['runtime/server', 'fastify'],
  ['runtime/server', '@grpc/grpc-js'],
  ['runtime/server', 'clients/gateway'],
  ['runtime/server', 'proto/gen'],
  ['runtime/host', 'runtime/node'],
  ['runtime/host', 'grid/memory'],
  ['runtime/host', 'pino'],
  ['runtime/host', 'prom-client'],
  ['runtime/host', 'piscina'],
  ['runtime/host', 'onnxruntime-node'],
  ['grid/near-cache', 'runtime/policy'],
  ['grid/memory', 'runtime/ports'],
  ['clients/node', 'proto/gen'],
  ['clients/node', '@grpc/grpc-js'],
  ['clients/gateway', 'clients/node'],
  ['clients/gateway', 'runtime/errors.ts'],
  ['clients/cli', 'runtime/host'],
  ['clients/cli', 'commander'],
  ['simulation/kernel', 'runtime/ports'],
  ['simulation/world', 'simulation/kernel'],
  ['simulation/world', 'grid/memory'],
  ['simulation/bin', 'node:crypto'],
  ['simulation/bin', 'runtime/node'],
  ['bench', 'runtime/host'],
  ['bench', 'fastify'],
  ['scripts', 'runtime/config'],
  ['scripts', 'node:fs'],
];

/** Tests may import anything that is installed. */
const ALLOWED_IN_TESTS: readonly (readonly [from: string, target: string])[] = [
  ['runtime/cache', 'node:fs'],
  ['runtime/cache', 'vitest'],
  ['runtime/cache', 'fast-check'],
  ['runtime/cache', 'grid/memory'],
  ['clients/gateway', 'openai'],
];

const CYCLE = 'runtime/cache/cycle-a.ts';

const OTHER_FORBIDDEN: readonly Planted[] = [
  {
    path: CYCLE,
    source: "import { b } from './cycle-b.ts';\nexport const a = (): unknown => b;\n",
  },
  {
    path: 'runtime/policy/type-only.ts',
    source: "import type { stub } from '../cache/stub.ts';\nexport type T = typeof stub;\n",
  },
  { path: 'runtime/cache/nowhere.ts', source: "export { x } from './not-there.ts';\n" },
];

/** What the cycle above needs; the tool reports a cycle at one of its ends. */
const OTHER_END: Planted = {
  path: 'runtime/cache/cycle-b.ts',
  source: "import { a } from './cycle-a.ts';\nexport const b = (): unknown => a;\n",
};

const CORE_ROOMS = [
  'runtime/policy',
  'runtime/actor',
  'runtime/cache',
  'runtime/semantic',
  'runtime/inference',
  'runtime/node',
  'grid/near-cache',
  'grid/memory',
  'grid/breaker',
  'simulation/kernel',
];

const FORBIDDEN_IN_CORE: Readonly<Record<string, string>> = {
  date: 'export const now = (): number => Date.now();',
  'new-date': 'export const now = (): unknown => new Date();',
  performance: 'export const now = (): number => performance.now();',
  timeout: 'export const later = (act: () => void): unknown => setTimeout(act, 1);',
  interval: 'export const often = (act: () => void): unknown => setInterval(act, 1);',
  immediate: 'export const soon = (act: () => void): unknown => setImmediate(act);',
  process: 'export const id = (): number => process.pid;',
  environment: "export const home = (): unknown => process.env['HOME'];",
  fetch: "export const get = (): unknown => fetch('http://localhost');",
  crypto: 'export const id = (): string => crypto.randomUUID();',
  global: 'export const everything = (): unknown => globalThis;',
  buffer: "export const bytes = (): unknown => Buffer.from('a');",
  console: "export const say = (): void => console.log('a');",
  'weak-ref': 'export const weak = (it: object): unknown => new WeakRef(it);',
  random: 'export const draw = (): number => Math.random();',
  'signal-timeout': 'export const signal = (): unknown => AbortSignal.timeout(1);',
};

const FORBIDDEN_ANYWHERE: Readonly<Record<string, string>> = {
  floating: 'declare function work(): Promise<void>;\nexport function start(): void {\n  work();\n}',
  misused: 'declare function work(): Promise<void>;\nexport const all = (): void => [1].forEach(work);',
  'default-export': 'const it = 1;\nexport default it;',
  'long-function': `export function long(): number {\n  let a = 0;\n${'  a += 1;\n'.repeat(70)}  return a;\n}`,
};

const ALLOWED_IN_CORE: Readonly<Record<string, string>> = {
  abort: 'export const controller = (): AbortController => new AbortController();',
  microtask: 'export const soon = (act: () => void): void => queueMicrotask(act);',
  text: 'export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);',
  arrays: 'export const numbers = (): Float32Array => new Float32Array(4);',
  math: 'export const root = (value: number): number => Math.sqrt(value);',
};

let tree = '';

function write({ path, source }: Planted): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), `${source.trim()}\n`);
}

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'reprise-rules-'));
  for (const name of ['.dependency-cruiser.cjs', '.oxlintrc.json', 'package.json', 'tsconfig.json']) {
    cpSync(join(ROOT, name), join(tree, name));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'), 'dir');
  for (const path of STUBS) write({ path, source: 'export const stub = 1;' });
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

function runTool(path: string, args: readonly string[]): string {
  const result = spawnSync(process.execPath, [join(ROOT, 'node_modules', path), ...args], {
    cwd: tree,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.error !== undefined) throw result.error;
  return result.stdout;
}

/** Files that break a dependency rule, and how many modules the tool saw. */
function cruise(): { offenders: Set<string>; modules: number } {
  const rooms = [...new Set(STUBS.map((path) => path.split('/')[0] ?? '')), 'bench', 'scripts'];
  const output = runTool('dependency-cruiser/bin/dependency-cruise.mjs', [
    '--config',
    '.dependency-cruiser.cjs',
    '--output-type',
    'json',
    ...rooms,
  ]);
  const { summary } = JSON.parse(output) as { summary: { violations: { from: string }[]; totalCruised: number } };
  return { offenders: new Set(summary.violations.map(({ from }) => from)), modules: summary.totalCruised };
}

/** Files that break a lint rule. */
function lint(...folders: readonly string[]): Set<string> {
  const output = runTool('oxlint/bin/oxlint', ['--type-aware', '--format', 'json', ...folders]);
  const { diagnostics } = JSON.parse(output) as { diagnostics: { filename: string }[] };
  return new Set(diagnostics.map(({ filename }) => filename));
}

describe('dependency rules', () => {
  const forbidden = FORBIDDEN_IMPORTS.map(([from, target], number) => imports(from, target, number));
  const allowed = ALLOWED_IMPORTS.map(([from, target], number) => imports(from, target, 100 + number));
  const inTests = ALLOWED_IN_TESTS.map(([from, target], number) => imports(from, target, 200 + number, '.test'));
  let offenders = new Set<string>();
  let modules = 0;

  beforeAll(() => {
    for (const planted of [...forbidden, ...allowed, ...inTests, ...OTHER_FORBIDDEN, OTHER_END]) write(planted);
    ({ offenders, modules } = cruise());
  });

  it('see the modules', () => {
    expect(modules).toBeGreaterThan(forbidden.length + allowed.length);
  });

  it.each(FORBIDDEN_IMPORTS.map(([from, target], number) => [from, target, number] as const))(
    'forbid %s to import %s',
    (_from, _target, number) => {
      expect(offenders).toContain(forbidden[number]?.path);
    },
  );

  it.each(OTHER_FORBIDDEN.map(({ path }) => path))('forbid what %s does', (path) => {
    expect([...offenders]).toEqual(
      expect.arrayContaining([path === CYCLE ? expect.stringContaining('/cycle-') : path]),
    );
  });

  it('allow every import that rooms need, and tests whatever is installed', () => {
    const paths = [...allowed, ...inTests].map(({ path }) => path);
    expect(paths.filter((path) => offenders.has(path))).toEqual([]);
  });
});

describe('lint rules', () => {
  const plant = (room: string, sources: Readonly<Record<string, string>>, prefix: string): string[] =>
    Object.entries(sources).map(([name, source]) => {
      const path = `${room}/${prefix}-${name}.ts`;
      write({ path, source });
      return path;
    });
  const inRoom = (prefix: string, sources: Readonly<Record<string, string>>): string[] =>
    CORE_ROOMS.flatMap((room) => plant(room, sources, prefix));
  let offenders = new Set<string>();

  beforeAll(() => {
    inRoom('banned', FORBIDDEN_IN_CORE);
    inRoom('fine', ALLOWED_IN_CORE);
    plant('runtime/host', FORBIDDEN_IN_CORE, 'outer');
    plant('runtime/config', FORBIDDEN_IN_CORE, 'outer');
    plant('runtime/host', FORBIDDEN_ANYWHERE, 'bad');
    write({ path: 'runtime/cache/clock.test.ts', source: FORBIDDEN_IN_CORE['date'] ?? '' });
    offenders = lint('runtime', 'grid', 'simulation');
  });

  it.each(Object.keys(FORBIDDEN_IN_CORE))('keep %s out of every core room', (name) => {
    const missed = CORE_ROOMS.map((room) => `${room}/banned-${name}.ts`).filter((path) => !offenders.has(path));
    expect(missed).toEqual([]);
  });

  it.each(Object.keys(FORBIDDEN_ANYWHERE))('forbid %s in outer rooms too', (name) => {
    expect(offenders).toContain(`runtime/host/bad-${name}.ts`);
  });

  it('leave core rooms what is pure', () => {
    expect([...offenders].filter((path) => path.includes('/fine-'))).toEqual([]);
  });

  it('leave outer rooms everything but the environment, which runtime/config reads', () => {
    expect([...offenders].filter((path) => path.includes('/outer-'))).toEqual(['runtime/host/outer-environment.ts']);
  });

  it('leave tests the clock', () => {
    expect(offenders).not.toContain('runtime/cache/clock.test.ts');
  });
});
