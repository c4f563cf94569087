import { isMainThread, Worker } from 'node:worker_threads';

/**
 * Loaded before a process's own code: ends it when the process that started it is gone, however that ended. In a thread of
 * its own, as a process whose event loop is stuck must end too.
 */
const WATCH = `
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), 1_000);
`;
if (isMainThread) new Worker(WATCH, { eval: true, execArgv: [] }).unref();
