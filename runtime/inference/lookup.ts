import { toRepriseError } from '../errors.ts';
import type { Found, Tiers } from '../cache/tiers.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Embedding } from '../ports/embedder.ts';
import type { Entry } from '../ports/entry.ts';
import type { Operation } from '../ports/model.ts';
import type { CandidateEvidence, HitDetail } from '../ports/service.ts';
import type { Histogram, Telemetry } from '../ports/telemetry.ts';
import type { SemanticDecision, SemanticMatcher } from '../semantic/semantic-matcher.ts';
import { observedBecause } from './domains.ts';
import type { NearMisses } from './near-misses.ts';
import { signalOf, type Prepared } from './prepare.ts';
import type { Refusals } from './refusals.ts';
import { withinDeadline } from './within-deadline.ts';

export interface LookupHit {
  readonly kind: 'hit';
  readonly found: Found;
  readonly detail: HitDetail;
  readonly similarity: number | undefined;
  readonly probability: number | undefined;
}

export interface LookupMiss {
  readonly kind: 'miss';
  /** Why the look-up was cut short or not made; empty when it was made whole. */
  readonly bypass: string;
  /** The tiers could not be read: to try them once more would only cost time. */
  readonly tiersFailed: boolean;
  /** `Tiers.contents` when they were read and had nothing; undefined where that can't be told. */
  readonly contents: number | undefined;
  /** The asked text's embedding, when the look-up got as far; spares a second one at the store. */
  readonly embedding: Embedding | undefined;
}

/** What a semantic look-up saw; for Explain. */
export interface SemanticFindings {
  readonly hit: LookupHit | undefined;
  readonly bypass: string;
  readonly evidence: readonly CandidateEvidence[];
  readonly embedding: Embedding | undefined;
}

/** A look-up that wasn't made. */
export const MISS: LookupMiss = {
  kind: 'miss',
  bypass: '',
  tiersFailed: false,
  contents: undefined,
  embedding: undefined,
};

const NOTHING: SemanticFindings = { hit: undefined, bypass: '', evidence: [], embedding: undefined };

