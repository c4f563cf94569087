/** The replay worker run from TypeScript: in a worker thread tsx has to be asked for by name. Built code doesn't use it. */
import { tsImport } from 'tsx/esm/api';

/** @type {typeof import('./replay-task.ts')} */
const worker = await tsImport('./replay-task.ts', import.meta.url);

export const { replayTask } = worker;
