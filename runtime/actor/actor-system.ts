import { ChurnMap } from '../ports/churn-map.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { Counter, Gauge, Telemetry } from '../ports/telemetry.ts';
import type { Actor, ActorFactory, ActorTypeOptions } from './actor.ts';
import { RepriseError, assert } from '../errors.ts';
import { Activation } from './activation.ts';
import { Delivery } from './delivery.ts';
import { IdleList } from './idle-list.ts';

/** Activations that are looked at for one to passivate when a type is at its bound. */
const PASSIVATION_TRIES_MAX = 16;
/** How long `stop` waits for turns when it is told no deadline. */
const STOP_MS = 5_000;

interface ActorType {
  readonly name: string;
  readonly factory: ActorFactory;
  readonly options: ActorTypeOptions;
  readonly live: ChurnMap<string, Activation>;
  readonly idle: IdleList<Activation>;
  readonly refused: Counter;
  readonly activations: Gauge;
  sweep: Timer | undefined;
}

/**
 * Runs virtual actors, named `type/key`, one turn at a time each.
 *
 * Suspension points and what holds at them:
 * - S1. A turn begins inside `call` when its activation is idle, else right after the turn before it ends. Nothing else begins one.
 * - S2. A turn is suspended only at its own awaits. Until its promise settles, no other turn of that activation begins.
 * - S3. Turns of one activation begin in the order in which `call` accepted them. A message whose caller gave up before its
 *   turn has none; a turn that began is never cut short, whatever became of its caller.
 * - S4. Activation and passivation are synchronous, so there is no moment at which one key has two activations or a message
 *   has none. An activation is passivated only when no turn runs and its mailbox is empty.
 * - S5. A caller resumes in a microtask after its turn ended, its deadline passed or its signal was aborted, never inside `call`.
 * - S6. A turn that calls its own actor and awaits the reply waits for itself, until the call's deadline.
 */
export class ActorSystem {
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #types = new Map<string, ActorType>();
  #stopping = false;
  /** Messages in a mailbox or a turn. */
  #open = 0;
  #drained: (() => void) | undefined = undefined;

  constructor(deps: { readonly clock: Clock; readonly telemetry: Telemetry }) {
    this.#clock = deps.clock;
    this.#telemetry = deps.telemetry;
  }

