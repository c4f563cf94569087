import type { Clock } from '../ports/clock.ts';

interface Verdict {
  /** Monotonic; in the past: not verified. */
  verifiedUntilMs: number;
  /** Monotonic instant of the last refusal; -Infinity: none known. */
  rejectedAtMs: number;
}

/**
 * What upstreams said of credentials, by the tenant name derived from each; the credential itself is never held. Bounded: the
 * one that was judged longest ago is forgotten first, and is then simply not verified.
 */
export class VerifiedCredentials {
  readonly #clock: Clock;
  readonly #verifiedMs: number;
  readonly #verifiedMax: number;
  readonly #verdicts = new Map<string, Verdict>();

  constructor(clock: Clock, options: { readonly verifiedMs: number; readonly verifiedMax: number }) {
    this.#clock = clock;
    this.#verifiedMs = options.verifiedMs;
    this.#verifiedMax = options.verifiedMax;
  }

  get size(): number {
    return this.#verdicts.size;
  }

  isVerified(tenant: string): boolean {
    const verdict = this.#verdicts.get(tenant);
    return verdict !== undefined && verdict.verifiedUntilMs > this.#clock.monotonicMs();
  }

  /** A call that began at `calledAtMs` was accepted; one that began before a refusal proves nothing any more. */
  accept(tenant: string, calledAtMs: number): void {
    const rejectedAtMs = this.#verdicts.get(tenant)?.rejectedAtMs ?? -Infinity;
    if (rejectedAtMs >= calledAtMs) return;
    this.#remember(tenant, { verifiedUntilMs: calledAtMs + this.#verifiedMs, rejectedAtMs });
  }

  reject(tenant: string): void {
    this.#remember(tenant, { verifiedUntilMs: -Infinity, rejectedAtMs: this.#clock.monotonicMs() });
  }

  #remember(tenant: string, verdict: Verdict): void {
    this.#verdicts.delete(tenant);
    this.#verdicts.set(tenant, verdict);
    if (this.#verdicts.size <= this.#verifiedMax) return;
    const [oldest] = this.#verdicts.keys();
    if (oldest !== undefined) this.#verdicts.delete(oldest);
  }
}
