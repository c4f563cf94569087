import type { CallOptions } from '../ports/call-options.ts';

/** One turn as its actor sees it: the caller's deadline and signal, to be handed on to whatever the turn awaits. */
export interface Turn extends CallOptions {
  /** Asks for passivation right after this turn, if no message waits then. For an actor that knows that it is done. */
  passivateAfter(): void;
}

/**
 * The code behind one actor id. Messages and replies are plain data (or, for a reply, an async iterable of it): a turn may
 * have been called from another node. A lost or doubled activation may cost work but never change an answer, so state is
 * a cache of what can be rebuilt.
 */
export interface Actor<Message = unknown, Reply = unknown> {
  /** Handles one message. Returning without a promise ends the turn at once; a promise holds the activation until it settles. */
  receive(message: Message, turn: Turn): Reply | Promise<Reply>;
  /** Tells the actor that its activation is over. Synchronous: nothing may wait for it. */
  passivated?(): void;
  /** True while the actor holds something that idleness mustn't lose; looked at when it would be passivated. */
  readonly busy?: boolean;
}

/** Makes the actor of one key, at its first message. Slow preparation belongs into the first turn. */
export type ActorFactory<Message = unknown, Reply = unknown> = (key: string) => Actor<Message, Reply>;

/** The bounds of one actor type. */
export interface ActorTypeOptions {
  /** Messages that may wait for one activation, beside the one in its turn; past it a call fails with `mailbox_full`. */
  readonly mailboxMax: number;
  /** Time without a message after which an activation is passivated. */
  readonly idleMs: number;
  /** Live activations of the type; past it the idlest is passivated, or the call fails with `overloaded` when none is idle. */
  readonly activationsMax: number;
}
