import type { ActorSystem } from '../actor/actor-system.ts';
import { ChurnMap } from '../ports/churn-map.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Counter, Gauge, Telemetry } from '../ports/telemetry.ts';
import type { FlightMessage, FlightTicket } from './flight-home.ts';
import type { FlightEnd, FlightKeeper, FlightLimits } from './flight-run.ts';
import type { AloneCause, Lead, Participant } from './flight-types.ts';
import { RepriseError, assert, hasCode, toRepriseError } from '../errors.ts';
import { FlightHome } from './flight-home.ts';
import { FlightRun } from './flight-run.ts';

export type { AloneCause, FlightHead, FlightSink, Lead, Participant, ParticipantRole } from './flight-types.ts';

const MIB = 1024 * 1024;
const HOME = 'flight';
/** Waiting joins of one flight's home: at most one of each node. */
const HOME_MAILBOX_MAX = 1_024;
/** A home without a ticket goes away after its last message; one whose message was lost goes this much later. */
const HOME_IDLE_MS = 10_000;
const TICKET_MS = 15 * 60_000;
const HOME_FAILURES: ReadonlyMap<string, AloneCause> = new Map([
  ['actor_timeout', 'join-deadline'],
  ['mailbox_full', 'mailbox-full'],
  ['overloaded', 'home-full'],
]);

/** Bounds and habits of a node's flights. */
export interface FlightsOptions {
  /** Shared flights under way at once; past it requests call the model alone. */
  readonly flightsMax: number;
  /** Size up to which a recording is kept whole, so that it can be joined and stored. */
  readonly entryBytesMax: number;
  /** Bytes by which a lead may be ahead of its slowest reader past that size. */
  readonly streamWindowBytes: number;
  /** How long a first request waits for the flight's home before it calls alone. */
  readonly joinDeadlineMs: number;
  /** What becomes of a call whose last participant left. */
  readonly abandoned: 'abort' | 'finish';
  /** Names this node to the homes; default `local`. */
  readonly nodeId?: string;
  /** Bytes of all recordings together; at the bound a growing one is treated as past its size limit. Default 256 MiB. */
  readonly recordingsBytesMax?: number;
  /** Longest time for which a complete flight can be joined while its store isn't settled; default 10 s. */
  readonly lingerMs?: number;
  /** A reader that takes nothing for so long while it holds up others is cut; default 5 s. */
  readonly slowReaderMs?: number;
  /** The same for a reader that holds up nobody but the lead; default 120 s. */
  readonly stuckReaderMs?: number;
}

/** One request's wish to take part in a flight. */
export interface FlightJoin {
  /** Key and ledger position: requests with equal ids may share an answer. */
  readonly flightId: string;
  /** The participant's own signal: aborting it makes the participant leave. */
  readonly signal: AbortSignal;
  /** Calls the model, should this request become the leader or be alone. */
  readonly lead: Lead;
  /** Shares nothing: the request calls the model itself, and nobody joins it. */
  readonly alone?: boolean;
  /** A flight that began longer ago is not joined; any will do when absent. */
  readonly ageMsMax?: number;
}

/**
 * Single flight on this node: at most one shared model call per id, whose answer every participant reads as it comes. The
 * first request for an id asks the id's home, an actor, for leave to lead; when the home doesn't answer in time, it leads
 * all the same (`alone`, by cause), and requests on this node still join it.
 *
 * Metrics: `reprise_flights_total` by end (`completed`, `failed`, `aborted`; `alone-<cause>` for those without the home's
 * leave, whatever their end), `reprise_flights_live`, `reprise_flight_followers_total`.
 */
export class Flights {
  readonly #actors: ActorSystem;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #options: FlightsOptions;
  readonly #node: string;
  readonly #limits: FlightLimits;
  readonly #keeper: FlightKeeper;
  readonly #recordingsBytesMax: number;
  /** Flights that can be found by their id. */
  readonly #shared = new ChurnMap<string, FlightRun>();
  readonly #live = new ChurnMap<number, FlightRun>();
  readonly #liveGauge: Gauge;
  readonly #followers: Counter;
  readonly #ends = new Map<string, Counter>();
  #sharedLive = 0;
  #recordingsBytes = 0;
  #made = 0;
  #stopped = false;

