import type { Actor } from './actor.ts';
import type { Delivery } from './delivery.ts';
import type { IdleNode } from './idle-list.ts';

/** A live actor: its state, its mailbox and the message in its turn, if any. */
export class Activation implements IdleNode<Activation> {
  readonly key: string;
  readonly actor: Actor;
  running: Delivery | undefined = undefined;
  previous: Activation | undefined = undefined;
  next: Activation | undefined = undefined;
  listed = false;
  idleAtMs = 0;
  #first: Delivery | undefined = undefined;
  #last: Delivery | undefined = undefined;
  #waiting = 0;

  constructor(key: string, actor: Actor) {
    this.key = key;
    this.actor = actor;
  }

  /** Messages in the mailbox, those included whose caller gave up. */
  get waiting(): number {
    return this.#waiting;
  }

  put(delivery: Delivery): void {
    if (this.#last === undefined) this.#first = delivery;
    else this.#last.next = delivery;
    this.#last = delivery;
    this.#waiting += 1;
  }

  take(): Delivery | undefined {
    const delivery = this.#first;
    if (delivery === undefined) return undefined;
    this.#first = delivery.next;
    if (this.#first === undefined) this.#last = undefined;
    delivery.next = undefined;
    this.#waiting -= 1;
    return delivery;
  }
}
