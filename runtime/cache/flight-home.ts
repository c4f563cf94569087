import type { Actor, Turn } from '../actor/actor.ts';
import type { Clock } from '../ports/clock.ts';

/** What a node says to a flight's home: that it wants to lead or follow, or that its flight is over. Plain data. */
export interface FlightMessage {
  readonly kind: 'join' | 'leave';
  readonly node: string;
  /** The flight's number on that node. */
  readonly flight: number;
}

/** Who leads: the asking node itself, or another. The reply to `leave` says who still does. */
export type FlightTicket =
  { readonly kind: 'lead' } | { readonly kind: 'follow'; readonly node: string; readonly flight: number };

const LEAD: FlightTicket = { kind: 'lead' };

/**
 * The actor `flight/<id>`: a broker of one ticket, so that one node at a time leads. It holds nothing of the answer; losing
 * it costs a second model call. Within a node, flights are told apart before it is asked, so a node that asks again has lost
 * its former flight and is given the ticket anew. A ticket lapses after `ticketMs`, should its node never return it.
 */
export class FlightHome implements Actor<FlightMessage, FlightTicket> {
  readonly #clock: Clock;
  readonly #ticketMs: number;
  #holder: { readonly node: string; readonly flight: number; readonly lapsesAtMs: number } | undefined = undefined;

  constructor(clock: Clock, ticketMs: number) {
    this.#clock = clock;
    this.#ticketMs = ticketMs;
  }

  get busy(): boolean {
    return this.#holder !== undefined && this.#clock.monotonicMs() < this.#holder.lapsesAtMs;
  }

  receive(message: FlightMessage, turn: Turn): FlightTicket {
    if (message.kind === 'leave') {
      if (this.#holder?.node === message.node && this.#holder.flight === message.flight) this.#holder = undefined;
    } else if (this.#holder?.node === message.node || !this.busy) {
      this.#holder = {
        node: message.node,
        flight: message.flight,
        lapsesAtMs: this.#clock.monotonicMs() + this.#ticketMs,
      };
      return LEAD;
    }
    if (this.#holder === undefined) {
      turn.passivateAfter();
      return LEAD;
    }
    return { kind: 'follow', node: this.#holder.node, flight: this.#holder.flight };
  }
}
