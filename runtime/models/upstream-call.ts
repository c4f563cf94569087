import { EventEmitter } from 'node:events';
import { ModelError, RepriseError } from '../errors.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { ModelCallOptions } from '../ports/model.ts';
import { isUndecodable } from './content-encoding.ts';

/**
 * One call to a model under way: its own signal, aborted by the caller's or by the deadline, and what any failure means.
 * `finish` must be called once the call is over, however it ends.
 */
export class UpstreamCall {
  readonly #upstream: string;
  readonly #callerSignal: AbortSignal;
  /** Made when asked for: it costs far more than the emitter, and most calls do without. */
  #controller: AbortController | undefined;
  readonly #onAbort: () => void;
  readonly #timer: Timer | undefined;
  readonly #release: () => void;
  #end: 'running' | 'cancelled' | 'timeout' | 'finished' = 'running';

  constructor(clock: Clock, upstream: string, options: ModelCallOptions, release: () => void) {
    this.#upstream = upstream;
    this.#callerSignal = options.signal;
    this.#release = release;
    this.#onAbort = () => this.#stop('cancelled');
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
    if (Number.isFinite(options.deadlineAtMs)) {
      const leftMs = Math.max(0, options.deadlineAtMs - clock.monotonicMs());
      this.#timer = clock.setTimer(leftMs, () => this.#stop('timeout'));
    }
    if (options.signal.aborted) this.#stop('cancelled');
  }

  /** Emits `abort` when the caller gave up or the deadline passed: the form in which undici takes a signal at least cost. */
  readonly stops = new EventEmitter();

  /** Aborted when the caller gave up or the deadline passed. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.stopped) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** True when the caller or the deadline ended the call. */
  get stopped(): boolean {
    return this.#end === 'cancelled' || this.#end === 'timeout';
  }

  /** Idempotent. */
  finish(): void {
    this.#settle('finished');
    this.#release();
  }

  /** What to throw for `error`: why the call was stopped, if it was; an error of ours as it is; else what the network did. */
  failure(error: unknown): RepriseError {
    if (this.#end === 'timeout') {
      return new ModelError('model_timeout', `The upstream ${this.#upstream} did not answer in time.`);
    }
    if (this.#end === 'cancelled') {
      const { reason } = this.#callerSignal;
      return new RepriseError('cancelled', 'The model call was cancelled.', { cause: reason });
    }
    if (error instanceof RepriseError) return error;
    return networkFailure(this.#upstream, error);
  }

  #stop(end: 'cancelled' | 'timeout'): void {
    if (!this.#settle(end)) return;
    this.#controller?.abort();
    this.stops.emit('abort');
  }

  #settle(end: 'cancelled' | 'timeout' | 'finished'): boolean {
    if (this.#end !== 'running') return false;
    this.#end = end;
    this.#timer?.cancel();
    this.#callerSignal.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

/** Codes of failures to connect that say so whatever else is known. */
const CONNECT_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);
const CONNECT_SYSCALLS = new Set(['connect', 'getaddrinfo']);

/**
 * True when no byte of the request can have left: connecting failed. A connection that was lost after it stood proves
 * nothing (the model may be at work, and billing), so such a call is never sent twice.
 */
export function neverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(neverSent);
  if (syscall !== undefined) return CONNECT_SYSCALLS.has(syscall);
  return code !== undefined && CONNECT_CODES.has(code);
}

function networkFailure(upstream: string, error: unknown): ModelError {
  const code = error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.name) : 'unknown';
  if (isUndecodable(code)) {
    const message = `The upstream ${upstream} sent an answer that isn't in the content-encoding that it names (${code}).`;
    return new ModelError('model_invalid_answer', message, { cause: error });
  }
  const what = neverSent(error) ? 'could not be reached' : 'failed before its answer was whole';
  return new ModelError('model_unavailable', `The upstream ${upstream} ${what} (${code}).`, { cause: error });
}
