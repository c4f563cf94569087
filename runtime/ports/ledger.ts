/** A ledger's life: a new one begins when the head was lost or forked. Higher counter wins; equal counters with other randoms are a fork. */
export interface Incarnation {
  readonly counter: number;
  /** 16 hex characters. */
  readonly random: string;
}

/** Where the ledger stood, as known to a node at one moment. */
export interface LedgerPosition {
  readonly incarnation: Incarnation;
  readonly sequence: number;
  /** Nonce of the head record at `sequence`; 0 for sequence 0. Tells two histories with equal sequences apart. */
  readonly nonce: number;
}

/** One invalidation in the head's list. */
export interface LedgerRecord {
  readonly name: string;
  readonly kind: InvalidationKind;
  readonly sequence: number;
  readonly nonce: number;
}

/** The grid record `head`, changed by compare-and-set only. */
export interface LedgerHead {
  readonly incarnation: Incarnation;
  readonly sequence: number;
  /** Entries below this sequence are invalid, whatever their names. */
  readonly floor: number;
  /** The last 256 records, oldest first. */
  readonly records: readonly LedgerRecord[];
}

/** A name's mark: the sequences of its last hard and soft invalidation, 0 for none. */
export interface LedgerMark {
  readonly hard: number;
  readonly soft: number;
}

export type InvalidationKind = 'hard' | 'soft';