  /** Declares an actor type, once. */
  register<Message, Reply>(type: string, factory: ActorFactory<Message, Reply>, options: ActorTypeOptions): void {
    assert(!this.#types.has(type), `actor type ${type} is registered twice`);
    assert(options.mailboxMax >= 0 && options.idleMs > 0 && options.activationsMax > 0, `bounds of actor type ${type}`);
    this.#types.set(type, {
      name: type,
      factory: (key) => factory(key) as Actor,
      options,
      live: new ChurnMap(),
      idle: new IdleList(),
      refused: this.#telemetry.counter('reprise_mailbox_refused_total', type),
      activations: this.#telemetry.gauge('reprise_activations', type),
      sweep: undefined,
    });
  }

  /**
   * Sends a message to `type/key` and waits for the reply. Fails with what the turn threw, or `actor_timeout`, `cancelled`,
   * `mailbox_full`, `overloaded` (too many activations) or `actor_stopped`. After `actor_timeout` and `cancelled` the turn
   * may still have happened, or happen.
   */
  call<R>(type: string, key: string, message: unknown, options: CallOptions): Promise<R> {
    const kind = this.#types.get(type);
    assert(kind !== undefined, `actor type ${type} isn't registered`);
    assert(Number.isFinite(options.deadlineAtMs), 'a call to an actor has a deadline');
    const nowMs = this.#clock.monotonicMs();
    const refusal = this.#refusal(options, nowMs);
    if (refusal !== undefined) return Promise.reject(refusal);
    let activation = kind.live.get(key);
    if (activation === undefined) {
      if (kind.live.size >= kind.options.activationsMax && !this.#makeRoom(kind)) {
        return Promise.reject(new RepriseError('overloaded', `Too many live actors of type ${type}.`));
      }
      activation = this.#activate(kind, key);
    }
    const delivery = new Delivery(message, options);
    if (activation.running === undefined) {
      kind.idle.remove(activation);
      this.#open += 1;
      if (this.#turn(kind, activation, delivery)) this.#endTurn(kind, activation, delivery);
    } else if (activation.waiting < kind.options.mailboxMax) {
      this.#open += 1;
      activation.put(delivery);
    } else {
      kind.refused.add();
      return Promise.reject(new RepriseError('mailbox_full', `The mailbox of an actor of type ${type} is full.`));
    }
    return delivery.reply(this.#clock, nowMs) as Promise<R>;
  }

  /** Live activations of a type. */
  activations(type: string): number {
    return this.#types.get(type)?.live.size ?? 0;
  }

  /**
   * Refuses new calls, lets accepted ones end until the deadline (monotonic; default 5 s from now), fails what still waits
   * with `actor_stopped`, then passivates everything that isn't in a turn.
   */
  async stop(options: { readonly deadlineAtMs?: number } = {}): Promise<void> {
    this.#stopping = true;
    const nowMs = this.#clock.monotonicMs();
    if (this.#open > 0) {
      await new Promise<void>((resolve) => {
        const timer = this.#clock.setTimer(Math.max(0, (options.deadlineAtMs ?? nowMs + STOP_MS) - nowMs), resolve);
        this.#drained = () => {
          timer.cancel();
          resolve();
        };
      });
    }
    for (const kind of this.#types.values()) {
      kind.sweep?.cancel();
      kind.sweep = undefined;
      for (const activation of kind.live.snapshot()) this.#close(kind, activation);
    }
  }

  #refusal(options: CallOptions, nowMs: number): RepriseError | undefined {
    if (this.#stopping) return new RepriseError('actor_stopped', 'The node is stopping.');
    if (options.signal?.aborted === true) {
      return new RepriseError('cancelled', 'The caller of an actor left.', { cause: options.signal.reason });
    }
    if (options.deadlineAtMs <= nowMs) return new RepriseError('actor_timeout', 'The call’s deadline has passed.');
    return undefined;
  }

  #activate(kind: ActorType, key: string): Activation {
    const activation = new Activation(key, kind.factory(key));
    kind.live.set(key, activation);
    kind.activations.set(kind.live.size);
    return activation;
  }

  /** Begins a turn; true when it ended at once. */
  #turn(kind: ActorType, activation: Activation, delivery: Delivery): boolean {
    activation.running = delivery;
    let reply: unknown;
    try {
      reply = activation.actor.receive(delivery.message, delivery);
    } catch (error) {
      delivery.fail(error);
      return true;
    }
    if (!isPromise(reply)) {
      delivery.answer(reply);
      return true;
    }
    reply.then(
      (value) => {
        delivery.answer(value);
        this.#endTurn(kind, activation, delivery);
      },
      (error: unknown) => {
        delivery.fail(error);
        this.#endTurn(kind, activation, delivery);
      },
    );
    return false;
  }

  /** Ends a turn, runs what waits for as long as turns end at once, and lists the activation as idle when nothing is left. */
  #endTurn(kind: ActorType, activation: Activation, ended: Delivery): void {
    let last = ended;
    for (;;) {
      activation.running = undefined;
      this.#settleOne();
      const following = this.#takeAwaited(activation);
      if (following === undefined) break;
      last = following;
      if (!this.#turn(kind, activation, following)) return;
    }
    if (last.passivates || this.#stopping) {
      this.#passivate(kind, activation);
      return;
    }
    kind.idle.push(activation, this.#clock.monotonicMs());
    kind.sweep ??= this.#clock.setTimer(kind.options.idleMs, () => this.#sweep(kind));
  }

  /** The next message whose caller still waits. */
  #takeAwaited(activation: Activation): Delivery | undefined {
    for (;;) {
      const delivery = activation.take();
      if (delivery === undefined || !delivery.settled) return delivery;
      this.#settleOne();
    }
  }

  #settleOne(): void {
    this.#open -= 1;
    assert(this.#open >= 0, 'more turns ended than were accepted');
    if (this.#open === 0) this.#drained?.();
  }

  /** Passivates what has been idle for long enough; what is busy is looked at again later. */
  #sweep(kind: ActorType): void {
    kind.sweep = undefined;
    const nowMs = this.#clock.monotonicMs();
    const idleSinceMs = nowMs - kind.options.idleMs;
    let first = kind.idle.first;
    while (first !== undefined && first.idleAtMs <= idleSinceMs) {
      this.#retire(kind, first, nowMs);
      first = kind.idle.first;
    }
    if (first === undefined) return;
    kind.sweep = this.#clock.setTimer(first.idleAtMs - idleSinceMs, () => this.#sweep(kind));
  }

  #makeRoom(kind: ActorType): boolean {
    const nowMs = this.#clock.monotonicMs();
    for (let tries = 0; tries < PASSIVATION_TRIES_MAX; tries += 1) {
      const first = kind.idle.first;
      if (first === undefined) return false;
      if (this.#retire(kind, first, nowMs)) return true;
    }
    return false;
  }

  #retire(kind: ActorType, activation: Activation, nowMs: number): boolean {
    if (activation.actor.busy !== true) {
      this.#passivate(kind, activation);
      return true;
    }
    kind.idle.remove(activation);
    kind.idle.push(activation, nowMs);
    return false;
  }

  #passivate(kind: ActorType, activation: Activation): void {
    assert(activation.running === undefined && activation.waiting === 0, 'passivation of an activation that has work');
    kind.idle.remove(activation);
    if (!kind.live.delete(activation.key)) return;
    kind.activations.set(kind.live.size);
    try {
      activation.actor.passivated?.();
    } catch (error) {
      this.#telemetry.counter('reprise_background_failures_total', 'passivation').add();
      this.#telemetry.log('error', 'passivation_failed', { type: kind.name, error: String(error) });
    }
  }

  /** Part of `stop`: fails what waits; an activation in a turn is passivated when that ends. */
  #close(kind: ActorType, activation: Activation): void {
    for (let delivery = activation.take(); delivery !== undefined; delivery = activation.take()) {
      delivery.fail(new RepriseError('actor_stopped', 'The node is stopping.'));
      this.#settleOne();
    }
    if (activation.running === undefined) this.#passivate(kind, activation);
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
