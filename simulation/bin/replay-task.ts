import type { CsvColumns } from '../workload/csv-reader.ts';
import type { TraceFormat, TraceSource } from '../workload/trace.ts';
import { replay, type ReplayRow, type ReplayRun } from '../policy/replay.ts';
import { toRepriseError, type ErrorCode } from '../../runtime/errors.ts';
import { openTrace } from './open-trace.ts';

/** A trace that is known to be readable, in a form that goes to worker threads. */
export interface KnownTrace {
  readonly path: string;
  readonly format: TraceFormat | 'auto';
  readonly columns?: CsvColumns;
  readonly itemBytesMax?: number;
}

/** Some runs over one trace, made in one reading of it. */
export interface ReplayTask {
  readonly trace: KnownTrace;
  readonly runs: readonly ReplayRun[];
  readonly windowRequests?: number;
  /** Where progress is told: requests read so far, at `slot`. */
  readonly progress: Float64Array;
  readonly slot: number;
}

/** What became of a task; errors as data, since classes don't cross threads. */
export type ReplayTaskResult =
  | { readonly rows: readonly ReplayRow[] }
  | { readonly error: { readonly code: ErrorCode; readonly message: string; readonly stack?: string } };

/** Does one task: in this thread, or in a worker. */
export async function replayTask(task: ReplayTask): Promise<ReplayTaskResult> {
  const { trace, runs, windowRequests, progress, slot } = task;
  try {
    const source: TraceSource = await openTrace(trace.path, trace);
    const rows = await replay(source, runs, {
      nowMs: () => performance.now(),
      onProgress: (requests) => (progress[slot] = requests),
      ...(windowRequests !== undefined && { windowRequests }),
    });
    return { rows };
  } catch (error) {
    const { code, message, cause } = toRepriseError(error);
    const stack = cause instanceof Error ? cause.stack : undefined;
    return { error: { code, message, ...(stack !== undefined && { stack }) } };
  }
}
