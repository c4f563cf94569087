/** What is known of an answer before its first byte. */
export interface FlightHead {
  readonly kind: 'body' | 'stream';
  readonly contentType: string;
  /** Names this run of the call; participants of one flight see the same one. */
  readonly generation: string;
  /** Wall clock at the start of the model call: the answer's age counts from here. */
  readonly calledAtMs: number;
}

/** Where a lead puts its answer. After the flight was aborted `begin` and `push` throw `cancelled`. */
export interface FlightSink {
  /** Called once, before the first `push`. */
  begin(head: FlightHead): void;
  /**
   * Adds a chunk, which nobody may write to afterwards. A promise means that the lead is too far ahead of its slowest
   * reader: push again when it has resolved. Only past the size limit.
   */
  push(chunk: Uint8Array): void | Promise<void>;
  /** True once the recording is past its size limit: it is no longer whole and can't be stored. */
  readonly overLimit: boolean;
  /** The whole recording so far, in one piece; undefined once over the limit. */
  recording(): Uint8Array | undefined;
}

/**
 * A model call, run once for all participants of a flight; its deadline is its own. Resolves when the answer is complete;
 * `settled` resolves when its store did, until which late joiners still get the recording.
 */
export type Lead = (sink: FlightSink, signal: AbortSignal) => Promise<{ readonly settled: Promise<void> }>;

/**
 * What a participant is. `leader`: its request is the one that the model is asked. `follower`: joined another's call.
 * `alone`: the model is called without the home's consent, or outside any flight; `cause` says why.
 */
export type ParticipantRole = 'leader' | 'follower' | 'alone';

/** Why a participant is `alone`; empty for the other roles. */
export type AloneCause =
  | ''
  /** The request forbids sharing. */
  | 'asked'
  /** The home didn't answer within the join deadline. */
  | 'join-deadline'
  | 'mailbox-full'
  /** The home has too many live flights. */
  | 'home-full'
  /** The home failed in another way. */
  | 'home-failed'
  /** Another node leads, and its recording can't be read from here. */
  | 'led-elsewhere'
  /** As many flights are under way as are allowed. */
  | 'flights-full'
  /** The flight's recording is past its size limit, so that a newcomer couldn't be given its beginning. */
  | 'over-limit'
  /** The flight began longer ago than this request's answer may be old. */
  | 'too-old';

/** One request's part in a flight. Its reading never affects another's, but for the window past the size limit. */
export interface Participant {
  readonly role: ParticipantRole;
  readonly cause: AloneCause;
  /** Resolves when the answer begins. Rejects with the model's error, or `cancelled` after this participant left. */
  head(): Promise<FlightHead>;
  /**
   * The answer's chunks from the first one on, to be read once, one at a time. Ends when the answer is complete. Throws the
   * model's error when it is cut, `model_stream_truncated` when this reader held up others for too long, `cancelled` after
   * the participant's signal was aborted or it left. `return` leaves.
   */
  chunks(): AsyncIterableIterator<Uint8Array>;
  /** Takes no more part; idempotent. The last one to leave aborts the call, unless abandoned calls are finished. */
  leave(): void;
}
