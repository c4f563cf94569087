import { ModelError, RepriseError, toRepriseError } from '../errors.ts';
import { upstreamBody } from '../cache/canonical-request.ts';
import type { FlightSink, Lead } from '../cache/flight.ts';
import { summarizeAnswer } from '../cache/stored-only.ts';
import type { Found, Tiers } from '../cache/tiers.ts';
import type { Clock } from '../ports/clock.ts';
import type { Embedding } from '../ports/embedder.ts';
import type { Usage } from '../ports/entry.ts';
import type { ModelReply, ModelRequest } from '../ports/model.ts';
import type { Accounting } from './accounting.ts';
import type { CredentialWatch } from './credential-watch.ts';
import type { Prepared } from './prepare.ts';
import { frameEvent, usageEventRange } from './stream-assembly.ts';
import type { Answer, StoreAnswers } from './store-answers.ts';

/** What the leader's own request learns of the call that it led. */
export interface LeadState {
  /** Set when the answer was in a tier after all: nothing was called. */
  found: Found | undefined;
  usage: Usage | undefined;
}

export interface LeadPlan {
  readonly prepared: Prepared;
  readonly stream: boolean;
  readonly embedding: Embedding | undefined;
  /** Look into the tiers once more before calling: a flight may have ended between look-up and join. */
  readonly reread: boolean;
  readonly state: LeadState;
}

interface Timing {
  readonly calledAtMs: number;
  readonly startedAtMs: number;
  firstTokenMs: number;
}

const SETTLED = Promise.resolve();

