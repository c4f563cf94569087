/** What every call that may wait takes: an instant on the monotonic clock past which it fails, and a signal. */
export interface CallOptions {
  readonly deadlineAtMs: number;
  readonly signal?: AbortSignal;
}
