/** The embedding worker run from TypeScript: in a worker thread tsx has to be asked for by name. Built code doesn't use it. */
import { tsImport } from 'tsx/esm/api';

/** @type {typeof import('./onnx-worker.ts')} */
const worker = await tsImport('./onnx-worker.ts', import.meta.url);

export const { embed } = worker;
