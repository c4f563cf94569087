import type { Model, Operation } from './model.ts';
import type { InvalidationKind } from './ledger.ts';
import type { Usage } from './entry.ts';

/** Rights, each including those before it. */
export type Role = 'read' | 'write' | 'admin';

/** Who asks: verified by the server before the service sees it. */
export interface Identity {
  readonly tenant: string;
  readonly role: Role;
  /** The caller's own upstream credential, only in identity mode `forward`; never stored or logged. */
  readonly credential?: string;
  /** False in `forward` mode until an upstream accepted the credential: then nothing is read, joined or written. */
  readonly verified: boolean;
}

/** What a caller may ask of the cache for one request; absent fields take the namespace's settings. */
export interface CacheControls {
  readonly namespace?: string;
  readonly domain?: string;
  /** Sampling bucket, 0-based. */
  readonly bucket?: number;
  readonly tags?: readonly string[];
  readonly ttlMs?: number;
  /** Oldest answer that the caller accepts, milliseconds. */
  readonly maxAgeMs?: number;
  /** Raises the semantic threshold, never lowers it; in [0, 1]. */
  readonly threshold?: number;
  readonly noCache?: boolean;
  readonly noStore?: boolean;
  readonly onlyIfCached?: boolean;
}

export interface InferenceRequest {
  readonly operation: Operation;
  /** The OpenAI JSON, UTF-8, as received. */
  readonly body: Uint8Array;
  readonly identity: Identity;
  readonly controls: CacheControls;
  readonly signal: AbortSignal;
  readonly traceparent?: string;
  /** Asked instead of the upstream that the model's name leads to; only within one process. */
  readonly model?: Model;
}

export type Outcome = 'hit' | 'miss' | 'bypass' | 'refused' | 'cancelled' | 'error';
export type HitDetail = 'exact-l1' | 'exact-l2' | 'semantic' | 'coalesced' | 'stale';

/** What the cache did. `outcome` is one of hit, miss and bypass on a reply; the others end in an error. */
export interface CacheStatus {
  readonly outcome: Outcome;
  /** On a hit, where from; on a miss `partial-3/8` for a partly cached batch; on a bypass, its cause. */
  readonly detail: HitDetail | string;
  /** True when a complete answer will be offered to the store. */
  readonly stored: boolean;
  /** Since the start of the model call. */
  readonly ageMs: number;
  /** Left until expiry; Infinity: never expires. */
  readonly ttlMs: number;
  /** Key of the entry that serves, or under which the answer will be stored; may be empty. */
  readonly entryId: string;
  readonly similarity?: number;
  readonly probability?: number;
  readonly domain?: string;
  /** True when the ledger was unconfirmed for longer than the staleness bound. */
  readonly unconfirmed: boolean;
  /** True when a soft-invalidated or expired entry inside its grace was served. */
  readonly stale: boolean;
  /** Effective model name, for the request log; absent where it isn't known. */
  readonly model?: string;
}

export interface UsageAccount {
  /** As in the answer. */
  readonly served: Usage;
  /** What the upstream billed for this request; nothing on a hit. */
  readonly billed: Usage;
}

export interface InferenceReply {
  readonly status: CacheStatus;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly usage: UsageAccount;
}

/**
 * A streamed reply. Each chunk is one or more whole server-sent events, framed (`data: …\n\n`), without the terminal `[DONE]`.
 * The iterable throws the model's error when the stream ends early. Abandoning it (return) leaves the flight.
 */
export interface InferenceStreamReply {
  readonly status: CacheStatus;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Known when `chunks` ended. */
  usage(): UsageAccount;
}