  constructor(
    deps: { readonly actors: ActorSystem; readonly clock: Clock; readonly telemetry: Telemetry },
    options: FlightsOptions,
  ) {
    this.#actors = deps.actors;
    this.#clock = deps.clock;
    this.#telemetry = deps.telemetry;
    this.#options = options;
    this.#node = options.nodeId ?? 'local';
    this.#recordingsBytesMax = options.recordingsBytesMax ?? 256 * MIB;
    this.#limits = {
      entryBytesMax: options.entryBytesMax,
      streamWindowBytes: options.streamWindowBytes,
      abandoned: options.abandoned,
      lingerMs: options.lingerMs ?? 10_000,
      slowReaderMs: options.slowReaderMs ?? 5_000,
      stuckReaderMs: options.stuckReaderMs ?? 120_000,
    };
    this.#keeper = {
      fits: (bytes) => this.#recordingsBytes + bytes <= this.#recordingsBytesMax,
      held: (bytes) => this.#held(bytes),
      ended: (flight, end) => this.#ended(flight, end),
      closed: (flight) => this.#closed(flight),
      landed: (flight) => this.#landed(flight),
    };
    this.#liveGauge = deps.telemetry.gauge('reprise_flights_live');
    this.#followers = deps.telemetry.counter('reprise_flight_followers_total');
    deps.actors.register<FlightMessage, FlightTicket>(HOME, () => new FlightHome(deps.clock, TICKET_MS), {
      mailboxMax: HOME_MAILBOX_MAX,
      idleMs: HOME_IDLE_MS,
      activationsMax: options.flightsMax,
    });
  }

  /** Flights of which something still runs or can be joined, those of a single participant included. */
  get live(): number {
    return this.#live.size;
  }

  /** Bytes of all recordings that are held. */
  get recordingsBytes(): number {
    return this.#recordingsBytes;
  }

  /**
   * Takes part in the flight of an id, or begins it. Waits for nothing but, when it begins one, the home (at most
   * `joinDeadlineMs`). Fails with `cancelled` when the signal is aborted already, with `draining` after `stop`. Every
   * participant must be read to its end or leave.
   */
  async join(input: FlightJoin): Promise<Participant> {
    if (input.signal.aborted) {
      throw new RepriseError('cancelled', 'The request was cancelled.', { cause: input.signal.reason });
    }
    if (this.#stopped) throw new RepriseError('draining', 'The node is stopping.');
    if (input.alone === true) return this.#callAlone(input, 'asked');
    const found = this.#shared.get(input.flightId);
    if (found?.overLimit === true) return this.#callAlone(input, 'over-limit');
    if (found !== undefined && this.#clock.monotonicMs() - found.openedAtMs > (input.ageMsMax ?? Infinity)) {
      return this.#callAlone(input, 'too-old');
    }
    if (found !== undefined) {
      this.#followers.add();
      return found.attach('follower', input.signal);
    }
    if (this.#sharedLive >= this.#options.flightsMax) return this.#callAlone(input, 'flights-full');
    return this.#lead(input);
  }

  /** Refuses new joins and ends every flight with `draining`. */
  stop(): void {
    this.#stopped = true;
    for (const flight of this.#live.snapshot()) flight.abort(new RepriseError('draining', 'The node is stopping.'));
  }

  async #lead(input: FlightJoin): Promise<Participant> {
    const flight = this.#open(input.flightId, true);
    this.#shared.set(flight.id, flight);
    const participant = flight.attach('leader', input.signal);
    const cause = await this.#askHome(flight);
    if (cause !== '') {
      flight.aloneCause = cause;
      participant.beAlone(cause);
    }
    flight.start(input.lead);
    return participant;
  }

  #callAlone(input: FlightJoin, cause: AloneCause): Participant {
    const flight = this.#open(input.flightId, false);
    flight.aloneCause = cause;
    const participant = flight.attach('alone', input.signal);
    participant.beAlone(cause);
    flight.start(input.lead);
    return participant;
  }

  #open(id: string, shared: boolean): FlightRun {
    this.#made += 1;
    const flight = new FlightRun(this.#keeper, this.#clock, this.#limits, { id, number: this.#made, shared });
    this.#live.set(flight.number, flight);
    if (shared) this.#sharedLive += 1;
    this.#liveGauge.set(this.#live.size);
    return flight;
  }

  /** Asks for leave to lead; empty when it was given, else why the flight goes on without. */
  async #askHome(flight: FlightRun): Promise<AloneCause> {
    const message: FlightMessage = { kind: 'join', node: this.#node, flight: flight.number };
    try {
      const ticket = await this.#actors.call<FlightTicket>(HOME, flight.id, message, this.#deadline());
      return ticket.kind === 'lead' ? '' : 'led-elsewhere';
    } catch (error) {
      return HOME_FAILURES.get(toRepriseError(error).code) ?? 'home-failed';
    }
  }

  /** Gives the ticket back. Should that fail, the home takes it back itself in time. */
  #leaveHome(flight: FlightRun): void {
    const message: FlightMessage = { kind: 'leave', node: this.#node, flight: flight.number };
    this.#actors.call<FlightTicket>(HOME, flight.id, message, this.#deadline()).catch((error: unknown) => {
      if (hasCode(error, 'actor_stopped')) return;
      this.#telemetry.counter('reprise_background_failures_total', 'flight-leave').add();
    });
  }

  #deadline(): CallOptions {
    return { deadlineAtMs: this.#clock.monotonicMs() + this.#options.joinDeadlineMs };
  }

  #held(bytes: number): void {
    this.#recordingsBytes += bytes;
    assert(this.#recordingsBytes >= 0, 'recordings let go of more bytes than they held');
  }

  #ended(flight: FlightRun, end: FlightEnd): void {
    const label = flight.aloneCause === '' ? end : `alone-${flight.aloneCause}`;
    let counter = this.#ends.get(label);
    if (counter === undefined) {
      counter = this.#telemetry.counter('reprise_flights_total', label);
      this.#ends.set(label, counter);
    }
    counter.add();
  }

  #closed(flight: FlightRun): void {
    if (!flight.shared) return;
    this.#shared.delete(flight.id);
    this.#leaveHome(flight);
  }

  #landed(flight: FlightRun): void {
    const landed = this.#live.delete(flight.number);
    assert(landed, 'a flight landed twice');
    if (flight.shared) this.#sharedLive -= 1;
    this.#liveGauge.set(this.#live.size);
  }
}
