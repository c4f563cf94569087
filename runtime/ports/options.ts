import type { Calibration } from './calibration.ts';
import type { Operation } from './model.ts';

export type SemanticMode = 'off' | 'observe' | 'serve';

/** What to do with requests whose answer is drawn at random: temperature above 0 and no seed. */
export type SamplingRule =
  | { readonly kind: 'reuse' }
  /** The server draws one of `count` buckets; each keeps an answer of its own. */
  | { readonly kind: 'buckets'; readonly count: number }
  | { readonly kind: 'bypass' };

/** A volatile part of string values that the key must not see (a date, a request id). */
export interface BlankRule {
  /** JavaScript regular expression source, applied globally with flag `u`. */
  readonly pattern: string;
  readonly replacement: string;
}

export interface NamespaceOptions {
  readonly ttlMs: number;
  /** How long past expiry or soft invalidation an answer may be served stale. */
  readonly graceMs: number;
  /** Serve nothing while the ledger is unconfirmed for longer than the staleness bound. */
  readonly strict: boolean;
  readonly semantic: SemanticMode;
  readonly sampling: SamplingRule;
  /** Serves in domains only whose minima are calibrated; elsewhere it observes. */
  readonly calibratedOnly?: boolean;
  /** Name of the domain whose threshold and guards apply where no rule fits. */
  readonly domain: string;
  readonly blank: readonly BlankRule[];
  /** Counts the body's `user` field into key and scope. */
  readonly isolateUser: boolean;
}

export interface Price {
  /** Currency units per million tokens. */
  readonly promptPerMillion: number;
  readonly completionPerMillion: number;
}

/** How a model name is served. The first rule whose `match` fits wins; `*` stands for any run of characters. */
export interface ModelRule {
  readonly match: string;
  readonly upstream: string;
  /** Name to ask the upstream for; empty: as asked. */
  readonly as: string;
  /** Effective version, part of the key; empty: not versioned. */
  readonly version: string;
  readonly operations: readonly Operation[];
  /** JSON object of fields to add where the request has none. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** JSON object of fields to set whatever the request has. */
  readonly overrides: Readonly<Record<string, unknown>>;
  readonly price: Price;
}

/** A domain's own words, beside those that the guards know. */
export interface LexiconOptions {
  /** Pairs of opposites; several words of one side are parted by spaces. */
  readonly opposites?: readonly (readonly [string, string])[];
  /** Groups of words that mean the same. */
  readonly same?: readonly (readonly string[])[];
  /** Names that are never mistyped forms of each other. */
  readonly names?: readonly string[];
  /** Words that limit what is asked for: a text that has one isn't served for a text that doesn't. */
  readonly scopeWords?: readonly string[];
}

/** A domain of meaning: how sure a semantic hit must be. */
export interface DomainOptions {
  /** Least cosine similarity, on the scale of the embedder in use. */
  readonly similarityMin: number;
  /** Least probability of the equivalence model. */
  readonly probabilityMin: number;
  /** Guards that may veto; a name that isn't listed is off. */
  readonly guards: readonly string[];
  /** Words of the domain's own. */
  readonly lexicon?: LexiconOptions;
  /** The verifier is asked, and must give at least this probability; absent: it isn't asked. */
  readonly verifiedMin?: number;
  /** Decides but never serves, whatever the namespace's mode: nothing is promised of it. */
  readonly observeOnly?: boolean;
  /** Name of the calibrated domain that the minima come from, and whose coefficients count; absent: they aren't calibrated. */
  readonly calibratedAs?: string;
}

/** Chooses a domain by what a request is about. All that a rule names must fit; the first rule that fits wins. */
export interface DomainRule {
  readonly domain: string;
  /** Namespace, model name as asked: `*` stands for any run of characters. */
  readonly namespace: string;
  readonly model: string;
  /**
   * Words or phrases of which the asked text must have one; none: any text fits. Case, accents and what stands between words don't count;
   * `*` at the end of a word stands for any ending.
   */
  readonly words: readonly string[];
}

