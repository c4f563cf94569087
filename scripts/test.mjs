import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failSetUp, ROOT, run, setUp } from './lib/setup.mjs';
import { countTests, summaryLine } from './lib/test-summary.mjs';

const { model } = await setUp().catch((error) => {
  console.log(summaryLine({ passed: 0, failed: 1 }));
  return failSetUp(error);
});
for (const line of await leftOut(model)) console.log(`Left out: ${line}`);
const reports = mkdtempSync(join(tmpdir(), 'reprise-tests-'));
process.exitCode = await runTests(join(reports, 'report.json'), process.argv.slice(2));
rmSync(reports, { recursive: true, force: true });

/** What the tests can't try here, one line each. */
async function leftOut(found) {
  const lines = [];
  if ('unavailable' in found) {
    const hasMaven = await run('mvn', ['-v'], { cwd: ROOT }).then(
      ({ code }) => code === 0,
      () => false,
    );
    const maven = hasMaven ? '' : '; neither is there Java with Maven to get it from';
    lines.push(`tests of the real embedding model (${found.unavailable}${maven})`);
  }
  const data = process.env['REPRISE_TEST_DATA'] || join(ROOT, '..', 'shared', 'data');
  if (!existsSync(data))
    lines.push(`runs on real questions (no test data at ${data}; REPRISE_TEST_DATA names another folder)`);
  return lines;
}

/** Runs vitest on all tests, or on those that the arguments name; gives the exit code. */
async function runTests(report, args) {
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...args], { cwd: ROOT, stdio: 'inherit' });
  // The terminal signals vitest too; this process waits for it, to print the count.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  const code = await new Promise((resolve) => child.on('close', (exit) => resolve(exit ?? 1)));
  const counts = countTests(readReport(report), code);
  console.log(summaryLine(counts));
  return code === 0 && counts.failed > 0 ? 1 : code;
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
