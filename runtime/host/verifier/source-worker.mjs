/** The verifier's worker run from TypeScript: in a worker thread tsx has to be asked for by name. Built code doesn't use it. */
import { tsImport } from 'tsx/esm/api';

/** @type {typeof import('./cross-encoder-worker.ts')} */
const worker = await tsImport('./cross-encoder-worker.ts', import.meta.url);

export const { verify } = worker;
