/** A candidate that was nearly served, or nearly not; for people to review. It holds texts. */
export interface NearMiss {
  /** Wall clock. */
  readonly atMs: number;
  readonly tenant: string;
  readonly namespace: string;
  readonly domain: string;
  readonly entryId: string;
  /** Stored and asked text. */
  readonly a: string;
  readonly b: string;
  readonly similarity: number;
  readonly similarityMin: number;
  readonly probability: number;
  readonly probabilityMin: number;
  readonly vetoes: readonly string[];
  /** What became of it: `served`, `vetoed`, … */
  readonly reason: string;
}

/** Where near misses are written down. */
export interface NearMissLog {
  /** Never waits and never fails; false when there is no room at the moment. */
  write(miss: NearMiss): boolean;
  /** Writes what is left. */
  close(): Promise<void>;
}
