import type { DomainOptions } from '../ports/options.ts';
import type { CandidateEvidence } from '../ports/service.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { foldText, lightFold, spellingDiffers } from './asked-text.ts';
import type { CellMatch } from './cell.ts';
import { uncalibratedEquivalence } from './equivalence.ts';
import type { Features } from './features.ts';
import { GUARDS, vetoesOf } from './guards/guards.ts';
import { decodeVectorText } from './vector-record.ts';

/** What candidates are held against. */
export interface Asked {
  /** Normalised. */
  readonly text: string;
  readonly features: Features;
  readonly domain: DomainOptions;
  /** The domain's threshold, or the caller's where that is higher. */
  readonly similarityMin: number;
}

/** A candidate that may serve if its entry is still there. */
export interface Candidate {
  readonly key: string;
  readonly storedText: string;
  readonly similarity: number;
  readonly probability: number;
}

type Verdict =
  'served' | 'below-threshold' | 'improbable' | 'vetoed' | 'refused' | 'gone' | 'unusable' | 'late' | 'malformed';

/** Closer than two texts with different letters ever come, unless the embedder doesn't know their words. */
const BLIND_SIMILARITY = 0.9999;
/** Name in the evidence of candidates that the embedder can't tell from the asked text. */
const BLIND = 'degenerate';

/** One decision: looks at candidates in order and keeps the evidence of each. */
export class Judgement {
  readonly #telemetry: Telemetry;
  readonly #asked: Asked;
  readonly #evidence: CandidateEvidence[] = [];
  #blind = false;

  constructor(telemetry: Telemetry, asked: Asked) {
    this.#telemetry = telemetry;
    this.#asked = asked;
  }

  get evidence(): readonly CandidateEvidence[] {
    return this.#evidence;
  }

  /** True when a candidate had the asked text's very vector and other words. */
  get blind(): boolean {
    return this.#blind;
  }

  /**
   * The candidate when nothing but its entry is left to be checked; else undefined, with the reason in the evidence. The
   * threshold comes first: guards cost more than a comparison, and most candidates are below it.
   */
  consider(
    match: CellMatch,
    isRefused?: (storedKey: string, storedText: string, askedText: string) => boolean,
  ): Candidate | undefined {
    const { key, similarity } = match;
    const stored = decodeVectorText(match.record);
    if (stored === undefined) {
      this.pass({ key, storedText: '', similarity, probability: 0 }, 'malformed');
      return undefined;
    }
    const storedText = stored.text;
    const near = similarity >= this.#asked.similarityMin;
    const vetoes = near ? this.#vetoes(storedText, stored.features, similarity) : [];
    const probability = uncalibratedEquivalence({ similarity, vetoed: vetoes.length > 0 });
    const candidate = { key, storedText, similarity, probability };
    if (!near) this.pass(candidate, 'below-threshold');
    else if (vetoes.length > 0) this.pass(candidate, 'vetoed', vetoes);
    else if (probability < this.#asked.domain.probabilityMin) this.pass(candidate, 'improbable');
    else if (isRefused?.(key, storedText, this.#asked.text) === true) this.pass(candidate, 'refused');
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

  #vetoes(storedText: string, features: Features, similarity: number): readonly string[] {
    const vetoes = vetoesOf(this.#asked.domain.guards, this.#asked.features, features);
    const asked = this.#asked.text;
    if (storedText === asked) return vetoes;
    const sameVector = similarity >= BLIND_SIMILARITY;
    const sameLetters = foldText(storedText) === foldText(asked);
    if (sameVector && !sameLetters) this.#blind = true;
    const unseen = sameLetters ? spellingDiffers(storedText, asked) : sameVector;
    if (unseen || (sameVector && lightFold(storedText) !== lightFold(asked))) return [...vetoes, BLIND];
    return vetoes;
  }

  #note(candidate: Candidate, verdict: Verdict, vetoes: readonly string[]): void {
    this.#telemetry.counter('reprise_semantic_decisions_total', verdict).add();
    for (const guard of vetoes) {
      const known = guard === BLIND || GUARDS.has(guard);
      this.#telemetry.counter('reprise_semantic_vetoes_total', known ? guard : 'unknown').add();
    }
    this.#evidence.push({
      entryId: candidate.key,
      storedText: candidate.storedText,
      similarity: candidate.similarity,
      probability: candidate.probability,
      vetoes,
      served: verdict === 'served',
      reason: verdict,
    });
  }
}
