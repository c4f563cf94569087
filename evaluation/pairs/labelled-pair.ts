/** Two texts, and what is known of them. */
export interface LabelledPair {
  /** The stored request. */
  readonly a: string;
  /** The asked request. */
  readonly b: string;
  /** True when the answer to `a` may be served for `b`; null: not labelled. */
  readonly same: boolean | null;
  /** null: not given. */
  readonly domain: string | null;
  /** null: not given. */
  readonly category: string | null;
  /** Line of the file that the row ends on, 1-based. */
  readonly line: number;
}

/** All pairs of one file. */
export interface PairFile {
  /** As it was named. */
  readonly path: string;
  readonly pairs: readonly LabelledPair[];
  /** SHA-256 of the file's bytes, lower-case hex. */
  readonly hash: string;
}
