import { CancelSignal } from '../ports/cancel-signal.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { FlightView } from './flight-participant.ts';
import type { AloneCause, FlightHead, FlightSink, Lead, ParticipantRole } from './flight-types.ts';
import { ModelError, RepriseError, assert, hasCode, toRepriseError } from '../errors.ts';
import { FlightParticipant } from './flight-participant.ts';
import { FlightRecording } from './flight-recording.ts';

/** The limits of one flight. */
export interface FlightLimits {
  /** Recordings are kept whole up to this size. */
  readonly entryBytesMax: number;
  /** Past that size: how far the lead may be ahead of the slowest reader. */
  readonly streamWindowBytes: number;
  readonly abandoned: 'abort' | 'finish';
  /** Longest time for which a complete flight waits for its store. */
  readonly lingerMs: number;
  readonly slowReaderMs: number;
  readonly stuckReaderMs: number;
}

export type FlightEnd = 'completed' | 'failed' | 'aborted';

/** What a flight asks of, and tells, those that keep it. */
export interface FlightKeeper {
  /** True when this many more bytes fit the bound over all recordings. */
  fits(bytes: number): boolean;
  /** The bytes that the flight holds changed by this much. */
  held(bytes: number): void;
  /** Its outcome is known. */
  ended(flight: FlightRun, end: FlightEnd): void;
  /** Nobody may join any more; after `ended`. */
  closed(flight: FlightRun): void;
  /** Nothing of it runs any more; after `closed` and the lead's return. */
  landed(flight: FlightRun): void;
}

interface Room {
  readonly promise: Promise<void>;
  readonly open: () => void;
  readonly sinceMs: number;
  timer: Timer;
}

/**
 * One flight: a lead that runs in the background under a signal of the flight's own, a recording, and its participants.
 * - F1. The lead runs at most once, and not at all when everybody left before it began.
 * - F2. The flight's signal is aborted by the last participant to leave (unless abandoned calls are finished) or by the
 *   node's stop; whoever leaves, leader or follower, changes nothing for those that stay.
 * - F3. A participant joins only while the recording is whole, so that each sees every chunk from the first one on.
 * - F4. Past the size limit a slow reader holds up the lead. It is cut when it has taken nothing for `slowReaderMs` while
 *   another waits for more, or for `stuckReaderMs` while nobody else does.
 */
export class FlightRun implements FlightView, FlightSink {
  readonly id: string;
  /** Tells the flights of one node apart. */
  readonly number: number;
  /** False for a call of a single participant, which nobody can find. */
  readonly shared: boolean;
  /** Why it runs without the home's consent, if it does. */
  aloneCause: AloneCause = '';
  readonly recorded = new FlightRecording();
  /** Monotonic. */
  readonly openedAtMs: number;
  readonly #clock: Clock;
  readonly #limits: FlightLimits;
  readonly #keeper: FlightKeeper;
  readonly #signal = new CancelSignal();
  readonly #participants = new Set<FlightParticipant>();
  #phase: 'waiting' | 'running' | FlightEnd = 'waiting';
  #closed = false;
  #leading = false;
  #overLimit = false;
  #heldBytes = 0;
  #head: FlightHead | undefined = undefined;
  #error: Error | undefined = undefined;
  #room: Room | undefined = undefined;
  #linger: Timer | undefined = undefined;

  constructor(
    keeper: FlightKeeper,
    clock: Clock,
    limits: FlightLimits,
    identity: { readonly id: string; readonly number: number; readonly shared: boolean },
  ) {
    this.#keeper = keeper;
    this.#clock = clock;
    this.#limits = limits;
    this.id = identity.id;
    this.number = identity.number;
    this.shared = identity.shared;
    this.openedAtMs = clock.monotonicMs();
  }

  get head(): FlightHead | undefined {
    return this.#head;
  }

  get error(): Error | undefined {
    return this.#error;
  }

