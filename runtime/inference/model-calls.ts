import { ModelError, RepriseError, toRepriseError } from '../errors.ts';
import { upstreamBody } from '../cache/canonical-request.ts';
import type { FlightSink, Lead } from '../cache/flight.ts';
import { summarizeAnswer } from '../cache/stored-only.ts';
import type { Found, Tiers } from '../cache/tiers.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Embedding } from '../ports/embedder.ts';
import type { Usage } from '../ports/entry.ts';
import type { ModelReply, ModelRequest } from '../ports/model.ts';
import { costOf, NO_USAGE, type Accounting } from './accounting.ts';
import type { CredentialWatch } from './credential-watch.ts';
import type { Prepared } from './prepare.ts';
import { frameEvent, readUsage, usageEventRange } from './stream-assembly.ts';
import type { Answer, StoreAnswers } from './store-answers.ts';

/** What the leader's own request learns of the call that it led. */
export interface LeadState {
  /** Set when the answer was in a tier after all: nothing was called. */
  found: Found | undefined;
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

/** What a call brought: no answer that could be stored when it was too large to be kept whole. */
interface Called {
  readonly answer: Answer | undefined;
  readonly usage: Usage;
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
  readonly #options: { modelTimeoutMs: number; joinDeadlineMs: number };
  #generation = 0;

  constructor(
    deps: {
      clock: Clock;
      tiers: Tiers;
      accounting: Accounting;
      credentials: CredentialWatch | undefined;
      store: StoreAnswers;
    },
    options: { modelTimeoutMs: number; joinDeadlineMs: number },
  ) {
    this.#deps = deps;
    this.#options = options;
  }

  /** To be handed to a flight now: joining and reading the tiers once more share the join deadline. */
  lead(plan: LeadPlan): Lead {
    const deadlineAtMs = this.#deps.clock.monotonicMs() + this.#options.joinDeadlineMs;
    return async (sink, signal) => {
      const options: CallOptions = { deadlineAtMs, signal };
      if (plan.reread && (await this.#fromTier(plan, sink, options))) return { settled: SETTLED };
      return this.#call(plan, sink, signal);
    };
  }

  async #fromTier(plan: LeadPlan, sink: FlightSink, options: CallOptions): Promise<boolean> {
    const { tiers } = this.#deps;
    let found: Found | undefined;
    try {
      found = await tiers.get(plan.prepared.key, { ...plan.prepared.terms, graceAllowed: false }, options);
    } catch {
      return false;
    }
    if (found === undefined) return false;
    plan.state.found = found;
    const { kind, contentType, calledAtMs } = found.entry;
    sink.begin({ kind, contentType, generation: this.#nextGeneration(), calledAtMs });
    await sink.push(found.entry.payload);
    return true;
  }

  async #call(plan: LeadPlan, sink: FlightSink, signal: AbortSignal): Promise<{ settled: Promise<void> }> {
    const { clock, accounting, credentials } = this.#deps;
    const { prepared } = plan;
    const timing: Timing = { calledAtMs: clock.wallMs(), startedAtMs: clock.monotonicMs(), firstTokenMs: 0 };
    const credential = prepared.identity.credential;
    try {
      const { answer, usage } = plan.stream
        ? await this.#stream(plan, sink, signal, timing)
        : await this.#unary(plan, sink, signal, timing);
      accounting.modelCall({
        operation: prepared.operation,
        upstream: prepared.resolved.upstream,
        result: 'ok',
        ms: clock.monotonicMs() - timing.startedAtMs,
        billed: usage,
        cost: costOf(usage, prepared.resolved.rule.price),
      });
      if (credential !== undefined) credentials?.accepted(credential, timing.startedAtMs);
      return { settled: answer === undefined ? SETTLED : this.#deps.store.offer(prepared, answer, plan.embedding) };
    } catch (error) {
      const coded = toRepriseError(error);
      accounting.modelCall({
        operation: prepared.operation,
        upstream: prepared.resolved.upstream,
        result: signal.aborted ? 'cancelled' : coded.code,
        ms: clock.monotonicMs() - timing.startedAtMs,
        billed: NO_USAGE,
        cost: 0,
      });
      if (credential !== undefined && coded instanceof ModelError && (coded.status === 401 || coded.status === 403)) {
        credentials?.rejected(credential);
      }
      throw error;
    }
  }

  async #unary(plan: LeadPlan, sink: FlightSink, signal: AbortSignal, timing: Timing): Promise<Called> {
    const reply = await plan.prepared.resolved.model.call(this.#request(plan), this.#callOptions(signal));
    return this.#whole(plan, sink, reply, timing);
  }

  async #whole(plan: LeadPlan, sink: FlightSink, reply: ModelReply, timing: Timing): Promise<Called> {
    timing.firstTokenMs = this.#deps.clock.monotonicMs() - timing.startedAtMs;
    const { calledAtMs } = timing;
    sink.begin({ kind: 'body', contentType: reply.contentType, generation: this.#nextGeneration(), calledAtMs });
    await sink.push(reply.body);
    const answer = this.#answer('body', reply.contentType, reply.body, { start: 0, end: 0 }, timing, plan);
    return { answer, usage: answer.usage };
  }

  async #stream(plan: LeadPlan, sink: FlightSink, signal: AbortSignal, timing: Timing): Promise<Called> {
    const stream = await plan.prepared.resolved.model.stream(this.#request(plan), this.#callOptions(signal));
    if (stream.kind === 'reply') return this.#whole(plan, sink, stream.reply, timing);
    const contentType = 'text/event-stream';
    const { calledAtMs } = timing;
    sink.begin({ kind: 'stream', contentType, generation: this.#nextGeneration(), calledAtMs });
    let usageRange = { start: 0, end: 0 };
    let usage = NO_USAGE;
    let offset = 0;
    for await (const event of stream.events) {
      if (signal.aborted) throw new RepriseError('cancelled', 'Every participant of the call left.');
      if (offset === 0) timing.firstTokenMs = this.#deps.clock.monotonicMs() - timing.startedAtMs;
      const chunk = frameEvent(event);
      const range = usageEventRange(chunk);
      if (range !== undefined) {
        usageRange = { start: offset + range.start, end: offset + range.end };
        usage = readUsage(plan.prepared.operation, 'stream', chunk);
      }
      offset += chunk.byteLength;
      const pushed = sink.push(chunk);
      if (pushed !== undefined) await pushed;
    }
    const recording = sink.recording();
    if (recording === undefined) return { answer: undefined, usage };
    const answer = this.#answer('stream', contentType, recording, usageRange, timing, plan);
    return { answer, usage: answer.usage };
  }

  #answer(
    kind: 'body' | 'stream',
    contentType: string,
    payload: Uint8Array,
    usageRange: { start: number; end: number },
    timing: Timing,
    plan: LeadPlan,
  ): Answer {
    const { operation, facts } = plan.prepared;
    // A list of prompts brings that many times the choices.
    const choices = operation === 'chat.completions' ? facts.choices : undefined;
    const { usage, refusal, systemFingerprint } = summarizeAnswer(operation, kind, payload, choices);
    const modelMs = this.#deps.clock.monotonicMs() - timing.startedAtMs;
    const { calledAtMs, firstTokenMs } = timing;
    plan.prepared.recorded?.answered(payload.byteLength, { firstTokenMs, modelMs });
    return {
      kind,
      contentType,
      payload,
      usageRange,
      usage,
      refusal,
      systemFingerprint,
      calledAtMs,
      modelMs,
      firstTokenMs,
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
