import type { FlightRecording } from './flight-recording.ts';
import type { AloneCause, FlightHead, Participant, ParticipantRole } from './flight-types.ts';
import { RepriseError, assert } from '../errors.ts';

/** What a participant sees of its flight. */
export interface FlightView {
  readonly recorded: FlightRecording;
  readonly head: FlightHead | undefined;
  /** `completed`: nothing more comes; `broken`: nothing more comes, and readers get `error` after the last chunk. */
  readonly state: 'open' | 'completed' | 'broken';
  readonly error: Error | undefined;
  /** Told after each chunk that a participant took. */
  taken(participant: FlightParticipant): void;
  /** Told once, when the participant takes no more part; it has left the recording by then. */
  left(participant: FlightParticipant): void;
}

interface Waiter<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * One request's reading of a flight.
 * - It holds a place in the recording from its making until it has read all, was cut or left; nothing afterwards.
 * - It never ends normally unless it was given every chunk of a complete answer.
 */
export class FlightParticipant implements Participant, AsyncIterableIterator<Uint8Array> {
  /** Monotonic instant of the last chunk that it took past the size limit; kept by the flight. */
  takenAtMs = 0;
  readonly #flight: FlightView;
  readonly #signal: AbortSignal;
  #role: ParticipantRole;
  #cause: AloneCause = '';
  #position: number;
  #state: 'reading' | 'finished' | 'left' | 'cut' = 'reading';
  #error: Error | undefined = undefined;
  #iterated = false;
  #returned = false;
  #headWaiters: Waiter<FlightHead>[] = [];
  #chunkWaiter: Waiter<IteratorResult<Uint8Array, undefined>> | undefined = undefined;

  constructor(flight: FlightView, role: ParticipantRole, signal: AbortSignal) {
    this.#flight = flight;
    this.#role = role;
    this.#signal = signal;
    this.#position = flight.recorded.enter();
    signal.addEventListener('abort', this.#onAbort);
  }

  get role(): ParticipantRole {
    return this.#role;
  }

  get cause(): AloneCause {
    return this.#cause;
  }

  /** Position of the chunk that it takes next. */
  get position(): number {
    return this.#position;
  }

  /** True while it waits for a chunk that isn't there. */
  get starved(): boolean {
    return this.#chunkWaiter !== undefined;
  }

  /** Makes it one whose call is shared without the home's leave, or not at all. */
  beAlone(cause: AloneCause): void {
    this.#role = 'alone';
    this.#cause = cause;
  }

  head(): Promise<FlightHead> {
    if (this.#broken) return Promise.reject(this.#reason());
    if (this.#flight.head !== undefined) return Promise.resolve(this.#flight.head);
    return new Promise((resolve, reject) => this.#headWaiters.push({ resolve, reject }));
  }

  chunks(): AsyncIterableIterator<Uint8Array> {
    assert(!this.#iterated, 'the chunks of a participant are read twice');
    this.#iterated = true;
    return this;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    assert(this.#chunkWaiter === undefined, 'a participant asks for two chunks at once');
    if (this.#returned || this.#state === 'finished') return Promise.resolve(DONE);
    if (this.#broken) return Promise.reject(this.#reason());
    if (this.#position < this.#flight.recorded.end) return Promise.resolve({ done: false, value: this.#take() });
    return new Promise((resolve, reject) => {
      this.#chunkWaiter = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#returned = true;
    this.leave();
    return Promise.resolve(DONE);
  }

  leave(): void {
    if (this.#state === 'reading') this.#end('left', undefined);
  }

  /** Ends the reading with an error of its own. */
  cut(error: Error): void {
    if (this.#state === 'reading') this.#end('cut', error);
  }

  /** Gives it what the flight has for it now. */
  wake(): void {
    if (this.#state !== 'reading') return;
    const { head } = this.#flight;
    if (head !== undefined) for (const waiter of this.#headWaiters.splice(0)) waiter.resolve(head);
    const waiter = this.#chunkWaiter;
    if (waiter === undefined || this.#position === this.#flight.recorded.end) {
      this.#endIfOver();
      return;
    }
    this.#chunkWaiter = undefined;
    waiter.resolve({ done: false, value: this.#take() });
  }

  readonly #onAbort = (): void => {
    this.leave();
  };

  #take(): Uint8Array {
    const chunk = this.#flight.recorded.at(this.#position);
    this.#position = this.#flight.recorded.advance(this.#position);
    this.#flight.taken(this);
    this.#endIfOver();
    return chunk;
  }

  /** Ends a reading that has taken the last chunk there will be. */
  #endIfOver(): void {
    const { state, error, recorded } = this.#flight;
    if (state === 'open' || this.#position < recorded.end) return;
    assert(state === 'completed' || error !== undefined, 'a broken flight has an error');
    this.#end(error === undefined ? 'finished' : 'cut', error);
  }

  #end(state: 'finished' | 'left' | 'cut', error: Error | undefined): void {
    this.#state = state;
    this.#error = error;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#flight.recorded.exit(this.#position);
    const waiter = this.#chunkWaiter;
    this.#chunkWaiter = undefined;
    if (state === 'finished') waiter?.resolve(DONE);
    else waiter?.reject(this.#reason());
    for (const headWaiter of this.#headWaiters.splice(0)) headWaiter.reject(this.#reason());
    this.#flight.left(this);
  }

  get #broken(): boolean {
    return this.#state === 'left' || this.#state === 'cut';
  }

  /** Why it reads no more. Made when somebody wants to know: most participants leave without being asked. */
  #reason(): Error {
    this.#error ??= new RepriseError('cancelled', 'The request was cancelled.', { cause: this.#signal.reason });
    return this.#error;
  }
}
