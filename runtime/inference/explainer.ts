import type { Tiers } from '../cache/tiers.ts';
import type { Ledger } from '../cache/ledger.ts';
import { toRepriseError } from '../errors.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Entry } from '../ports/entry.ts';
import type { CacheStatus, CandidateEvidence, Explanation, PolicyExplanation } from '../ports/service.ts';
import { observedBecause } from './domains.ts';
import type { ExplainMemory } from './explain-memory.ts';
import type { Lookup, LookupHit, SemanticFindings } from './lookup.ts';
import { signalOf, type Prepared } from './prepare.ts';
import { calledStatus, hitStatus } from './replies.ts';

export interface ExplainerDeps {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly tiers: Tiers;
  readonly lookup: Lookup;
  readonly memory: ExplainMemory;
}

interface Findings {
  readonly status: CacheStatus;
  readonly reasons: readonly string[];
  readonly candidates: readonly CandidateEvidence[];
  /** The first request of those asked about whose key is not stored. */
  readonly missing: Prepared | undefined;
}

export interface ExplainerOptions {
  readonly timeoutMs: number;
  /** Why there is no semantic matching on this node; undefined when there is. */
  readonly semanticOff: string | undefined;
  /** Id of the verifier; empty: there is none. */
  readonly verifier: string;
  /** Which calibration is in force, or why none is. */
  readonly calibration: string;
}

/** Answers "why was this served?" and "why did this miss?" without calling a model or changing anything. */
export class Explainer {
  readonly #deps: ExplainerDeps;
  readonly #options: ExplainerOptions;

  constructor(deps: ExplainerDeps, options: ExplainerOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** `parts`: the requests by whose keys it is stored; several for a batch of embeddings. */
  async explain(prepared: Prepared, parts: readonly Prepared[]): Promise<Explanation> {
    const { clock, memory } = this.#deps;
    const options: CallOptions = {
      deadlineAtMs: clock.monotonicMs() + this.#options.timeoutMs,
      signal: signalOf(prepared),
    };
    const only = parts.length === 1 ? parts[0] : undefined;
    const found = only === undefined ? await this.#batch(prepared, parts, options) : await this.#one(only, options);
    const { missing } = found;
    // Who may read nothing, or reads nothing here, learns nothing of what is stored.
    const nearest = missing === undefined || prepared.bypass !== '' ? undefined : memory.nearest(missing);
    const policies = policiesOf(prepared);
    const explanation: Explanation = {
      key: (only ?? prepared).key,
      scope: prepared.scope(),
      tenant: prepared.parts.tenant,
      namespace: prepared.namespaceName,
      model: prepared.parts.model,
      modelVersion: prepared.resolved.rule.version,
      status: found.status,
      reasons: found.reasons,
      semantic: {
        mode: this.#options.semanticOff === undefined ? prepared.namespace.semantic : 'off',
        domain: prepared.domain().name,
        threshold: Math.max(...policies.map((policy) => policy.similarityMin)),
        candidates: found.candidates,
        domainReason: prepared.domain().reason,
        policies,
        verifier: this.#options.verifier,
        calibration: this.#options.calibration,
      },
    };
    return nearest === undefined ? explanation : { ...explanation, nearest };
  }

  async #one(prepared: Prepared, options: CallOptions): Promise<Findings> {
    const reasons: string[] = [];
    const exact = await this.#exact(prepared, options, reasons);
    if (prepared.bypass !== '' || prepared.operation === 'embeddings') {
      const missing = exact === undefined ? prepared : undefined;
      return { status: this.#status(prepared, exact), reasons, candidates: [], missing };
    }
    const semantic = await this.#deps.lookup.explainSemantic(prepared, options);
    if (exact === undefined) this.#explainSemantics(prepared, semantic, reasons);
    const observed = observedBecause(prepared.namespace, prepared.domain());
    const served = exact ?? (observed === undefined ? semantic.hit : undefined);
    const missing = exact === undefined ? prepared : undefined;
    return { status: this.#status(prepared, served), reasons, candidates: semantic.evidence, missing };
  }

  async #batch(prepared: Prepared, parts: readonly Prepared[], options: CallOptions): Promise<Findings> {
    const reasons: string[] = [];
    const hits: LookupHit[] = [];
    let missing: Prepared | undefined;
    for (const part of parts) {
      const hit = await this.#exact(part, options, prepared.bypass === '' ? [] : reasons);
      if (hit === undefined) missing ??= part;
      else hits.push(hit);
      if (prepared.bypass !== '') break;
    }
    if (prepared.bypass === '') reasons.push(`${hits.length} of ${parts.length} items are stored.`);
    const status = this.#status(prepared, missing === undefined ? hits[0] : undefined);
    const isPartial = status.outcome === 'miss' && hits.length > 0;
    const detail = isPartial ? `partial-${hits.length}/${parts.length}` : status.detail;
    return { status: { ...status, detail }, reasons, candidates: [], missing };
  }

  async #exact(prepared: Prepared, options: CallOptions, reasons: string[]): Promise<LookupHit | undefined> {
    const { tiers } = this.#deps;
    if (prepared.bypass !== '') {
      reasons.push(`No tier is used: ${describeBypass(prepared)}.`);
      return undefined;
    }
    try {
      const found = await tiers.get(prepared.key, prepared.terms, options);
      if (found !== undefined) {
        reasons.push(`The exact key is stored (${found.tier}${found.stale ? ', stale but inside its grace' : ''}).`);
        const detail = found.stale ? 'stale' : found.tier;
        return { kind: 'hit', found, detail, similarity: undefined, probability: undefined };
      }
      const present = await tiers.peek(prepared.key, options);
      reasons.push(present === undefined ? 'The exact key is not stored.' : this.#whyNotServed(present, prepared));
    } catch (error) {
      reasons.push(`The tiers could not be read: ${toRepriseError(error).code}.`);
    }
    return undefined;
  }

  #explainSemantics(prepared: Prepared, findings: SemanticFindings, reasons: string[]): void {
    const { semanticOff } = this.#options;
    const mode = prepared.namespace.semantic;
    const observed = observedBecause(prepared.namespace, prepared.domain());
    if (semanticOff !== undefined) reasons.push(`Semantic matching is off: ${semanticOff}.`);
    else if (mode === 'off') reasons.push('Semantic matching is off in this namespace.');
    else if (prepared.scope() === '')
      reasons.push('The last message is not plain user text, so the request takes no part in semantic reuse.');
    else if (findings.bypass !== '') reasons.push(`The semantic look-up was not made: ${findings.bypass}.`);
    else if (findings.evidence.length === 0) reasons.push('No stored text of the same scope is near.');
    else if (findings.hit === undefined) reasons.push('Every near text was refused; see the candidates.');
    else if (observed !== undefined) reasons.push(`A near text would be served, but ${observed}.`);
    else reasons.push('A near text is served.');
  }