/** Steps 2–4 of the way of a request, under one deadline, the lookup budget. No failure of a tier fails the request. */
export class Lookup {
  readonly #deps: {
    tiers: Tiers;
    semantic: SemanticMatcher | undefined;
    refusals: Refusals;
    clock: Clock;
    telemetry: Telemetry;
    nearMisses: NearMisses | undefined;
  };
  readonly #options: { lookupBudgetMs: number; verifierTimeoutMs: number };
  readonly #seconds = new Map<Operation, Histogram>();

  constructor(
    deps: {
      tiers: Tiers;
      semantic: SemanticMatcher | undefined;
      refusals: Refusals;
      clock: Clock;
      telemetry: Telemetry;
      nearMisses: NearMisses | undefined;
    },
    options: { lookupBudgetMs: number; verifierTimeoutMs: number },
  ) {
    this.#deps = deps;
    this.#options = options;
  }

  /** At once where L1 has the answer: a promise costs more than the look-up. */
  find(prepared: Prepared): LookupHit | Promise<LookupHit | LookupMiss> {
    const startedAtMs = this.#deps.clock.monotonicMs();
    const near = readable(prepared) ? this.#deps.tiers.getNear(prepared.key, prepared.terms) : undefined;
    if (near === undefined) return this.#findFarther(prepared, startedAtMs);
    this.#observe(prepared, startedAtMs);
    return exactHit(near);
  }

  /** What L1 hasn't. */
  async #findFarther(prepared: Prepared, startedAtMs: number): Promise<LookupHit | LookupMiss> {
    try {
      if (!readable(prepared)) {
        return { ...MISS, bypass: prepared.bypass };
      }
      // From here on: to understand a large body may take longer than the whole budget.
      const deadlineAtMs = startedAtMs + this.#options.lookupBudgetMs;
      let failure = '';
      const { contents } = this.#deps.tiers;
      try {
        const found = await this.#deps.tiers.load(prepared.key, prepared.terms, { deadlineAtMs });
        if (found !== undefined) return exactHit(found);
      } catch (error) {
        if (signalOf(prepared).aborted) throw error;
        failure = toRepriseError(error).code;
      }
      return await this.#findSimilar(prepared, deadlineAtMs, { failure, contents });
    } finally {
      this.#observe(prepared, startedAtMs);
    }
  }

  #observe(prepared: Prepared, startedAtMs: number): void {
    this.#secondsOf(prepared.operation).observe((this.#deps.clock.monotonicMs() - startedAtMs) / 1_000);
  }

  /** Step 4, after the tiers had nothing; `failure`: why they couldn't tell, empty when they could. */
  async #findSimilar(
    prepared: Prepared,
    deadlineAtMs: number,
    read: { readonly failure: string; readonly contents: number | undefined },
  ): Promise<LookupHit | LookupMiss> {
    const { failure, contents } = read;
    const semantic = await this.#semantic(prepared, { deadlineAtMs, signal: signalOf(prepared) });
    if (semantic.hit !== undefined) return semantic.hit;
    const bypass = failure === '' ? semantic.bypass : failure;
    if (bypass !== '') this.#deps.telemetry.counter('reprise_bypasses_total', bypass).add();
    return { kind: 'miss', bypass, tiersFailed: failure !== '', contents, embedding: semantic.embedding };
  }

  #secondsOf(operation: Operation): Histogram {
    let seconds = this.#seconds.get(operation);
    if (seconds === undefined) {
      seconds = this.#deps.telemetry.histogram('reprise_lookup_seconds', operation);
      this.#seconds.set(operation, seconds);
    }
    return seconds;
  }

  /** The semantic look-up alone, whatever the exact tiers hold. */
  async explainSemantic(prepared: Prepared, options: CallOptions): Promise<SemanticFindings> {
    return this.#semantic(prepared, options, true);
  }

  async #semantic(prepared: Prepared, options: CallOptions, explaining = false): Promise<SemanticFindings> {
    const { semantic, clock } = this.#deps;
    const mode = prepared.namespace.semantic;
    if (semantic === undefined || mode === 'off' || prepared.scope() === '') return NOTHING;
    if (!semantic.state.ready) return { ...NOTHING, bypass: 'embedder' };
    const leftMs = options.deadlineAtMs - clock.monotonicMs();
    if (leftMs <= 0) return { ...NOTHING, bypass: 'lookup-budget' };
    if (semantic.expectedWaitMs() > leftMs) return { ...NOTHING, bypass: 'embed-queue' };
    const fetched = new Map<string, Found>();
    try {
      const work = this.#decide(semantic, prepared, { options, fetched, explaining });
      const decision = await withinDeadline(work, this.#withVerifier(prepared, options), clock);
      if (decision === undefined) return { ...NOTHING, bypass: 'lookup-budget' };
      if (!explaining) {
        this.#deps.nearMisses?.note(prepared, decision.evidence);
        prepared.recorded?.saw(decision.evidence, decision.embedding);
      }
      const serves = observedBecause(prepared.namespace, prepared.domain()) === undefined;
      const hit = serves || explaining ? semanticHit(decision, fetched) : undefined;
      return { hit, bypass: bypassOf(decision), evidence: decision.evidence, embedding: decision.embedding };
    } catch (error) {
      if (signalOf(prepared).aborted) throw error;
      return { ...NOTHING, bypass: toRepriseError(error).code };
    }
  }

  /** A verifier may have time of its own beside the budget. */
  #withVerifier(prepared: Prepared, options: CallOptions): CallOptions {
    const { verifierTimeoutMs } = this.#options;
    if (verifierTimeoutMs === 0 || prepared.domain().policies.every(({ verifiedMin }) => verifiedMin === undefined)) {
      return options;
    }
    return { ...options, deadlineAtMs: options.deadlineAtMs + verifierTimeoutMs };
  }

  async #decide(
    semantic: SemanticMatcher,
    prepared: Prepared,
    how: { readonly options: CallOptions; readonly fetched: Map<string, Found>; readonly explaining: boolean },
  ): Promise<SemanticDecision> {
    const { tiers, refusals } = this.#deps;
    const { options, fetched, explaining } = how;
    const { threshold } = prepared.controls;
    const { tenant } = prepared.parts;
    const refused = await refusals.follow(tenant, options);
    return semantic.find(
      {
        scope: prepared.scope(),
        askedText: prepared.facts.askedText,
        policies: prepared.domain().policies,
        explaining,
        ...(threshold === undefined ? {} : { thresholdMin: threshold }),
      },
      {
        fetchEntry: async (key) => {
          const candidate = await tiers.getCandidate(key, { ...prepared.terms, graceAllowed: false }, options);
          if (candidate === undefined || candidate === 'unusable') return candidate;
          if (!sameScope(candidate.entry, prepared)) return 'unusable';
          fetched.set(key, candidate);
          return candidate.entry;
        },
        isRefused: (storedKey, storedText, askedText) => refused.has(storedKey, storedText, askedText),
      },
      options,
    );
  }
}

function readable(prepared: Prepared): boolean {
  return prepared.bypass === '' && prepared.controls.noCache !== true;
}

function exactHit(found: Found): LookupHit {
  return {
    kind: 'hit',
    found,
    detail: found.stale ? 'stale' : found.tier,
    similarity: undefined,
    probability: undefined,
  };
}

function semanticHit(decision: SemanticDecision, fetched: ReadonlyMap<string, Found>): LookupHit | undefined {
  const found = decision.entry === undefined ? undefined : fetched.get(decision.entry.key);
  if (found === undefined) return undefined;
  return {
    kind: 'hit',
    found,
    detail: 'semantic',
    similarity: decision.similarity,
    probability: decision.probability,
  };
}

/** A candidate's entry is checked again for tenant and scope (invariant I1), whatever the index said. */
function sameScope(entry: Entry, prepared: Prepared): boolean {
  return (
    entry.scope === prepared.scope() && entry.tenant === prepared.parts.tenant && entry.operation === prepared.operation
  );
}

function bypassOf(decision: SemanticDecision): string {
  switch (decision.skipped) {
    case 'embedder':
      return 'embedder';
    case 'budget':
      return 'lookup-budget';
    case 'cell':
      return 'cell';
    case 'degenerate':
      return 'degenerate-vector';
    default:
      return '';
  }
}
