/** A pending timer; `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

/** Time as core rooms see it: two readings, a sleep and timers. */
export interface Clock {
  /** Milliseconds on a clock that never steps back; for durations and deadlines only. */
  monotonicMs(): number;
  /** Milliseconds since the Unix epoch; for stamps and expiry only. */
  wallMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Runs `callback` once after `delayMs`. A pending timer never keeps a process alive. */
  setTimer(delayMs: number, callback: () => void): Timer;
}
