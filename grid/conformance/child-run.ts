import { execFile } from 'node:child_process';

const CHILD_MS_MAX = 110_000;

/**
 * Runs the source of an ES module in a Node process of its own, with `gc` exposed and TypeScript loadable, and
 * resolves with the JSON that it prints. For what a test runner's own memory would blur.
 */
export function runChild(source: string): Promise<unknown> {
  const flags = ['--expose-gc', '--import', 'tsx', '--input-type=module', '--eval', source];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, flags, { timeout: CHILD_MS_MAX }, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout));
      else reject(new Error(`the child process failed: ${stderr}`, { cause: error }));
    });
  });
}