/** How a verifier is asked. */
export interface VerifierOptions {
  /** Own time of the verifier beside the lookup budget, milliseconds; 0: what is left of the budget. */
  readonly timeoutMs: number;
  /** Candidates of one request that it is asked about. */
  readonly candidatesMax: number;
}

/** Which candidates are written down for people to review; they hold texts. */
export interface NearMissOptions {
  /** Candidates whose similarity is this near to the threshold, or that were refused above it, are noted; 0 to 1. */
  readonly margin: number;
  /** Pairs remembered, so as to note each once. */
  readonly rememberedMax: number;
}

/** Every eviction policy by the name that a configuration uses; docs/policies.md tells what each is good for. */
export const POLICY_NAMES = [
  'fifo',
  'lru',
  'lfu',
  'slru',
  'arc',
  'lirs',
  'sieve',
  's3-fifo',
  'w-tinylfu',
  'w-tinylfu-fixed',
  'gdsf',
  'inference-cost',
  'prefix-lru',
  'adaptive',
] as const;

export type PolicyName = (typeof POLICY_NAMES)[number];

export interface CacheOptions {
  /** Near cache: `auto` is small above the in-process grid, whose answers it holds twice, and of `l1BytesMax` above a remote one. */
  readonly l1: 'auto' | 'on' | 'off';
  readonly l1BytesMax: number;
  /** Of the near cache and of the in-process grid. */
  readonly policy: PolicyName;
  /** Larger answers are passed on, never stored. */
  readonly entryBytesMax: number;
  readonly storeQueueBytesMax: number;
  /** Bound of the memo of canonical bodies; 0: off. */
  readonly bodyMemoBytesMax: number;
  readonly lookupBudgetMs: number;
  readonly joinDeadlineMs: number;
  readonly stalenessBoundMs: number;
  readonly unconfirmedMs: number;
  readonly confirmIntervalMs: number;
  /** What becomes of a model call whose last participant left. */
  readonly abandonedFlight: 'abort' | 'finish';
  /** Deadline of a write to the grid, off the reply path. */
  readonly storeDeadlineMs: number;
  /** Stored requests that Explain remembers by field. */
  readonly explainEntriesMax: number;
  /** Bound of what Explain remembers of them; 0: nothing. */
  readonly explainBytesMax: number;
}

export interface SemanticOptions {
  readonly candidatesMax: number;
  readonly similarityFloor: number;
  readonly embedQueueMax: number;
  readonly embedBatchMax: number;
  readonly embedTimeoutMs: number;
  readonly vectorCacheBytesMax: number;
  /** Live cells on this node. */
  readonly cellsMax: number;
  readonly cellVectorsMax: number;
  /** Width of an LSH code. */
  readonly codeBits: number;
  /** Neighbouring cells that are probed beside a text's own. */
  readonly probesMax: number;
  readonly verifier: VerifierOptions;
  readonly nearMiss: NearMissOptions;
}

export interface FlightOptions {
  readonly flightsMax: number;
  /** Bytes by which a leader may run ahead of its slowest reader once a recording is past `entryBytesMax`. */
  readonly streamWindowBytes: number;
}

/** Everything a node is told at its start. Frozen; made by the config room or by an embedding program. */
export interface NodeOptions {
  readonly nodeId: string;
  readonly cache: CacheOptions;
  readonly semantic: SemanticOptions;
  readonly flight: FlightOptions;
  readonly namespaces: Readonly<Record<string, NamespaceOptions>>;
  readonly defaultNamespace: string;
  readonly domains: Readonly<Record<string, DomainOptions>>;
  /** In order; where none fits, the namespace's domain holds. */
  readonly domainRules: readonly DomainRule[];
  /** Parameters fitted to the embedder in use; absent: probabilities aren't calibrated. */
  readonly calibration?: Calibration;
  readonly models: readonly ModelRule[];
  /** What recordings may hold beside hashes and counts. */
  readonly recording: { readonly texts: boolean };
  readonly modelTimeoutMs: number;
  readonly bodyBytesMax: number;
  readonly jsonDepthMax: number;
}
