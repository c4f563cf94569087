/**
 * Counts of a run from vitest's JSON report and exit code. A file that didn't load counts as one failed test, and so does
 * a failure outside any test.
 */
export function countTests(report, exitCode) {
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  for (const file of report?.testResults ?? []) {
    const tests = file.assertionResults ?? [];
    for (const test of tests) {
      if (test.status === 'passed') passed += 1;
      else if (test.status === 'failed') failed += 1;
      else skipped += 1;
    }
    if (file.status === 'failed' && !tests.some((test) => test.status === 'failed')) failed += 1;
  }
  if (exitCode !== 0 && failed === 0) failed = 1;
  return { passed, failed, skipped };
}

/** The last line of a run. */
export function summaryLine({ passed, failed }) {
  return `${passed} passed, ${failed} failed`;
}
