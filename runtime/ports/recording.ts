/** The name of the record format; a reader refuses any other. */
export const RECORD_SCHEMA = 'reprise/record/v1';

/** First line of a recording. */
export interface RecordHeader {
  readonly schema: typeof RECORD_SCHEMA;
  /** Wall clock, ISO 8601; `tMs` counts from here. */
  readonly startedAt: string;
  /** Id of the embedder that made the vectors and similarities; empty: none. */
  readonly embedder: string;
  /** True when names and keys are hashes with a salt that was drawn for this recording and is kept nowhere. */
  readonly hashed: boolean;
}

/** A candidate that semantic matching looked at. */
export interface RecordedCandidate {
  readonly key: string;
  readonly similarity: number;
  readonly probability: number;
  /** Guards that vetoed it. */
  readonly vetoes: readonly string[];
}

/** One request of a recording, or one item of an embeddings batch; one line each, in the order of arrival. */
export interface RecordedRequest {
  /** Arrival, ms since the recording began; never falls. */
  readonly tMs: number;
  readonly tenant: string;
  readonly namespace: string;
  readonly operation: string;
  /** Effective model and its version, in clear. */
  readonly model: string;
  readonly version: string;
  readonly key: string;
  /** Empty where the request takes no part in semantic reuse. */
  readonly scope: string;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Of the answer's payload. */
  readonly bytes: number;
  /** From the start of the model call that made the answer, whoever led it and whenever; 0: unknown. */
  readonly firstTokenMs: number;
  readonly modelMs: number;
  /** What the answer cost once, in the currency of the configured prices. */
  readonly cost: number;
  /** How long the answer may be kept; null: for ever. */
  readonly ttlMs: number | null;
  /** `hit-exact-l1`, `hit-semantic`, …, `miss`, `bypass`, `refused`, `cancelled`, `error`. */
  readonly outcome: string;
  readonly candidates: readonly RecordedCandidate[];
  /** Asked text and its vector (base64 of little-endian float32); only where the recording was asked to hold them. */
  readonly text?: string;
  readonly vector?: string;
}

/** What a recording is asked to hold beside what every one holds. */
export interface RecordingTerms {
  readonly texts: boolean;
  readonly vectors: boolean;
}

/** A recording under way: whoever holds it takes its lines as they come. */
export interface Recording {
  /** Whole lines, the header first; ends after `stop`. Taking them slowly loses requests, and holds none up. */
  readonly lines: AsyncIterable<string>;
  /** Ends it; requests that are still running aren't in it. */
  stop(): void;
}

export interface RecordingStatus {
  readonly isRecording: boolean;
  /** Of the recording under way, else of the last one. */
  readonly written: number;
  /** Requests that are missing, because they were taken too slowly or others waited for them too long. */
  readonly dropped: number;
}

/** Makes recordings of what a node is asked, one at a time. */
export interface Recordings {
  /** Fails with `overloaded` while there is one, and with `permission_denied` on texts and vectors that the node doesn't give. */
  start(terms: RecordingTerms): Recording;
  status(): RecordingStatus;
  /** Ends the one that is under way. */
  stop(): void;
}
