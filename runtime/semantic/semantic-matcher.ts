import { RepriseError, assert, hasCode, toRepriseError } from '../errors.ts';
import type { ActorSystem } from '../actor/actor-system.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Embedder, Embedding } from '../ports/embedder.ts';
import type { Entry } from '../ports/entry.ts';
import type { Grid } from '../ports/grid.ts';
import type { Hash } from '../ports/hash.ts';
import type { SemanticOptions } from '../ports/options.ts';
import type { CandidateEvidence } from '../ports/service.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { Verifier } from '../ports/verifier.ts';
import { normaliseAskedText } from './asked-text.ts';
import { CellDirectory } from './cell-directory.ts';
import type { CellMatch } from './cell.ts';
import { EmbedQueue } from './embed-queue.ts';
import { extractFeatures, type Features } from './features.ts';
import { Judgement, type Candidate } from './judgement.ts';
import { LshCoder } from './lsh.ts';
import type { DomainPolicy } from './policies.ts';
import { ScopeTable } from './scope-table.ts';
import { SideCache } from './side-cache.ts';
import { encodeVectorRecord } from './vector-record.ts';
import { Verification } from './verification.ts';

/** What is looked for. */
export interface SemanticQuery {
  /** Scope hash, hex. */
  readonly scope: string;
  readonly askedText: string;
  /** A pair must pass every one of them. */
  readonly policies: readonly DomainPolicy[];
  /** Raises the similarity threshold of every policy; a lower value changes nothing. */
  readonly thresholdMin?: number;
  /** Every candidate is judged by every guard, and nothing is counted. */
  readonly explaining?: boolean;
}

/** How the matcher asks for what lies outside of it. */
export interface SemanticHooks {
  /**
   * A valid, unexpired entry. Undefined: it is gone for everybody (absent, expired, invalidated), and the candidate is
   * forgotten. `unusable`: it is there but not for this request (too old for the caller, ledger unconfirmed).
   */
  readonly fetchEntry: (key: string) => Promise<Entry | 'unusable' | undefined>;
  /** True for a pair that feedback has refused. */
  readonly isRefused?: (storedKey: string, storedText: string, askedText: string) => boolean;
}

/** Why no candidate was looked at. `new-scope`: the scope's first request never pays for a look-up; `cell`: no cell could tell. */
export type SemanticSkip = 'no-text' | 'new-scope' | 'window' | 'budget' | 'embedder' | 'cell' | 'degenerate';

/** What became of a query. `entry` is present on a hit only. */
export interface SemanticDecision {
  readonly entry?: Entry;
  readonly evidence: readonly CandidateEvidence[];
  readonly similarity?: number;
  readonly probability?: number;
  readonly skipped?: SemanticSkip;
  /** The asked text's embedding, to be handed to `remember`. */
  readonly embedding?: Embedding;
}

/** A stored answer that later texts may be matched with. */
export interface RememberRecord {
  readonly scope: string;
  readonly key: string;
  readonly askedText: string;
  readonly expiresAtMs: number;
  readonly embedding?: Embedding;
}

export interface SemanticDeps {
  readonly embedder: Embedder;
  readonly grid: Grid;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly hash: Hash;
  readonly actors: ActorSystem;
  /** Absent: what a domain wants verified is never served. */
  readonly verifier?: Verifier;
}

/** A text with more characters for each token of the window is too long, whatever an embedder makes of it. */
const WINDOW_CHARACTERS_PER_TOKEN = 32;
/** Scopes remembered after one request, for each live cell. */
const SEEN_PER_CELL = 4;

/** Finds stored answers whose asked text means the same as a new one, and remembers new ones. One a node. */
export class SemanticMatcher {
  readonly #deps: SemanticDeps;
  readonly #options: SemanticOptions;
  readonly #queue: EmbedQueue;
  readonly #coder: LshCoder;
  readonly #scopes: ScopeTable;
  readonly #cells: CellDirectory;
  readonly #sides = new SideCache();

