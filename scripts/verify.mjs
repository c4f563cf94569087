import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buf, proveGenerated } from './lib/proto.mjs';
import { areDependenciesInstalled, failSetUp, ROOT, run } from './lib/setup.mjs';

const HELP = `npm run verify [-- --only STEP | --skip STEP]…: checks the whole repository and stops at the first failure.

Steps, in order: format, lint, types, rules, dead-code, proto, docs, tests.
`;

/** Folders that are linted; a run without names would walk everything. */
const LINTED = ['runtime', 'grid', 'clients', 'simulation', 'evaluation', 'bench', 'scripts'];
const CRUISED = ['runtime', 'grid', 'clients', 'simulation', 'evaluation', 'bench', 'scripts', 'proto'];

const present = (folders) => folders.filter((folder) => existsSync(join(ROOT, folder)));

const STEPS = {
  format: () => tool('prettier/bin/prettier.cjs', ['--check', '--log-level=warn', '.']),
  lint: () => tool('oxlint/bin/oxlint', ['--type-aware', '--deny-warnings', ...present(LINTED)]),
  types: () => tool('typescript/bin/tsc', ['-p', 'tsconfig.json', '--noEmit']),
  rules: async () => {
    const failure = await tool('dependency-cruiser/bin/dependency-cruise.mjs', [
      '--config',
      '.dependency-cruiser.cjs',
      ...present(CRUISED),
    ]);
    return failure ?? (await tool('vitest/vitest.mjs', ['run', 'scripts/rules.test.ts']));
  },
  'dead-code': () => tool('knip/bin/knip.js', ['--no-progress']),
  proto: async () => {
    const { code, output } = await buf(ROOT, ['lint']);
    if (code !== 0) return output;
    const lines = await proveGenerated(ROOT);
    return lines.length === 0 ? undefined : `${lines.join('\n')}\nRun npm run proto and commit what it writes.`;
  },
  docs: () => tool('tsx/dist/cli.mjs', ['scripts/docs.ts', '--check']),
  tests: () => tool('vitest/vitest.mjs', ['run']),
};

/** Runs a tool of node_modules; gives its output when it failed. */
async function tool(path, args) {
  const { code, output } = await run(process.execPath, [join(ROOT, 'node_modules', path), ...args], { cwd: ROOT });
  return code === 0 ? undefined : output;
}

function chosenSteps(args) {
  const only = [];
  const skip = [];
  for (let at = 0; at < args.length; at += 2) {
    const [option, step] = [args[at], args[at + 1]];
    const list = option === '--only' ? only : option === '--skip' ? skip : undefined;
    if (list === undefined || step === undefined || !Object.hasOwn(STEPS, step)) {
      process.stderr.write(HELP);
      process.exit(2);
    }
    list.push(step);
  }
  return Object.keys(STEPS).filter((step) => !skip.includes(step) && (only.length === 0 || only.includes(step)));
}

if (process.argv.includes('--help')) {
  process.stdout.write(HELP);
  process.exit(0);
}
const steps = chosenSteps(process.argv.slice(2));
if (!areDependenciesInstalled())
  failSetUp(new Error('The packages are not those of package-lock.json: run npm ci first.'));
for (const step of steps) {
  const startedMs = performance.now();
  process.stdout.write(`${step.padEnd(10)} `);
  const failure = await STEPS[step]();
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  console.log(`${failure === undefined ? 'passed' : 'FAILED'} in ${seconds} s`);
  if (failure !== undefined) {
    console.log(`\n${failure.trim()}\n\nverify failed at ${step}`);
    process.exit(1);
  }
}
console.log(`verify passed: ${steps.join(', ')}`);
