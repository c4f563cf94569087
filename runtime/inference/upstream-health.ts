/** An upstream whose latest calls all failed. */
export interface FailingUpstream {
  readonly upstream: string;
  /** Code of the latest failure. */
  readonly code: string;
  /** Calls that failed one after the other. */
  readonly failures: number;
  /** Monotonic time of the first of them, milliseconds. */
  readonly sinceMs: number;
}

/** Failures that say something of the upstream, not of the request. */
const DEAD: ReadonlySet<string> = new Set([
  'model_unavailable',
  'model_timeout',
  'model_stream_truncated',
  'model_invalid_answer',
]);
/** Failures in a row from which an upstream counts as failing: one may be chance. */
const FAILURES_MIN = 3;

/** Which upstreams answer, from the calls that were made anyway: nothing is probed. */
export class UpstreamHealth {
  readonly #failing = new Map<string, FailingUpstream>();

  /** `result`: `ok`, or an error's code; what says nothing of the upstream changes nothing. */
  note(upstream: string, result: string, nowMs: number): void {
    if (DEAD.has(result)) {
      const before = this.#failing.get(upstream);
      this.#failing.set(upstream, {
        upstream,
        code: result,
        failures: (before?.failures ?? 0) + 1,
        sinceMs: before?.sinceMs ?? nowMs,
      });
    } else if (result === 'ok' || result === 'model_error') this.#failing.delete(upstream);
  }

  /** Those that failed several times in a row, by name. */
  get failing(): readonly FailingUpstream[] {
    return [...this.#failing.values()]
      .filter(({ failures }) => failures >= FAILURES_MIN)
      .sort((a, b) => (a.upstream < b.upstream ? -1 : 1));
  }
}