  get state(): 'open' | 'completed' | 'broken' {
    if (this.#phase === 'completed') return 'completed';
    return this.#phase === 'failed' || this.#phase === 'aborted' ? 'broken' : 'open';
  }

  get overLimit(): boolean {
    return this.#overLimit;
  }

  attach(role: ParticipantRole, signal: AbortSignal): FlightParticipant {
    assert(!this.#closed && !this.#overLimit, 'a participant joined a flight that takes none');
    const participant = new FlightParticipant(this, role, signal);
    this.#participants.add(participant);
    participant.wake();
    return participant;
  }

  /** Runs the lead in the background, unless the flight was aborted before. */
  start(lead: Lead): void {
    if (this.#phase !== 'waiting') return;
    this.#phase = 'running';
    this.#leading = true;
    void this.#run(lead);
  }

  /** Ends the flight for everybody in it. */
  abort(error: Error): void {
    if (this.state !== 'open') return;
    this.#break('aborted', error);
    this.#signal.cancel(error);
  }

  begin(head: FlightHead): void {
    this.#assertOpen();
    assert(this.#head === undefined, 'a lead began twice');
    this.#head = head;
    this.#wakeAll();
  }

  push(chunk: Uint8Array): void | Promise<void> {
    this.#assertOpen();
    assert(this.#head !== undefined, 'a lead pushed before it began');
    if (chunk.length === 0) return undefined;
    if (!this.#overLimit && !this.#fits(chunk.length)) {
      this.#overLimit = true;
      this.recorded.startTrimming();
    }
    this.recorded.append(chunk);
    this.#wakeAll();
    this.#account();
    if (!this.#overLimit || this.recorded.heldBytes <= this.#limits.streamWindowBytes) return undefined;
    this.#room ??= this.#makeRoom();
    return this.#room.promise;
  }

  recording(): Uint8Array | undefined {
    return this.recorded.whole();
  }

  taken(participant: FlightParticipant): void {
    if (!this.#overLimit) return;
    participant.takenAtMs = this.#clock.monotonicMs();
    this.#account();
    this.#openRoom();
  }

  left(participant: FlightParticipant): void {
    this.#participants.delete(participant);
    this.#account();
    this.#openRoom();
    if (this.#participants.size > 0 || this.state !== 'open') return;
    if (this.#phase === 'running' && this.#limits.abandoned === 'finish') return;
    this.abort(new RepriseError('cancelled', 'Everybody left the flight.'));
  }

  async #run(lead: Lead): Promise<void> {
    try {
      const { settled } = await lead(this, this.#signal);
      this.#complete(settled);
    } catch (error) {
      if (this.#phase === 'running') this.#break('failed', this.#reason(error));
    }
    this.#leading = false;
    this.#land();
  }

  #complete(settled: Promise<void>): void {
    const close = (): void => this.#close();
    settled.then(close, close);
    if (this.#phase !== 'running') return;
    assert(this.#head !== undefined, 'a lead ended without an answer');
    this.#phase = 'completed';
    this.#keeper.ended(this, 'completed');
    this.#wakeAll();
    this.#linger = this.#clock.setTimer(this.#limits.lingerMs, close);
  }

  #break(end: 'failed' | 'aborted', error: Error): void {
    this.#phase = end;
    this.#error = error;
    this.#keeper.ended(this, end);
    this.#close();
    this.#room?.timer.cancel();
    this.#room?.open();
    this.#room = undefined;
    this.#wakeAll();
  }

  /** A participant must not take another's cancellation for its own, so a lead that ends with one has failed. */
  #reason(error: unknown): RepriseError {
    const known = toRepriseError(error);
    if (!hasCode(known, 'cancelled')) return known;
    return new ModelError('model_unavailable', 'The model call was cancelled from outside.', { cause: error });
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#linger?.cancel();
    this.#keeper.closed(this);
    this.#account();
    this.#land();
  }

  #land(): void {
    if (this.#closed && !this.#leading) this.#keeper.landed(this);
  }

  #fits(bytes: number): boolean {
    return this.recorded.bytes + bytes <= this.#limits.entryBytesMax && this.#keeper.fits(bytes);
  }

  /** What is held is let go when nobody can come to read it. */
  #account(): void {
    const heldBytes = this.#closed && this.#participants.size === 0 ? 0 : this.recorded.heldBytes;
    if (heldBytes === this.#heldBytes) return;
    this.#keeper.held(heldBytes - this.#heldBytes);
    this.#heldBytes = heldBytes;
  }

  #assertOpen(): void {
    if (this.#phase === 'running') return;
    if (this.#phase === 'aborted') throw new RepriseError('cancelled', 'The flight was aborted.');
    assert(false, 'a lead went on after its end');
  }

  #wakeAll(): void {
    for (const participant of this.#participants) participant.wake();
  }

  #makeRoom(): Room {
    let open = (): void => undefined;
    const promise = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { promise, open, sinceMs: this.#clock.monotonicMs(), timer: this.#watchReaders() };
  }

  #openRoom(): void {
    if (this.#room === undefined || this.recorded.heldBytes > this.#limits.streamWindowBytes) return;
    this.#room.timer.cancel();
    this.#room.open();
    this.#room = undefined;
  }

  #watchReaders(): Timer {
    return this.#clock.setTimer(this.#limits.slowReaderMs, () => {
      this.#cutSlowReaders();
      if (this.#room !== undefined) this.#room.timer = this.#watchReaders();
    });
  }

  #cutSlowReaders(): void {
    const slowestFirst = [...this.#participants].sort((a, b) => a.position - b.position);
    const limitMs = slowestFirst.some((reader) => reader.starved)
      ? this.#limits.slowReaderMs
      : this.#limits.stuckReaderMs;
    const nowMs = this.#clock.monotonicMs();
    for (const reader of slowestFirst) {
      if (this.#room === undefined) return;
      if (nowMs - Math.max(reader.takenAtMs, this.#room.sinceMs) < limitMs) return;
      reader.cut(
        new ModelError('model_stream_truncated', 'This reader took nothing for too long while others waited.'),
      );
    }
  }
}
