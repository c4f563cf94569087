import { assert } from '../../runtime/errors.ts';
import type { Random } from '../../runtime/ports/random.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface BreakerOptions {
  /** Consecutive failures that open a breaker. */
  readonly failuresMax: number;
  /** Failures further apart than this are not one illness. */
  readonly windowMs: number;
  /** Least time that a breaker stays open; up to half as long again is drawn on top, so that nodes don't probe in step. */
  readonly coolDownMs: number;
}

/** How a call bears on its breaker: `neutral` says nothing about the member's health. */
export type Verdict = 'success' | 'failure' | 'neutral';

/** What `admit` answers when the call must not be made. */
export const NOT_ADMITTED = -1;

/**
 * A breaker over one owner: closed → open after consecutive failures → half-open after the cool-down, when a single
 * call goes through as a probe; it closes the breaker or opens it again. Tickets name the state that a call was
 * admitted in, so that a late outcome can't speak for a later state.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #random: Random;
  readonly #onTransition: (state: BreakerState) => void;
  #state: BreakerState = 'closed';
  #ticket = 0;
  #failures = 0;
  #firstFailureAtMs = 0;
  #probeAtMs = 0;
  #probing = false;

  constructor(options: BreakerOptions, random: Random, onTransition: (state: BreakerState) => void) {
    assert(options.failuresMax > 0, 'a breaker tolerates no fewer than zero failures');
    this.#options = options;
    this.#random = random;
    this.#onTransition = onTransition;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** Not closed, and not merely because nobody has asked since: an owner that is gone for good is asked no more. */
  isSick(nowMs: number): boolean {
    return this.#state !== 'closed' && nowMs < this.#probeAtMs + this.#options.windowMs;
  }

  /** A ticket for `settle`, which must follow; `NOT_ADMITTED`: fail fast. */
  admit(nowMs: number): number {
    if (this.#state === 'closed') return this.#ticket;
    if (this.#state === 'open') {
      if (nowMs < this.#probeAtMs) return NOT_ADMITTED;
      this.#enter('half-open');
    }
    if (this.#probing) return NOT_ADMITTED;
    this.#probing = true;
    return this.#ticket;
  }

  settle(ticket: number, verdict: Verdict, nowMs: number): void {
    if (ticket !== this.#ticket) return;
    if (this.#state === 'closed') {
      if (verdict === 'success') this.#failures = 0;
      else if (verdict === 'failure') this.#countFailure(nowMs);
      return;
    }
    this.#probing = false;
    if (verdict === 'success') this.#enter('closed');
    else if (verdict === 'failure') this.#open(nowMs);
  }

  #countFailure(nowMs: number): void {
    if (this.#failures === 0 || nowMs - this.#firstFailureAtMs > this.#options.windowMs) {
      this.#failures = 0;
      this.#firstFailureAtMs = nowMs;
    }
    this.#failures += 1;
    if (this.#failures >= this.#options.failuresMax) this.#open(nowMs);
  }

  #open(nowMs: number): void {
    this.#probeAtMs = nowMs + this.#options.coolDownMs * (1 + this.#random.float() / 2);
    this.#enter('open');
  }

  #enter(state: BreakerState): void {
    this.#state = state;
    this.#ticket += 1;
    this.#failures = 0;
    this.#probing = false;
    this.#onTransition(state);
  }
}
