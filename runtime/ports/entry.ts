import type { Operation } from './model.ts';
import type { LedgerPosition } from './ledger.ts';

/** Tokens as the upstream reported them; 0 where it reported none. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** Where an answer came from; for Explain and logs, never part of a decision. */
export interface Provenance {
  readonly node: string;
  readonly upstream: string;
  readonly systemFingerprint: string;
  /** Duration of the model call, milliseconds. */
  readonly modelMs: number;
  readonly firstTokenMs: number;
}

/**
 * An immutable stored answer. `body`: the payload is the reply's bytes. `stream`: the payload is the recorded events,
 * each framed as `data: <event>\n\n`, without the terminal `[DONE]`.
 */
export interface Entry {
  readonly key: string;
  readonly operation: Operation;
  readonly kind: 'body' | 'stream';
  readonly contentType: string;
  readonly payload: Uint8Array;
  /** Byte range in a stream's payload of the event that carries usage only; both 0 when there is none. */
  readonly usageEventStart: number;
  readonly usageEventEnd: number;
  readonly usage: Usage;
  /** What the call cost, in the currency of the configured prices. */
  readonly cost: number;
  /** Wall clock at the start of the model call; age counts from here. */
  readonly calledAtMs: number;
  /** Absolute, wall clock. Infinity: never. */
  readonly expiresAtMs: number;
  readonly graceMs: number;
  /** Ledger position at the start of the request. */
  readonly position: LedgerPosition;
  readonly tenant: string;
  readonly namespace: string;
  readonly tags: readonly string[];
  readonly model: string;
  readonly modelVersion: string;
  /** Scope hash, hex; empty when the entry takes no part in semantic reuse. */
  readonly scope: string;
  /** Normalised asked text; empty when the entry takes no part in semantic reuse. */
  readonly askedText: string;
  readonly provenance: Provenance;
}
