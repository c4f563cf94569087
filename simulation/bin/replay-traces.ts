import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { RepriseError } from '../../runtime/errors.ts';
import type { ReplayRow, ReplayRun } from '../policy/replay.ts';
import { openTrace } from './open-trace.ts';
import { replayTask, type KnownTrace, type ReplayTask, type ReplayTaskResult } from './replay-task.ts';

export interface ReplayPlan {
  readonly traces: readonly KnownTrace[];
  readonly policies: readonly string[];
  readonly sizes: readonly Pick<ReplayRun, 'size' | 'unit'>[];
  /** Threads; absent: as many as pay. */
  readonly jobs?: number;
  /** Requests of one window of the miss ratio over time; none are kept without it. */
  readonly windowRequests?: number;
}

export interface ReplayEvents {
  readonly onNote?: (text: string) => void;
  /** Requests replayed so far, each counted once for every run. */
  readonly onProgress?: (done: number) => void;
}

/** Requests times runs below which starting a thread costs more than it saves. */
const WORK_LEAST = 1_000_000;
/** Bytes of a request in a file, compressed or not: a guess, for nothing but the number of threads. */
const REQUEST_BYTES = 4;
const PROGRESS_MS = 200;
const BYTES_OF_FLOAT = 8;

/** Replays every trace through every policy at every size; rows in this order. Byte sizes are left out for traces without sizes. */
export async function replayTraces(plan: ReplayPlan, events: ReplayEvents = {}): Promise<readonly ReplayRow[]> {
  const perTrace = await Promise.all(plan.traces.map((trace) => runsOf(trace, plan, events)));
  const runCount = perTrace.reduce((sum, { runs }) => sum + runs.length, 0);
  if (runCount === 0) throw new RepriseError('data_invalid', 'No trace has sizes, so that sizes in bytes say nothing.');
  const jobs = Math.min(plan.jobs ?? jobsThatPay(perTrace), runCount);
  const tasks = perTrace.flatMap(({ trace, runs }) => shares(runs, jobs).map((part) => ({ trace, runs: part })));
  const progress = new Float64Array(new SharedArrayBuffer(tasks.length * BYTES_OF_FLOAT));
  const told = (): void => {
    events.onProgress?.(tasks.reduce((sum, { runs }, slot) => sum + runs.length * (progress[slot] ?? 0), 0));
  };
  const timer = setInterval(told, PROGRESS_MS);
  try {
    const { windowRequests } = plan;
    const results = await doTasks(
      tasks.map((task, slot) => ({ ...task, progress, slot, ...(windowRequests !== undefined && { windowRequests }) })),
      jobs,
    );
    told();
    return perTrace.flatMap(({ runs }, trace) => {
      const parts = results.splice(0, Math.min(jobs, runs.length));
      return runs.map((run, at) => parts[at % parts.length]?.[Math.floor(at / parts.length)] ?? lost(run, trace));
    });
  } finally {
    clearInterval(timer);
  }
}

function lost(run: ReplayRun, trace: number): never {
  throw new Error(`Reprise bug: no row for ${run.policy} at ${run.size} of trace ${trace}`);
}

interface TraceRuns {
  readonly trace: KnownTrace;
  readonly runs: readonly ReplayRun[];
  /** Roughly, where the trace doesn't say. */
  readonly requests: number;
}

/** Reads the beginning, so that a wrong file is told of before anything runs. */
async function runsOf(trace: KnownTrace, plan: ReplayPlan, { onNote }: ReplayEvents): Promise<TraceRuns> {
  const source = await openTrace(trace.path, { ...trace, ...(onNote !== undefined && { onDetected: onNote }) });
  let isSized = false;
  for await (const { sizes } of source.batches()) {
    isSized = sizes !== undefined;
    break;
  }
  const sizes = plan.sizes.filter(({ unit }) => unit === 'entries' || isSized);
  if (sizes.length < plan.sizes.length) onNote?.(`${trace.path}: it has no sizes, so those in bytes are left out`);
  const requests = source.requests ?? (await stat(trace.path)).size / REQUEST_BYTES;
  return { trace, requests, runs: plan.policies.flatMap((policy) => sizes.map((size) => ({ policy, ...size }))) };
}

function jobsThatPay(perTrace: readonly TraceRuns[]): number {
  const work = perTrace.reduce((sum, { requests, runs }) => sum + requests * runs.length, 0);
  return Math.max(1, Math.min(availableParallelism(), Math.floor(work / WORK_LEAST)));
}

/** Runs dealt out like cards: neighbours are of one policy and take about as long. */
function shares(runs: readonly ReplayRun[], count: number): ReplayRun[][] {
  const parts = Array.from({ length: Math.min(count, runs.length) }, (): ReplayRun[] => []);
  runs.forEach((run, at) => parts[at % parts.length]!.push(run));
  return parts;
}

/** The rows of each task, in the order of the tasks. */
async function doTasks(tasks: readonly ReplayTask[], jobs: number): Promise<(readonly ReplayRow[])[]> {
  if (jobs === 1) {
    const done: (readonly ReplayRow[])[] = [];
    for (const task of tasks) done.push(rowsOf(await replayTask(task)));
    return done;
  }
  const worker = import.meta.url.endsWith('.ts') ? './replay-source-worker.mjs' : './replay-task.js';
  const pool = new Piscina<ReplayTask, ReplayTaskResult>({
    filename: fileURLToPath(new URL(worker, import.meta.url)),
    minThreads: jobs,
    maxThreads: jobs,
    execArgv: [],
    recordTiming: false,
  });
  try {
    return await Promise.all(tasks.map(async (task) => rowsOf(await pool.run(task, { name: 'replayTask' }))));
  } finally {
    await pool.destroy();
  }
}

function rowsOf(result: ReplayTaskResult): readonly ReplayRow[] {
  if ('rows' in result) return result.rows;
  const { code, message, stack } = result.error;
  const cause = stack === undefined ? undefined : Object.assign(new Error(message), { stack });
  throw new RepriseError(code, message, { cause });
}
