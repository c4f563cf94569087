import type { CallOptions } from '../ports/call-options.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { Turn } from './actor.ts';
import { RepriseError } from '../errors.ts';

type Settled = { readonly ok: true; readonly reply: unknown } | { readonly ok: false; readonly error: Error };

/**
 * One message on its way through a mailbox and a turn, and the caller's wait for its reply. A reply that is there before the
 * caller waits costs no timer and no listener.
 */
export class Delivery implements Turn {
  readonly message: unknown;
  readonly deadlineAtMs: number;
  readonly signal?: AbortSignal;
  /** The next message in the same mailbox. */
  next: Delivery | undefined = undefined;
  passivates = false;
  #settled: Settled | undefined = undefined;
  #resolve: ((reply: unknown) => void) | undefined = undefined;
  #reject: ((error: Error) => void) | undefined = undefined;
  #timer: Timer | undefined = undefined;
  #onAbort: (() => void) | undefined = undefined;

  constructor(message: unknown, options: CallOptions) {
    this.message = message;
    this.deadlineAtMs = options.deadlineAtMs;
    if (options.signal !== undefined) this.signal = options.signal;
  }

  /** True once a reply came or the caller gave up; a message that is settled before its turn has none. */
  get settled(): boolean {
    return this.#settled !== undefined;
  }

  passivateAfter(): void {
    this.passivates = true;
  }

  /** Ends the caller's wait with a reply; later ends are ignored. */
  answer(reply: unknown): void {
    if (this.#settled !== undefined) return;
    this.#settled = { ok: true, reply };
    this.#stopWaiting();
    this.#resolve?.(reply);
  }

  /** Ends the caller's wait with an error; later ends are ignored. */
  fail(error: unknown): void {
    if (this.#settled !== undefined) return;
    const failure = asError(error);
    this.#settled = { ok: false, error: failure };
    this.#stopWaiting();
    this.#reject?.(failure);
  }

  /** The caller's wait; called once. Rejects with the turn's error, `actor_timeout` or `cancelled`. */
  reply(clock: Clock, nowMs: number): Promise<unknown> {
    const settled = this.#settled;
    if (settled !== undefined) return settled.ok ? Promise.resolve(settled.reply) : Promise.reject(settled.error);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#timer = clock.setTimer(Math.max(0, this.deadlineAtMs - nowMs), () => {
        this.fail(new RepriseError('actor_timeout', 'The actor did not answer within the call’s deadline.'));
      });
      if (this.signal !== undefined) {
        this.#onAbort = () => {
          this.fail(new RepriseError('cancelled', 'The caller of an actor left.', { cause: this.signal?.reason }));
        };
        this.signal.addEventListener('abort', this.#onAbort);
      }
    });
  }

  #stopWaiting(): void {
    this.#timer?.cancel();
    if (this.#onAbort !== undefined) this.signal?.removeEventListener('abort', this.#onAbort);
    this.#timer = undefined;
    this.#onAbort = undefined;
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('An actor threw a value that is no error.', { cause: thrown });
}
