import type { CandidateEvidence, GuardVerdict } from '../ports/service.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { CellMatch } from './cell.ts';
import { BLIND_VETO, decidePair, type PairVerdict } from './decide.ts';
import { GUARD_NAMES, GUARDS } from './guards/guards.ts';
import type { PairSide } from './pair-side.ts';
import type { DomainPolicy } from './policies.ts';
import type { SideCache } from './side-cache.ts';

/** What candidates are held against. */
export interface Asked extends PairSide {
  /** A pair must pass every one of them. */
  readonly policies: readonly DomainPolicy[];
  /** Raises every policy's similarity threshold; 0: changes nothing. */
  readonly thresholdMin: number;
  /** Every guard gives its verdict on every candidate, and nothing is counted. */
  readonly explaining: boolean;
}

/** A candidate that may serve if its entry is still there. */
export interface Candidate {
  readonly key: string;
  readonly storedText: string;
  readonly similarity: number;
  readonly probability: number;
  readonly guards: readonly GuardVerdict[];
  /** Guards that don't know the language of one of the texts. */
  readonly unknown: readonly string[];
  /** The verifier's probability, once it gave one. */
  readonly verified?: number;
}

type Verdict =
  | 'served'
  | 'below-threshold'
  | 'improbable'
  | 'vetoed'
  | 'refused'
  | 'gone'
  | 'unusable'
  | 'late'
  | 'malformed'
  | 'unverified'
  | 'verifier-failed'
  | 'outranked';

/** One decision: looks at candidates in order and keeps the evidence of each. */
export class Judgement {
  readonly #telemetry: Telemetry;
  readonly #sides: SideCache;
  readonly #asked: Asked;
  readonly #policies: readonly DomainPolicy[];
  readonly #evidence: CandidateEvidence[] = [];
  #blind = false;

  constructor(deps: { readonly telemetry: Telemetry; readonly sides: SideCache }, asked: Asked) {
    this.#telemetry = deps.telemetry;
    this.#sides = deps.sides;
    this.#asked = asked;
    const { thresholdMin } = asked;
    this.#policies = asked.policies.map((policy) =>
      thresholdMin <= policy.similarityMin ? policy : { ...policy, similarityMin: thresholdMin },
    );
  }

  get evidence(): readonly CandidateEvidence[] {
    return this.#evidence;
  }

  /** True when a candidate had the asked text's very vector and other words. */
  get blind(): boolean {
    return this.#blind;
  }

  /** The candidate when nothing but its entry is left to be checked; else undefined, with the reason in the evidence. */
  consider(
    match: CellMatch,
    isRefused?: (storedKey: string, storedText: string, askedText: string) => boolean,
  ): Candidate | undefined {
    const { key, similarity } = match;
    const stored = this.#sides.stored(match.record);
    if (stored === undefined) {
      this.pass({ key, storedText: '', similarity, probability: 0, guards: [], unknown: [] }, 'malformed');
      return undefined;
    }
    const { text, explaining } = this.#asked;
    const decision = this.#decide(stored, similarity);
    if (decision.blind) this.#blind = true;
    const { probability, unknown } = decision;
    const guards = explaining ? this.#guardVerdicts(decision) : [];
    const candidate = { key, storedText: stored.text, similarity, probability, guards, unknown };
    if (decision.reason !== 'served') this.pass(candidate, decision.reason, decision.vetoes);
    else if (isRefused?.(key, stored.text, text) === true) this.pass(candidate, 'refused');
    else return candidate;
    return undefined;
  }

  /** The candidate doesn't serve. */
  pass(candidate: Candidate, verdict: Exclude<Verdict, 'served'>, vetoes: readonly string[] = []): void {
    this.#note(candidate, verdict, vetoes);
  }

  /** The candidate's entry is the answer. */
  serve(candidate: Candidate): void {
    this.#note(candidate, 'served', []);
  }

  /** The verdict of the first policy that refuses, with the vetoes of all and the lowest probability. */
  #decide(stored: PairSide, similarity: number): PairVerdict {
    const { explaining } = this.#asked;
    let decision: PairVerdict | undefined;
    for (const policy of this.#policies) {
      const next = decidePair(policy, this.#asked, stored, similarity, { evidence: explaining });
      decision = decision === undefined ? next : bothOf(decision, next);
      if (!decision.serve && !explaining) break;
    }
    return decision as PairVerdict;
  }

  #guardVerdicts(decision: PairVerdict): readonly GuardVerdict[] {
    const used = new Set(this.#policies.flatMap((policy) => policy.guards));
    const verdicts = [...new Set([...GUARD_NAMES, ...used])].map((name): GuardVerdict => {
      if (decision.vetoes.includes(name)) return { name, verdict: 'veto' };
      if (!used.has(name)) return { name, verdict: 'off' };
      return { name, verdict: decision.unknown.includes(name) ? 'unknown' : 'clear' };
    });
    return decision.vetoes.includes(BLIND_VETO) ? [...verdicts, { name: BLIND_VETO, verdict: 'veto' }] : verdicts;
  }

  #note(candidate: Candidate, verdict: Verdict, vetoes: readonly string[]): void {
    if (!this.#asked.explaining) {
      this.#telemetry.counter('reprise_semantic_decisions_total', verdict).add();
      for (const guard of vetoes) {
        const known = guard === BLIND_VETO || GUARDS.has(guard);
        this.#telemetry.counter('reprise_semantic_vetoes_total', known ? guard : 'unknown').add();
      }
    }
    const { key, ...rest } = candidate;
    this.#evidence.push({ entryId: key, ...rest, vetoes, served: verdict === 'served', reason: verdict });
  }
}

function bothOf(first: PairVerdict, second: PairVerdict): PairVerdict {
  const refusing = first.serve ? second : first;
  return {
    ...refusing,
    probability: Math.min(first.probability, second.probability),
    vetoes: [...new Set([...first.vetoes, ...second.vetoes])],
    unknown: [...new Set([...first.unknown, ...second.unknown])],
    serve: first.serve && second.serve,
    blind: first.blind || second.blind,
  };
}
