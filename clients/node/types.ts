/** Operations of the inference API. */
export type Operation = 'chat.completions' | 'completions' | 'embeddings';

/** What a caller may ask of the cache for one request; absent fields take the namespace's settings. */
export interface CacheControls {
  readonly namespace?: string;
  readonly domain?: string;
  /** Sampling bucket, 0-based. */
  readonly bucket?: number;
  readonly tags?: readonly string[];
  readonly ttlMs?: number;
  /** Oldest answer that is accepted, milliseconds. */
  readonly maxAgeMs?: number;
  /** Raises the semantic threshold, never lowers it; in [0, 1]. */
  readonly threshold?: number;
  readonly noCache?: boolean;
  readonly noStore?: boolean;
  readonly onlyIfCached?: boolean;
}

/** How one call is made. */
export interface CallSettings {
  readonly signal?: AbortSignal;
  /** The call fails with `deadline_exceeded` after this time. */
  readonly timeoutMs?: number;
  /** In place of the connection's. */
  readonly credential?: string;
  /** W3C trace context. */
  readonly traceparent?: string;
}

/** How an inference is asked for, and what is asked of the cache. */
export interface InferSettings extends CallSettings, CacheControls {
  /** Default: chat completions where the request has `messages`, embeddings where it has `input`, else completions. */
  readonly operation?: Operation;
}

/** A request in OpenAI's shape: as an object, or as JSON that is sent as it is (then chat completions unless told). */
export type InferInput = Readonly<Record<string, unknown>> | Uint8Array;

/** What the cache did. */
export interface CacheStatus {
  readonly outcome: 'hit' | 'miss' | 'bypass';
  /** On a hit, where from; on a miss `partial-3/8` for a partly cached batch; on a bypass, its cause. */
  readonly detail: string;
  /** True when a complete answer will be offered to the store. */
  readonly stored: boolean;
  /** Since the start of the model call. */
  readonly ageMs: number;
  /** Left until expiry; Infinity: never expires. */
  readonly ttlMs: number;
  readonly entryId: string;
  readonly similarity?: number;
  readonly probability?: number;
  readonly domain?: string;
  /** True when the ledger was unconfirmed for longer than the staleness bound. */
  readonly unconfirmed: boolean;
  /** True when a soft-invalidated or expired entry inside its grace was served. */
  readonly stale: boolean;
  /** Effective model name, where it is known. */
  readonly model?: string;
}

/** Tokens. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface UsageAccount {
  /** As in the answer. */
  readonly served: Usage;
  /** What the upstream billed for this request; nothing on a hit. */
  readonly billed: Usage;
}

/** A stored answer. */
export interface LookupReply {
  readonly status: CacheStatus;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** A whole answer. */
export interface InferReply extends LookupReply {
  readonly usage: UsageAccount;
}

/** A streamed answer. Abandoning either iterable cancels the call; only one of them may be read. */
export interface InferStream {
  readonly status: CacheStatus;
  /** Each chunk is one or more whole server-sent events, framed (`data: …\n\n`), without the terminal `[DONE]`. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The same events, parsed. */
  events(): AsyncIterable<Record<string, unknown>>;
  /** Known when the stream ended. */
  usage(): UsageAccount;
}

/** What is invalidated. */
export type InvalidationTarget =
  | { readonly kind: 'entry'; readonly entryId: string }
  | { readonly kind: 'tag'; readonly tag: string }
  | { readonly kind: 'namespace'; readonly namespace: string }
  | { readonly kind: 'model'; readonly model: string }
  | { readonly kind: 'tenant'; readonly tenant: string };

export interface InvalidateSettings extends CallSettings {
  /** `hard` unless told. */
  readonly invalidation?: 'hard' | 'soft';
  /** Also remove the bytes. */
  readonly purge?: boolean;
  /** The tenant that the tag or namespace belongs to; needs the role `admin`. */
  readonly tenant?: string;
}

export interface InvalidateReply {
  readonly sequence: number;
  /** Every node obeys within this time. */
  readonly stalenessBoundMs: number;
  /** `grid`: every node; `node`: the asked node only. */
  readonly reach: 'grid' | 'node';
  readonly removedEntries: number;
}

/** A judgement of one answer. */
export interface Feedback {
  /** May be empty where both texts are given. */
  readonly entryId: string;
  readonly verdict: 'wrong' | 'right';
  /** The asked text that got the wrong answer; then only this pair is refused, else the entry is invalidated. */
  readonly askedText?: string;
  /** The text that the wrong answer was given to: the pair of texts is refused whatever the entry. */
  readonly storedText?: string;
  /** The tenant whose pair of texts is refused; another than one's own needs the role `admin`. */
  readonly tenant?: string;
  readonly note?: string;
}

/** What a guard says of a pair: `clear`, `veto`, `unknown` (it doesn't know the language) or `off` (the domain doesn't ask it). */
export interface GuardVerdict {
  readonly name: string;
  readonly verdict: 'clear' | 'veto' | 'unknown' | 'off';
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

/** One candidate of a semantic lookup and what became of it. */
export interface CandidateEvidence {
  readonly entryId: string;
  readonly storedText: string;
  readonly similarity: number;
  readonly probability: number;
  readonly vetoes: readonly string[];
  readonly served: boolean;
  readonly reason: string;
  readonly guards: readonly GuardVerdict[];
  /** Guards that don't know the language of one of the texts. */
  readonly unknown: readonly string[];
  /** The verifier's probability; absent: it wasn't asked, or failed. */
  readonly verified?: number;
}

/** What would be answered now without a model call, and why. */
export interface Explanation {
  readonly key: string;
  readonly scope: string;
  readonly tenant: string;
  readonly namespace: string;
  readonly model: string;
  readonly modelVersion: string;
  readonly status: CacheStatus;
  readonly reasons: readonly string[];
  readonly semantic: {
    readonly mode: string;
    readonly domain: string;
    readonly threshold: number;
    readonly candidates: readonly CandidateEvidence[];
    /** Why this domain. */
    readonly domainReason: string;
    /** A pair must pass each of them; a second one is the caller's. */
    readonly policies: readonly PolicyExplanation[];
    /** Id of the verifier; empty: there is none. */
    readonly verifier: string;
    /** Which calibration is in force, or why none is. */
    readonly calibration: string;
  };
  /**
   * The lately stored key with the fewest differing fields, 64 at most of them named; absent when there is none. It may have expired or been
   * invalidated since.
   */
  readonly nearest?: { readonly entryId: string; readonly differingFields: readonly string[] };
}

/** Counters of the asked node since its start; `byOutcome` sums to `requests`. */
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
  /** Infinity: not confirmed yet. */
  readonly ledgerConfirmedAgeMs: number;
  readonly semantic: string;
  readonly uptimeMs: number;
}