  #whyNotServed(entry: Entry, prepared: Prepared): string {
    const { clock, ledger } = this.#deps;
    const nowMs = clock.wallMs();
    if (ledger.freshness(prepared.terms.strict) === 'unusable') {
      return 'The exact key is stored, but the ledger has not been confirmed recently enough to serve it.';
    }
    const validity = ledger.validity(entry);
    if (validity === 'invalid') return 'The exact key is stored, but it was invalidated.';
    if (nowMs >= entry.expiresAtMs)
      return `The exact key is stored, but it expired ${nowMs - entry.expiresAtMs} ms ago.`;
    if (validity === 'stale')
      return 'The exact key is stored, but it was softly invalidated and the namespace has no grace.';
    return `The exact key is stored, but it is ${nowMs - entry.calledAtMs} ms old, older than this request accepts.`;
  }

  #status(prepared: Prepared, hit: LookupHit | undefined): CacheStatus {
    if (hit !== undefined) return hitStatus(hit, prepared, this.#deps.clock.wallMs());
    const outcome = prepared.bypass === '' ? 'miss' : 'bypass';
    return calledStatus(prepared, { outcome, detail: prepared.bypass, stored: false });
  }
}

/** The policies in force, the caller's threshold included. */
function policiesOf(prepared: Prepared): readonly PolicyExplanation[] {
  const { threshold = 0 } = prepared.controls;
  return prepared.domain().policies.map((policy) => ({
    domain: policy.name,
    similarityMin: Math.max(policy.similarityMin, threshold),
    probabilityMin: policy.probabilityMin,
    ...(policy.verifiedMin === undefined ? {} : { verifiedMin: policy.verifiedMin }),
    guards: policy.guards,
    calibrated: policy.calibrated,
  }));
}

function describeBypass(prepared: Prepared): string {
  switch (prepared.bypass) {
    case 'stateful':
      return `the field '${prepared.facts.bypassField}' makes the request stateful or live`;
    case 'sampling':
      return 'the namespace bypasses unseeded sampling';
    case 'unverified':
      return 'no upstream has accepted the credential yet';
    default:
      return 'the ledger has not been read yet';
  }
}
