import { RepriseError } from '../errors.ts';
import type { Ledger } from '../cache/ledger.ts';
import type { StoreQueue } from '../cache/store-queue.ts';
import type { Tiers } from '../cache/tiers.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Embedding } from '../ports/embedder.ts';
import type { Entry, Usage } from '../ports/entry.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { normaliseAskedText } from '../semantic/asked-text.ts';
import type { SemanticMatcher } from '../semantic/semantic-matcher.ts';
import { costOf } from './accounting.ts';
import type { ExplainMemory } from './explain-memory.ts';
import type { Prepared } from './prepare.ts';

/** A complete answer as it came from the upstream. */
export interface Answer {
  readonly kind: 'body' | 'stream';
  readonly contentType: string;
  readonly payload: Uint8Array;
  /** Byte range of a stream's usage-only event; 0,0: none. */
  readonly usageRange: { readonly start: number; readonly end: number };
  readonly usage: Usage;
  /** Why it must not be stored, whatever the request says; empty when it may. */
  readonly refusal: string;
  readonly systemFingerprint: string;
  /** Wall clock, start of the model call. */
  readonly calledAtMs: number;
  readonly modelMs: number;
  readonly firstTokenMs: number;
}

/** What a vector that waits costs beside its text. */
const VECTOR_BYTES = 2_048;

/** Writes complete answers back, off the reply path, and only those that §4 of the design allows ("stored only"). */
export class StoreAnswers {
  readonly #deps: {
    clock: Clock;
    ledger: Ledger;
    tiers: Tiers;
    queue: StoreQueue;
    vectorQueue: StoreQueue;
    semantic: SemanticMatcher | undefined;
    explain: ExplainMemory;
    telemetry: Telemetry;
  };
  readonly #options: { nodeId: string; entryBytesMax: number };

  constructor(
    deps: {
      clock: Clock;
      ledger: Ledger;
      tiers: Tiers;
      queue: StoreQueue;
      vectorQueue: StoreQueue;
      semantic: SemanticMatcher | undefined;
      explain: ExplainMemory;
      telemetry: Telemetry;
    },
    options: { nodeId: string; entryBytesMax: number },
  ) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Whether an answer to this request will be offered at all, as far as is known before it comes. */
  wanted(prepared: Prepared): boolean {
    if (prepared.controls.noStore === true || prepared.ttlMs <= 0) return false;
    return (prepared.bypass === '' || prepared.bypass === 'unverified') && prepared.position !== undefined;
  }

  /** Whether this answer, now that it is here whole, will be offered. */
  accepts(prepared: Prepared, answer: Pick<Answer, 'payload' | 'refusal'>): boolean {
    return this.#refusal(prepared, answer) === '';
  }

  /** Resolves when the store did, whatever its result. */
  async offer(prepared: Prepared, answer: Answer, embedding: Embedding | undefined): Promise<void> {
    const refusal = this.#refusal(prepared, answer);
    if (refusal !== '') {
      this.#deps.telemetry.counter('reprise_stores_total', refusal).add();
      return;
    }
    const entry = this.entryOf(prepared, answer);
    const bytes = entry.payload.byteLength + entry.askedText.length * 2 + 512;
    await this.#deps.queue.offer(bytes, async (options) => {
      if (await this.#write(prepared, entry, options)) this.#rememberLater(prepared, entry, embedding);
    });
  }

  /** Stores now and waits; for the Store call. False when it was refused or a newer one was kept. */
  async storeNow(prepared: Prepared, answer: Answer, options: CallOptions): Promise<boolean> {
    if (this.#refusal(prepared, answer) !== '') return false;
    const entry = this.entryOf(prepared, answer);
    if (!(await this.#write(prepared, entry, options))) return false;
    await this.#remember(prepared, entry, undefined, options).catch(() => undefined);
    return true;
  }

  entryOf(prepared: Prepared, answer: Answer): Entry {
    const { parts, resolved } = prepared;
    const scope = prepared.scope();
    return {
      key: prepared.key,
      operation: prepared.operation,
      kind: answer.kind,
      contentType: answer.contentType,
      payload: answer.payload,
      usageEventStart: answer.usageRange.start,
      usageEventEnd: answer.usageRange.end,
      usage: answer.usage,
      cost: costOf(answer.usage, resolved.rule.price),
      calledAtMs: answer.calledAtMs,
      expiresAtMs: answer.calledAtMs + prepared.ttlMs,
      graceMs: prepared.namespace.graceMs,
      position: prepared.position!,
      tenant: parts.tenant,
      namespace: parts.namespace,
      tags: parts.tags,
      model: parts.model,
      modelVersion: resolved.rule.version,
      scope,
      askedText: scope === '' ? '' : normaliseAskedText(prepared.facts.askedText),
      provenance: {
        node: this.#options.nodeId,
        upstream: resolved.upstream,
        systemFingerprint: answer.systemFingerprint,
        modelMs: answer.modelMs,
        firstTokenMs: answer.firstTokenMs,
      },
    };
  }

  #refusal(prepared: Prepared, answer: Pick<Answer, 'payload' | 'refusal'>): string {
    if (!this.wanted(prepared)) return 'not-wanted';
    if (answer.payload.byteLength > this.#options.entryBytesMax) return 'too-large';
    return answer.refusal;
  }

  /** Names that were marked while the model ran, or a ledger that began anew, forbid the store. */
  #overtaken(prepared: Prepared, entry: Entry): boolean {
    const { ledger } = this.#deps;
    return ledger.epoch !== prepared.epoch || ledger.markedSince(entry);
  }

  async #write(prepared: Prepared, entry: Entry, options: CallOptions): Promise<boolean> {
    const { tiers, explain, telemetry } = this.#deps;
    if (this.#overtaken(prepared, entry)) {
      telemetry.counter('reprise_stores_total', 'overtaken').add();
      return false;
    }
    // The deadline says all that the signal would, and a signal costs more than the write to a grid at hand.
    if (!(await tiers.store(entry, { deadlineAtMs: options.deadlineAtMs }))) {
      telemetry.counter('reprise_stores_total', 'kept-newer').add();
      return false;
    }
    explain.remember(prepared);
    return true;
  }

  /** In a queue of its own: an embedder that is slower than the questions come must not hold up the answers. */
  #rememberLater(prepared: Prepared, entry: Entry, embedding: Embedding | undefined): void {
    if (!this.#isRemembered(prepared, entry)) return;
    const bytes = VECTOR_BYTES + prepared.facts.askedText.length * 2;
    void this.#deps.vectorQueue.offer(bytes, (options) => this.#remember(prepared, entry, embedding, options));
  }

  #isRemembered(prepared: Prepared, entry: Entry): boolean {
    return this.#deps.semantic !== undefined && entry.scope !== '' && prepared.namespace.semantic !== 'off';
  }

  async #remember(
    prepared: Prepared,
    entry: Entry,
    embedding: Embedding | undefined,
    options: CallOptions,
  ): Promise<void> {
    const { semantic } = this.#deps;
    if (semantic === undefined || !this.#isRemembered(prepared, entry)) return;
    const record = {
      scope: entry.scope,
      key: entry.key,
      askedText: prepared.facts.askedText,
      expiresAtMs: entry.expiresAtMs,
    };
    const result = await semantic.remember(embedding === undefined ? record : { ...record, embedding }, options);
    if (result === 'failed') {
      throw new RepriseError('embedder_unavailable', 'The answer is stored, but not for its rephrasings.');
    }
  }
}