  constructor(deps: SemanticDeps, options: SemanticOptions) {
    const { embedder, clock, telemetry } = deps;
    this.#deps = deps;
    this.#options = options;
    this.#queue = new EmbedQueue(
      { embedder, clock, telemetry },
      {
        queueMax: options.embedQueueMax,
        batchMax: options.embedBatchMax,
        timeoutMs: options.embedTimeoutMs,
        cacheBytesMax: options.vectorCacheBytesMax,
      },
    );
    this.#coder = new LshCoder(deps.hash, {
      embedderId: embedder.id,
      dimensions: embedder.dimensions,
      bits: options.codeBits,
    });
    this.#scopes = new ScopeTable({ seenMax: options.cellsMax * SEEN_PER_CELL, liveMax: options.cellsMax });
    this.#cells = new CellDirectory(deps, options);
  }

  /** Whether the embedder works; for readiness. */
  get state(): { readonly ready: boolean; readonly embedderId: string; readonly detail: string } {
    const { id } = this.#deps.embedder;
    const { failure } = this.#queue;
    if (failure === undefined) return { ready: true, embedderId: id, detail: `embedding with ${id}` };
    return { ready: false, embedderId: id, detail: `${id} fails: ${failure.code}` };
  }

  /** How long a text that is queued now would wait for its vector, milliseconds. */
  expectedWaitMs(): number {
    return this.#queue.expectedWaitMs();
  }

  /** The best stored answer that serves, or why there is none. Rejects only when the caller leaves. */
  async find(query: SemanticQuery, hooks: SemanticHooks, options: CallOptions): Promise<SemanticDecision> {
    const text = normaliseAskedText(query.askedText);
    if (text === '') return skip('no-text');
    if (this.#isTooLong(text)) return skip('window');
    if (!this.#scopes.isKnown(query.scope)) return skip('new-scope');
    const isKnown = this.#queue.isCached(text);
    const embedding = this.#embedWithin(text, options);
    // The embedder's thread works now, and this one would only wait.
    const features = isKnown ? undefined : await featuresNext(text);
    const embedded = await embedding;
    if (typeof embedded === 'string') return skip(embedded);
    if (embedded.truncated) return skip('window', embedded);
    this.#sides.asked(text, embedded, features);
    const matches = await this.#candidates(query.scope, embedded, options);
    if (matches === undefined) {
      return skip(options.deadlineAtMs <= this.#deps.clock.monotonicMs() ? 'budget' : 'cell', embedded);
    }
    if (matches.length === 0) return { evidence: [], embedding: embedded };
    return { ...(await this.#judge({ query, text, embedded, matches, hooks, options })), embedding: embedded };
  }

  /**
   * Writes a text's vector to the grid, then tells its cell if there is one. `window` and `degenerate`: the text takes no
   * part; `failed`: embedder or grid did not do it. Never rejects.
   */
  async remember(record: RememberRecord, options: CallOptions): Promise<'stored' | 'window' | 'degenerate' | 'failed'> {
    const text = normaliseAskedText(record.askedText);
    if (text === '' || this.#isTooLong(text)) return 'window';
    try {
      const embedding = record.embedding ?? (await this.#queue.embed(text, options, 'store'));
      if (embedding.truncated) return 'window';
      await this.#write(record, { text, embedding }, options);
      return 'stored';
    } catch (error) {
      return hasCode(error, 'embedder_invalid_vector') ? 'degenerate' : 'failed';
    }
  }

  /** Forgets a stored text, in the background: its entry is gone. */
  forget(scope: string, key: string): void {
    this.#cells.forget({ scope, key, tellCell: this.#scopes.isLive(scope) });
  }

  /** Embeddings of texts as they are, in order, through the same queue and vector cache. */
  async embed(texts: readonly string[], options: CallOptions): Promise<readonly Embedding[]> {
    const embeddings: Embedding[] = [];
    for (let at = 0; at < texts.length; at += this.#options.embedBatchMax) {
      embeddings.push(...(await this.#embedBatch(texts.slice(at, at + this.#options.embedBatchMax), options)));
    }
    return embeddings;
  }

  /** One listener on the caller's signal for the whole batch: runtimes warn of many, as of a leak. */
  async #embedBatch(texts: readonly string[], options: CallOptions): Promise<readonly Embedding[]> {
    const { signal, deadlineAtMs } = options;
    const waits = texts.map(() => new AbortController());
    const onAbort = (): void => {
      for (const wait of waits) wait.abort(signal?.reason);
    };
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const embedded = texts.map((text, index) =>
        this.#queue.embed(text, { deadlineAtMs, signal: waits[index]!.signal }),
      );
      return await Promise.all(embedded);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Fails what waits for the embedder and lets background work end. */
  async stop(): Promise<void> {
    this.#queue.stop();
    await this.#cells.stop();
  }

  /** Known without asking the embedder: a word has at least one token, and no token has so many characters. */
  #isTooLong(text: string): boolean {
    const { windowTokens } = this.#deps.embedder;
    return text.length > windowTokens * WINDOW_CHARACTERS_PER_TOKEN || hasMoreWords(text, windowTokens);
  }

  async #embedWithin(text: string, options: CallOptions): Promise<Embedding | SemanticSkip> {
    const leftMs = options.deadlineAtMs - this.#deps.clock.monotonicMs();
    if (!this.#queue.isCached(text) && this.#queue.expectedWaitMs() > leftMs) return 'budget';
    try {
      return await this.#queue.embed(text, options);
    } catch (error) {
      if (hasCode(error, 'cancelled')) throw error;
      if (hasCode(error, 'embedder_invalid_vector')) return 'degenerate';
      const late = options.deadlineAtMs <= this.#deps.clock.monotonicMs();
      return late || hasCode(error, 'overloaded') ? 'budget' : 'embedder';
    }
  }

  /** Undefined when no cell answered in time. */
  async #candidates(
    scope: string,
    embedding: Embedding,
    options: CallOptions,
  ): Promise<readonly CellMatch[] | undefined> {
    const { candidatesMax, similarityFloor, probesMax } = this.#options;
    const codes = this.#coder.probes(this.#coder.code(embedding.vector), probesMax);
    const search = { vector: embedding.vector, k: candidatesMax, floor: similarityFloor };
    return this.#cells.search({ scope, codes, search }, options);
  }

  async #judge(input: {
    query: SemanticQuery;
    text: string;
    embedded: Embedding;
    matches: readonly CellMatch[];
    hooks: SemanticHooks;
    options: CallOptions;
  }): Promise<SemanticDecision> {
    const { query, text, embedded, matches, hooks, options } = input;
    const { policies, thresholdMin = 0, explaining = false } = query;
    const asked = { ...this.#sides.asked(text, embedded), policies, thresholdMin, explaining };
    const judgement = new Judgement({ telemetry: this.#deps.telemetry, sides: this.#sides }, asked);
    const verification = new Verification(this.#deps, this.#options.verifier, { asked, options });
    let served: { readonly entry: Entry; readonly candidate: Candidate } | undefined;
    for (const match of matches) {
      const candidate = judgement.consider(match, hooks.isRefused);
      if (candidate === undefined) continue;
      if (served !== undefined) {
        judgement.pass(candidate, 'outranked');
        continue;
      }
      if (options.deadlineAtMs <= this.#deps.clock.monotonicMs()) {
        judgement.pass(candidate, 'late');
        return { evidence: judgement.evidence, skipped: 'budget' };
      }
      const entry = await this.#fetch(match.key, query.scope, hooks);
      if (entry === undefined || entry === 'unusable') {
        judgement.pass(candidate, entry ?? 'gone');
        if (entry === undefined) this.forget(query.scope, match.key);
        continue;
      }
      const { verdict, candidate: verified } = await verification.of(candidate);
      if (verdict !== 'verified') {
        judgement.pass(verified, verdict);
        continue;
      }
      judgement.serve(verified);
      served = { entry, candidate: verified };
      if (!explaining) break;
    }
    const { evidence } = judgement;
    if (served === undefined) return judgement.blind ? { evidence, skipped: 'degenerate' } : { evidence };
    const { similarity, probability } = served.candidate;
    return { entry: served.entry, evidence, similarity, probability };
  }

  /** A grid that fails isn't proof that the entry is gone: such a candidate is passed over, not forgotten. */
  async #fetch(key: string, scope: string, hooks: SemanticHooks): Promise<Entry | 'unusable' | undefined> {
    try {
      const entry = await hooks.fetchEntry(key);
      if (entry === undefined || entry === 'unusable') return entry;
      return entry.scope === scope ? entry : undefined;
    } catch (error) {
      if (hasCode(error, 'cancelled')) throw error;
      return 'unusable';
    }
  }

  async #write(
    record: RememberRecord,
    embedded: { text: string; embedding: Embedding },
    options: CallOptions,
  ): Promise<void> {
    const { text, embedding } = embedded;
    const { scope, key, expiresAtMs } = record;
    const { grid, clock, embedder } = this.#deps;
    assert(scope !== '', 'only a text with a scope is remembered');
    const ttlMs = expiresAtMs - clock.wallMs();
    if (!(ttlMs > 0)) throw new RepriseError('entry_not_found', 'The entry has expired already.');
    const side = this.#sides.asked(text, embedding);
    const { vector } = embedding;
    const value = encodeVectorRecord({ scope, key, embedderId: embedder.id, expiresAtMs, ...side, vector });
    const { code } = this.#coder.code(embedding.vector);
    const item = { key, value, attributes: { scope, code } };
    await grid.set('vectors', Number.isFinite(ttlMs) ? { ...item, ttlMs } : item, options);
    this.#scopes.stored(scope);
    if (this.#scopes.isLive(scope)) await this.#tell(scope, code, value, options);
  }

  /** The vector is in the grid already, so a cell that couldn't be told learns of it at its next rebuild. */
  async #tell(scope: string, code: number, record: Uint8Array, options: CallOptions): Promise<void> {
    try {
      await this.#cells.add({ scope, code, record }, options);
    } catch (error) {
      this.#deps.telemetry.counter('reprise_background_failures_total', 'cell-add').add();
      this.#deps.telemetry.log('debug', 'cell_add_failed', { code: toRepriseError(error).code });
    }
  }
}

/** In the next microtask: by then a text that was queued in this one is on its way. */
async function featuresNext(text: string): Promise<Features> {
  await Promise.resolve();
  return extractFeatures(text);
}

function hasMoreWords(text: string, max: number): boolean {
  let words = 1;
  for (let at = 0; at < text.length && words <= max; at += 1) {
    const isSpace = text[at] === ' ' || text[at] === '\n';
    if (isSpace && text[at + 1] !== ' ' && text[at + 1] !== '\n') words += 1;
  }
  return words > max;
}

function skip(skipped: SemanticSkip, embedding?: Embedding): SemanticDecision {
  return embedding === undefined ? { evidence: [], skipped } : { evidence: [], skipped, embedding };
}
