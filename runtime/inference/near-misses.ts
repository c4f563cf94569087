import type { Clock } from '../ports/clock.ts';
import type { Hash } from '../ports/hash.ts';
import type { NearMissLog } from '../ports/near-miss-log.ts';
import type { NearMissOptions } from '../ports/options.ts';
import type { CandidateEvidence } from '../ports/service.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { normaliseAskedText } from '../semantic/asked-text.ts';
import type { Prepared } from './prepare.ts';

/** What became of candidates that people had better look at, wherever they are near enough. */
const TELLING = new Set(['served', 'below-threshold', 'improbable', 'vetoed', 'unverified']);

/** Notes candidates near the threshold, and those refused above it, each pair once. */
export class NearMisses {
  readonly #log: NearMissLog;
  readonly #deps: { readonly clock: Clock; readonly hash: Hash; readonly telemetry: Telemetry };
  readonly #options: NearMissOptions;
  /** Oldest first. */
  readonly #noted = new Set<string>();

  constructor(
    log: NearMissLog,
    deps: { readonly clock: Clock; readonly hash: Hash; readonly telemetry: Telemetry },
    options: NearMissOptions,
  ) {
    this.#log = log;
    this.#deps = deps;
    this.#options = options;
  }

  note(prepared: Prepared, evidence: readonly CandidateEvidence[]): void {
    const { policies, name } = prepared.domain();
    const similarityMin = Math.max(prepared.controls.threshold ?? 0, ...policies.map((policy) => policy.similarityMin));
    const probabilityMin = Math.max(...policies.map((policy) => policy.probabilityMin));
    for (const candidate of evidence) {
      if (!TELLING.has(candidate.reason) || !this.#isNear(candidate, similarityMin)) continue;
      const b = normaliseAskedText(prepared.facts.askedText);
      if (b === candidate.storedText || !this.#isNew(prepared.parts.tenant, candidate.storedText, b)) continue;
      const isWritten = this.#log.write({
        atMs: this.#deps.clock.wallMs(),
        tenant: prepared.parts.tenant,
        namespace: prepared.namespaceName,
        domain: name,
        entryId: candidate.entryId,
        a: candidate.storedText,
        b,
        similarity: candidate.similarity,
        similarityMin,
        probability: candidate.probability,
        probabilityMin,
        vetoes: candidate.vetoes,
        reason: candidate.reason,
      });
      this.#deps.telemetry.counter('reprise_semantic_near_misses_total', isWritten ? 'written' : 'dropped').add();
    }
  }

  /** Within the margin below the threshold all candidates, above it those that were refused or served narrowly. */
  #isNear({ similarity, reason }: CandidateEvidence, similarityMin: number): boolean {
    const above = similarity - similarityMin;
    if (above < -this.#options.margin) return false;
    return reason !== 'served' || above <= this.#options.margin;
  }

  #isNew(tenant: string, stored: string, asked: string): boolean {
    const id = this.#deps.hash.sha256Hex(`${tenant}\n${stored.length}\n${stored}\n${asked}`);
    if (this.#noted.has(id)) return false;
    const [oldest] = this.#noted;
    if (this.#noted.size >= this.#options.rememberedMax && oldest !== undefined) this.#noted.delete(oldest);
    this.#noted.add(id);
    return true;
  }
}