export interface LookupReply {
  readonly status: CacheStatus;
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface StoreRequest {
  readonly operation: Operation;
  readonly body: Uint8Array;
  readonly answer: Uint8Array;
  readonly identity: Identity;
  readonly controls: CacheControls;
}

/** What is invalidated: exactly one kind of target. `tenant` targets the caller's own unless the role is admin. */
export type InvalidationTarget =
  | { readonly kind: 'entry'; readonly entryId: string }
  | { readonly kind: 'tag'; readonly tag: string }
  | { readonly kind: 'namespace'; readonly namespace: string }
  | { readonly kind: 'model'; readonly model: string }
  | { readonly kind: 'tenant'; readonly tenant: string };

export interface InvalidateRequest {
  readonly target: InvalidationTarget;
  readonly invalidation: InvalidationKind;
  /** Also remove the bytes. */
  readonly purge: boolean;
  readonly identity: Identity;
  /** Acts on another tenant's tag or namespace; admin only. */
  readonly tenant?: string;
}

export interface InvalidateReply {
  readonly sequence: number;
  /** Every node obeys within this time. */
  readonly stalenessBoundMs: number;
  /** `grid`: every node; `node`: this node only. */
  readonly reach: 'grid' | 'node';
  readonly removedEntries: number;
}

/** Judges an answer, named by its entry, or by both texts of a pair where the entry isn't known. */
export interface FeedbackRequest {
  readonly identity: Identity;
  /** May be empty where `storedText` and `askedText` are there. */
  readonly entryId: string;
  readonly verdict: 'wrong' | 'right';
  /** The asked text that got the wrong answer; then only this pair is refused, else the entry is invalidated. */
  readonly askedText?: string;
  /** The text that the wrong answer was given to: the pair of texts is refused whatever the entry. */
  readonly storedText?: string;
  /** Refuses a pair of texts of another tenant; admin only. */
  readonly tenant?: string;
  readonly note?: string;
}

/** What a guard says of a pair. `unknown`: it doesn't know the language of a text, so the strict threshold holds; `off`: the domain doesn't ask it. */
export interface GuardVerdict {
  readonly name: string;
  readonly verdict: 'clear' | 'veto' | 'unknown' | 'off';
}

/** One candidate and what became of it. */
export interface CandidateEvidence {
  readonly entryId: string;
  readonly storedText: string;
  readonly similarity: number;
  readonly probability: number;
  readonly vetoes: readonly string[];
  readonly served: boolean;
  readonly reason: string;
  /** Of every guard; empty unless it is explained. */
  readonly guards: readonly GuardVerdict[];
  /** Guards that don't know the language of one of the texts. */
  readonly unknown: readonly string[];
  /** The verifier's probability; absent: it wasn't asked, or failed. */
  readonly verified?: number;
}

/** A policy in force, in numbers. */
export interface PolicyExplanation {
  readonly domain: string;
  readonly similarityMin: number;
  readonly probabilityMin: number;
  /** Absent: the verifier isn't asked. */
  readonly verifiedMin?: number;
  readonly guards: readonly string[];
  readonly calibrated: boolean;
}

export interface Explanation {
  readonly key: string;
  readonly scope: string;
  readonly tenant: string;
  readonly namespace: string;
  readonly model: string;
  readonly modelVersion: string;
  /** What would be answered now, without a model call. */
  readonly status: CacheStatus;
  readonly reasons: readonly string[];
  readonly semantic: {
    readonly mode: string;
    readonly domain: string;
    /** Least similarity, the caller's own threshold included. */
    readonly threshold: number;
    readonly candidates: readonly CandidateEvidence[];
    /** Why this domain. */
    readonly domainReason: string;
    /** A pair must pass each of them; a second one is the caller's. */
    readonly policies: readonly PolicyExplanation[];
    /** Id of the verifier; empty: there is none. */
    readonly verifier: string;
    /** Parameters in force, or why there are none. */
    readonly calibration: string;
  };
  /**
   * The lately stored key with the fewest differing fields, 64 at most of them named, of the same tenant; absent when there is none. It may have
   * expired or been invalidated since.
   */
  readonly nearest?: { readonly entryId: string; readonly differingFields: readonly string[] };
}

/** Counters since start; `byOutcome` sums to `requests`. */
export interface Stats {
  readonly requests: number;
  readonly byOutcome: Readonly<Record<string, number>>;
  readonly modelCalls: number;
  readonly modelCallsSaved: number;
  readonly tokensBilled: Usage;
  readonly tokensSaved: Usage;
  readonly costBilled: number;
  readonly costSaved: number;
  readonly entries: number;
  readonly entryBytes: number;
  readonly vectors: number;
  readonly evictions: number;
  readonly ledgerSequence: number;
  readonly ledgerConfirmedAgeMs: number;
  readonly semantic: string;
  readonly uptimeMs: number;
}

export interface ReadinessPart {
  readonly name: string;
  readonly state: 'ready' | 'degraded' | 'failed';
  readonly detail: string;
}

export interface Readiness {
  readonly ready: boolean;
  readonly parts: readonly ReadinessPart[];
}

/** The service interface: everything that servers, gateways and embedders call. In process and remote implementations behave alike. */
export interface InferenceService {
  infer(request: InferenceRequest): Promise<InferenceReply>;
  inferStream(request: InferenceRequest): Promise<InferenceStreamReply>;
  /** Never calls a model; fails with `not_cached`. */
  lookup(request: InferenceRequest): Promise<LookupReply>;
  store(request: StoreRequest): Promise<CacheStatus>;
  invalidate(request: InvalidateRequest): Promise<InvalidateReply>;
  feedback(request: FeedbackRequest): Promise<void>;
  explain(request: InferenceRequest): Promise<Explanation>;
  stats(identity: Identity): Promise<Stats>;
  models(identity: Identity): Promise<readonly string[]>;
  readiness(): Readiness;
}