/** Makes the leads of flights: one model call, recorded, then offered to the store off the reply path. */
export class ModelCalls {
  readonly #deps: {
    clock: Clock;
    tiers: Tiers;
    accounting: Accounting;
    credentials: CredentialWatch | undefined;
    store: StoreAnswers;
  };
  readonly #options: { modelTimeoutMs: number; lookupBudgetMs: number };
  #generation = 0;

  constructor(
    deps: {
      clock: Clock;
      tiers: Tiers;
      accounting: Accounting;
      credentials: CredentialWatch | undefined;
      store: StoreAnswers;
    },
    options: { modelTimeoutMs: number; lookupBudgetMs: number },
  ) {
    this.#deps = deps;
    this.#options = options;
  }

  lead(plan: LeadPlan): Lead {
    return async (sink, signal) => {
      if (plan.reread && (await this.#fromTier(plan, sink, signal))) return { settled: SETTLED };
      return this.#call(plan, sink, signal);
    };
  }

  async #fromTier(plan: LeadPlan, sink: FlightSink, signal: AbortSignal): Promise<boolean> {
    const { tiers, clock } = this.#deps;
    const options = { deadlineAtMs: clock.monotonicMs() + this.#options.lookupBudgetMs, signal };
    let found: Found | undefined;
    try {
      found = await tiers.get(plan.prepared.key, { ...plan.prepared.terms, graceAllowed: false }, options);
    } catch {
      return false;
    }
    if (found === undefined) return false;
    plan.state.found = found;
    sink.begin({ kind: found.entry.kind, contentType: found.entry.contentType, generation: this.#nextGeneration() });
    await sink.push(found.entry.payload);
    return true;
  }

  async #call(plan: LeadPlan, sink: FlightSink, signal: AbortSignal): Promise<{ settled: Promise<void> }> {
    const { clock, accounting, credentials } = this.#deps;
    const { prepared } = plan;
    const timing: Timing = { calledAtMs: clock.wallMs(), startedAtMs: clock.monotonicMs(), firstTokenMs: 0 };
    const credential = prepared.identity.credential;
    try {
      const answer = plan.stream
        ? await this.#stream(plan, sink, signal, timing)
        : await this.#unary(plan, sink, signal, timing);
      accounting.modelCall(prepared.operation, 'ok', clock.monotonicMs() - timing.startedAtMs);
      if (credential !== undefined) credentials?.accepted(credential, timing.startedAtMs);
      plan.state.usage = answer?.usage;
      return { settled: answer === undefined ? SETTLED : this.#deps.store.offer(prepared, answer, plan.embedding) };
    } catch (error) {
      const coded = toRepriseError(error);
      accounting.modelCall(
        prepared.operation,
        signal.aborted ? 'cancelled' : coded.code,
        clock.monotonicMs() - timing.startedAtMs,
      );
      if (credential !== undefined && coded instanceof ModelError && (coded.status === 401 || coded.status === 403)) {
        credentials?.rejected(credential);
      }
      throw error;
    }
  }

  async #unary(plan: LeadPlan, sink: FlightSink, signal: AbortSignal, timing: Timing): Promise<Answer | undefined> {
    const reply = await plan.prepared.resolved.model.call(this.#request(plan), this.#callOptions(signal));
    return this.#whole(plan, sink, reply, timing);
  }

  async #whole(plan: LeadPlan, sink: FlightSink, reply: ModelReply, timing: Timing): Promise<Answer> {
    timing.firstTokenMs = this.#deps.clock.monotonicMs() - timing.startedAtMs;
    sink.begin({ kind: 'body', contentType: reply.contentType, generation: this.#nextGeneration() });
    await sink.push(reply.body);
    return this.#answer('body', reply.contentType, reply.body, { start: 0, end: 0 }, timing, plan);
  }

  async #stream(plan: LeadPlan, sink: FlightSink, signal: AbortSignal, timing: Timing): Promise<Answer | undefined> {
    const stream = await plan.prepared.resolved.model.stream(this.#request(plan), this.#callOptions(signal));
    if (stream.kind === 'reply') return this.#whole(plan, sink, stream.reply, timing);
    const contentType = 'text/event-stream';
    sink.begin({ kind: 'stream', contentType, generation: this.#nextGeneration() });
    let usageRange = { start: 0, end: 0 };
    let offset = 0;
    for await (const event of stream.events) {
      if (signal.aborted) throw new RepriseError('cancelled', 'Every participant of the call left.');
      if (offset === 0) timing.firstTokenMs = this.#deps.clock.monotonicMs() - timing.startedAtMs;
      const chunk = frameEvent(event);
      const range = usageEventRange(chunk);
      if (range !== undefined) usageRange = { start: offset + range.start, end: offset + range.end };
      offset += chunk.byteLength;
      const pushed = sink.push(chunk);
      if (pushed !== undefined) await pushed;
    }
    const recording = sink.recording();
    return recording === undefined
      ? undefined
      : this.#answer('stream', contentType, recording, usageRange, timing, plan);
  }

  #answer(
    kind: 'body' | 'stream',
    contentType: string,
    payload: Uint8Array,
    usageRange: { start: number; end: number },
    timing: Timing,
    plan: LeadPlan,
  ): Answer {
    const { usage, refusal, systemFingerprint } = summarizeAnswer(plan.prepared.operation, kind, payload);
    return {
      kind,
      contentType,
      payload,
      usageRange,
      usage,
      refusal,
      systemFingerprint,
      calledAtMs: timing.calledAtMs,
      modelMs: this.#deps.clock.monotonicMs() - timing.startedAtMs,
      firstTokenMs: timing.firstTokenMs,
    };
  }

  #request(plan: LeadPlan): ModelRequest {
    const { prepared } = plan;
    const body = upstreamBody(prepared.canonical().tree, { stream: plan.stream });
    return {
      operation: prepared.operation,
      model: prepared.facts.model,
      body,
      ...(prepared.identity.credential === undefined ? {} : { credential: prepared.identity.credential }),
      ...(prepared.traceparent === undefined ? {} : { traceparent: prepared.traceparent }),
    };
  }

  #callOptions(signal: AbortSignal): { signal: AbortSignal; deadlineAtMs: number } {
    return { signal, deadlineAtMs: this.#deps.clock.monotonicMs() + this.#options.modelTimeoutMs };
  }

  #nextGeneration(): string {
    this.#generation += 1;
    return String(this.#generation);
  }
}
