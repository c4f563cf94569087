/** A key that a policy holds, as the handle that its owner keeps beside the value. */
export interface Resident {
  readonly key: string;
  /** What the key is charged with, bytes. */
  readonly bytes: number;
}

/** What became of an insert or an update. */
export interface Admission {
  /** The handle; undefined when the policy refused the key, which is then not resident. */
  readonly resident: Resident | undefined;
  /** Residents that had to go, in the order in which they went; they are no longer resident. */
  readonly victims: readonly Resident[];
}

/**
 * Decides which keys a byte-bounded cache keeps: synchronous, without clock or randomness. The owner maps keys to
 * values and handles; the policy never needs a look-up on a hit. `bytes` never exceeds `bytesMax`, so an owner that
 * drops the victims before it adds its value is never above its bound either.
 */
export interface EvictionPolicy {
  readonly bytesMax: number;
  /** Sum of the residents' bytes. */
  readonly bytes: number;
  /** Number of residents. */
  readonly size: number;
  /** A resident was asked for and found. */
  touch(resident: Resident): void;
  /** A key was asked for that isn't resident: history and frequency sketches learn from it. */
  miss(key: string): void;
  /** Takes in a key that isn't resident. A key with more than `bytesMax` is refused without victims. */
  insert(key: string, bytes: number): Admission;
  /** A resident's value was replaced; counts as an access. When it is refused it is no longer resident. */
  update(resident: Resident, bytes: number): Admission;
  /** The owner dropped a resident for reasons of its own (expiry, invalidation): no trace of it is kept. */
  remove(resident: Resident): void;
  /** Forgets everything, history included. */
  clear(): void;
}

/** Makes a policy for a bound. */
export type PolicyFactory = (bytesMax: number) => EvictionPolicy;
