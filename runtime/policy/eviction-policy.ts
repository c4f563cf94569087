/** A key that a policy holds, as the handle that its owner keeps beside the value. */
export interface Resident<K = string> {
  readonly key: K;
  /** What the key is charged with, bytes. */
  readonly bytes: number;
  /** The owner's; no policy looks at it. What its owner keeps here it takes away when the key leaves. */
  value: unknown;
}

/** What became of an insert or an update. */
export interface Admission<K = string> {
  /** The handle; undefined when the policy refused the key, which is then not resident. */
  readonly resident: Resident<K> | undefined;
  /** Residents that had to go, in the order in which they went; they are no longer resident. */
  readonly victims: readonly Resident<K>[];
}

/** What an owner may tell of a key beside its size; a policy that has no use for a hint passes over it. */
export interface PolicyHints<K = string> {
  /** What it takes to make the value again, in any one unit that all keys share; 1 where it isn't said. */
  readonly cost?: number;
  /** The key that comes before this one in its chain of blocks. */
  readonly parent?: K;
  /** True: a ghost of this policy held the key, so that it is no newcomer. */
  readonly isKnown?: boolean;
}

/**
 * Decides which keys a byte-bounded cache keeps: synchronous, without clock or randomness. The owner maps keys to
 * values and handles; the policy never needs a look-up on a hit. `bytes` never exceeds `bytesMax`, so an owner that
 * drops the victims before it adds its value is never above its bound either. What a policy remembers of keys that
 * aren't resident is bounded by a multiple of what is resident.
 */
export interface EvictionPolicy<K = string> {
  readonly bytesMax: number;
  /** Sum of the residents' bytes. */
  readonly bytes: number;
  /** Number of residents. */
  readonly size: number;
  /** A resident was asked for and found. */
  touch(resident: Resident<K>): void;
  /** A key was asked for that isn't resident; where the answer is stored, `insert` follows. */
  miss(key: K): void;
  /** Takes in a key that isn't resident. A key with more than `bytesMax` is refused without victims. */
  insert(key: K, bytes: number, hints?: PolicyHints<K>): Admission<K>;
  /** A resident's value was replaced; counts as an access. When it is refused it is no longer resident. */
  update(resident: Resident<K>, bytes: number): Admission<K>;
  /** The owner dropped a resident for reasons of its own (expiry, invalidation): no trace of it is kept. */
  remove(resident: Resident<K>): void;
  /** Forgets everything, history included. */
  clear(): void;
}

/** Makes a policy for a bound. */
export type PolicyFactory = (bytesMax: number) => EvictionPolicy;
