import { hasCode, toRepriseError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { VerifierOptions } from '../ports/options.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { Verifier } from '../ports/verifier.ts';
import type { Asked, Candidate } from './judgement.ts';

/** What the second opinion came to. `verified` where none was wanted, too. */
export interface Verified {
  readonly verdict: 'verified' | 'unverified' | 'verifier-failed';
  readonly candidate: Candidate;
}

/** The second opinions of one look-up: bounded in number and time, every failure a refusal. */
export class Verification {
  readonly #deps: { readonly verifier?: Verifier; readonly clock: Clock; readonly telemetry: Telemetry };
  readonly #text: string;
  readonly #wanted: number | undefined;
  readonly #explaining: boolean;
  readonly #options: CallOptions;
  #left: number;

  constructor(
    deps: { readonly verifier?: Verifier; readonly clock: Clock; readonly telemetry: Telemetry },
    limits: VerifierOptions,
    look: { readonly asked: Asked; readonly options: CallOptions },
  ) {
    const { asked, options } = look;
    this.#deps = deps;
    this.#text = asked.text;
    this.#explaining = asked.explaining;
    this.#left = limits.candidatesMax;
    this.#options = { ...options, deadlineAtMs: options.deadlineAtMs + limits.timeoutMs };
    const minima = asked.policies.flatMap(({ verifiedMin }) => (verifiedMin === undefined ? [] : [verifiedMin]));
    this.#wanted = minima.length === 0 ? undefined : Math.max(...minima);
  }

  /** Rejects only when the caller leaves. */
  async of(candidate: Candidate): Promise<Verified> {
    const wanted = this.#wanted;
    if (wanted === undefined) return { verdict: 'verified', candidate };
    const { verifier } = this.#deps;
    if (verifier === undefined || this.#left === 0) {
      this.#count(verifier === undefined ? 'absent' : 'skipped');
      return { verdict: 'verifier-failed', candidate };
    }
    this.#left -= 1;
    const verified = await this.#ask(verifier, candidate);
    if (verified === undefined) return { verdict: 'verifier-failed', candidate };
    const agrees = verified >= wanted;
    this.#count(agrees ? 'yes' : 'no');
    return { verdict: agrees ? 'verified' : 'unverified', candidate: { ...candidate, verified } };
  }

  /** Undefined when it failed; what isn't a probability is a failure too. */
  async #ask(verifier: Verifier, candidate: Candidate): Promise<number | undefined> {
    const { clock, telemetry } = this.#deps;
    const startedAtMs = clock.monotonicMs();
    try {
      const probability = await this.#within(verifier.verify(candidate.storedText, this.#text, this.#options));
      if (probability === undefined) this.#count('timeout');
      else if (probability >= 0 && probability <= 1) return probability;
      else this.#count('failed');
    } catch (error) {
      if (hasCode(error, 'cancelled') && this.#options.signal?.aborted === true) throw error;
      const { code } = toRepriseError(error);
      this.#count(code === 'embedder_timeout' || code === 'model_timeout' ? 'timeout' : 'failed');
      if (!this.#explaining) telemetry.log('debug', 'verifier_failed', { verifier: verifier.id, code });
    } finally {
      if (!this.#explaining) {
        telemetry.histogram('reprise_verifier_seconds').observe((clock.monotonicMs() - startedAtMs) / 1_000);
      }
    }
    return undefined;
  }

  /** A verifier that minds no deadline is left alone when it passes. */
  async #within(answer: Promise<number>): Promise<number | undefined> {
    const { clock } = this.#deps;
    let timer: { cancel(): void } | undefined;
    const late = new Promise<undefined>((resolve) => {
      const leftMs = Math.max(0, this.#options.deadlineAtMs - clock.monotonicMs());
      timer = clock.setTimer(leftMs, () => resolve(undefined));
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      timer?.cancel();
      answer.catch(() => undefined);
    }
  }

  #count(result: string): void {
    if (!this.#explaining) this.#deps.telemetry.counter('reprise_verifications_total', result).add();
  }
}
