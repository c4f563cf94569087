import { RepriseError } from '../errors.ts';
import type { FlightHead, Flights, Participant } from '../cache/flight.ts';
import type { Ledger } from '../cache/ledger.ts';
import type { Tiers } from '../cache/tiers.ts';
import type { Clock } from '../ports/clock.ts';
import type { Usage } from '../ports/entry.ts';
import type { CacheStatus, InferenceReply, InferenceStreamReply, UsageAccount } from '../ports/service.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { NO_USAGE, costOf, servedOnly, type Accounting } from './accounting.ts';
import { MISS, type Lookup, type LookupHit, type LookupMiss } from './lookup.ts';
import type { LeadState, ModelCalls } from './model-calls.ts';
import { signalOf, type Prepared } from './prepare.ts';
import type { RecordNote } from './recorder.ts';
import { calledStatus, converted, entryBody, entryEvents, flightBody, flightEvents, hitStatus } from './replies.ts';
import type { StoreAnswers } from './store-answers.ts';
import { one, watched, type StreamEnd } from './watched-stream.ts';

export interface CompletionDeps {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly ledger: Ledger;
  readonly lookup: Lookup;
  readonly tiers: Tiers;
  readonly flights: Flights;
  readonly calls: ModelCalls;
  readonly store: StoreAnswers;
  readonly accounting: Accounting;
  /** Runs a background task and records its failure. */
  readonly background: (task: string, work: () => Promise<void>) => void;
}

interface Joined {
  readonly participant: Participant;
  readonly head: FlightHead;
  readonly state: LeadState;
  readonly miss: LookupMiss;
}

/** Chat completions and completions: look up, else fly; streamed and whole. */
export class Completions {
  readonly #deps: CompletionDeps;

  constructor(deps: CompletionDeps) {
    this.#deps = deps;
  }

  async infer(prepared: Prepared): Promise<InferenceReply> {
    try {
      const found = this.#deps.lookup.find(prepared);
      const result = 'then' in found ? await found : found;
      const reply = result.kind === 'hit' ? this.#replyFromHit(prepared, result) : undefined;
      return reply ?? (await this.#replyFromFlight(prepared, missOf(result)));
    } catch (error) {
      throw this.#failed(prepared, error);
    }
  }

  async inferStream(prepared: Prepared): Promise<InferenceStreamReply> {
    try {
      const found = this.#deps.lookup.find(prepared);
      const result = 'then' in found ? await found : found;
      const reply = result.kind === 'hit' ? this.#streamFromHit(prepared, result) : undefined;
      return reply ?? (await this.#streamFromFlight(prepared, missOf(result)));
    } catch (error) {
      throw this.#failed(prepared, error);
    }
  }

  /** Undefined when the entry, made by another kind of request, can't be turned into a whole body. */
  #replyFromHit(prepared: Prepared, hit: LookupHit): InferenceReply | undefined {
    const { entry } = hit.found;
    const status = hitStatus(hit, prepared, this.#deps.clock.wallMs());
    const usage = servedOnly(entry.usage);
    const whole = converted(() => entryBody(entry));
    if (whole === undefined) return undefined;
    const reply = { status, ...whole, usage };
    prepared.recorded?.servedBy(entry);
    this.#finish(prepared, status, entry.usage, entry.cost);
    if (hit.found.stale) this.#refresh(prepared);
    return reply;
  }

  /** Undefined when the entry can't be turned into a stream. */
  #streamFromHit(prepared: Prepared, hit: LookupHit): InferenceStreamReply | undefined {
    const { entry } = hit.found;
    const status = hitStatus(hit, prepared, this.#deps.clock.wallMs());
    const events = converted(() => entryEvents(entry, prepared.facts.includeUsage));
    if (events === undefined) return undefined;
    const usage = servedOnly(entry.usage);
    prepared.recorded?.servedBy(entry);
    if (hit.found.stale) this.#refresh(prepared);
    const finish = this.#finisher(
      prepared,
      status,
      () => entry.usage,
      () => entry.cost,
    );
    return { status, chunks: watched(one(events), finish), usage: () => usage };
  }

  async #replyFromFlight(prepared: Prepared, miss: LookupMiss): Promise<InferenceReply> {
    const joined = await this.#join(prepared, miss, prepared.facts.stream);
    const answer = await flightBody(joined.participant, prepared.operation);
    const status = this.#flightStatus(prepared, joined, this.#deps.store.accepts(prepared, answer));
    const usage = this.#account(joined, answer.usage);
    if (prepared.recorded !== undefined) this.#note(prepared.recorded, joined, answer.payload.byteLength);
    this.#finish(prepared, status, answer.usage, costOf(answer.usage, prepared.resolved.rule.price));
    return { status, contentType: answer.contentType, body: answer.body, usage };
  }

  async #streamFromFlight(prepared: Prepared, miss: LookupMiss): Promise<InferenceStreamReply> {
    const joined = await this.#join(prepared, miss, true);
    const { head } = joined;
    const status = this.#flightStatus(prepared, joined, this.#deps.store.wanted(prepared));
    let served: Usage = NO_USAGE;
    const usage = (): UsageAccount => this.#account(joined, served);
    const cost = (): number => costOf(served, prepared.resolved.rule.price);
    const events = flightEvents(joined.participant, head, prepared, (seen) => {
      served = seen;
    });
    const finish = this.#finisher(prepared, status, () => served, cost);
    const note = prepared.recorded;
    const chunks = watched(note === undefined ? events : note.measured(events), (end) => {
      if (end !== 'whole') joined.participant.leave();
      if (note !== undefined) this.#note(note, joined);
      finish(end);
    });
    return { status, chunks, usage };
  }

  async #join(prepared: Prepared, miss: LookupMiss, stream: boolean): Promise<Joined> {
    const { controls } = prepared;
    if (controls.onlyIfCached === true) {
      throw new RepriseError('not_cached', 'The answer is not in the cache and the request said only-if-cached.');
    }
    if (signalOf(prepared).aborted) throw new RepriseError('cancelled', 'The request was cancelled.');
    const alone = prepared.bypass !== '' || controls.noCache === true || controls.noStore === true;
    const joined = await this.#take(prepared, miss, { stream, alone });
    const ageMs = this.#deps.clock.wallMs() - joined.head.calledAtMs;
    if (joined.participant.role !== 'follower' || ageMs <= this.#sharedAgeMsMax(prepared)) return joined;
    // Its leader found the answer in a tier, good enough for itself.
    joined.participant.leave();
    return this.#take(prepared, miss, { stream, alone: true });
  }

  /** Takes part in a flight and waits for its answer to begin. */
  async #take(prepared: Prepared, miss: LookupMiss, how: { stream: boolean; alone: boolean }): Promise<Joined> {
    const { stream, alone } = how;
    const state: LeadState = { found: undefined };
    const { clock, telemetry } = this.#deps;
    const startedAtMs = clock.monotonicMs();
    const isUnchanged = miss.contents !== undefined && miss.contents === this.#deps.tiers.contents;
    const reread = !alone && !miss.tiersFailed && !isUnchanged;
    const lead = this.#deps.calls.lead({ prepared, stream, embedding: miss.embedding, reread, state });
    const participant = await this.#deps.flights.join({
      flightId: this.#flightId(prepared),
      signal: signalOf(prepared),
      lead,
      alone,
      ageMsMax: this.#sharedAgeMsMax(prepared),
    });
    const head = await participant.head();
    if (participant.role === 'follower') {
      const seconds = (clock.monotonicMs() - startedAtMs) / 1_000;
      telemetry.histogram('reprise_join_seconds', prepared.operation).observe(seconds);
    }
    return { participant, head, state, miss };
  }

  /** Of a call that ended a while ago; what a strict reader can't have confirmed may be no older than the bound on staleness. */
  #sharedAgeMsMax({ terms }: Prepared): number {
    return Math.min(terms.maxAgeMs, this.#deps.ledger.sharedAgeMsMax(terms.strict));
  }

  /** A request after an invalidation of its names never shares a call from before it. */
  #flightId(prepared: Prepared): string {
    return `${prepared.key}@${this.#deps.ledger.flightPosition(namesOf(prepared))}`;
  }

  /** `stored`: a complete answer, as far as it is known now, will be offered to the store. */
  #flightStatus(prepared: Prepared, joined: Joined, stored: boolean): CacheStatus {
    const { participant, head, state, miss } = joined;
    if (state.found !== undefined) {
      const { found } = state;
      const hit: LookupHit = { kind: 'hit', found, detail: found.tier, similarity: undefined, probability: undefined };
      return hitStatus(hit, prepared, this.#deps.clock.wallMs());
    }
    if (participant.role === 'follower') {
      const ageMs = Math.max(0, this.#deps.clock.wallMs() - head.calledAtMs);
      return calledStatus(prepared, { outcome: 'hit', detail: 'coalesced', stored: false, ageMs });
    }
    const cause = miss.bypass === '' ? participant.cause : miss.bypass;
    if (cause !== '' && cause !== 'asked') return calledStatus(prepared, { outcome: 'bypass', detail: cause, stored });
    if (prepared.controls.noCache === true) {
      return calledStatus(prepared, { outcome: 'bypass', detail: 'no-cache', stored });
    }
    return calledStatus(prepared, { outcome: 'miss', detail: '', stored });
  }

  #account(joined: Joined, served: Usage): UsageAccount {
    const billed = joined.participant.role === 'follower' || joined.state.found !== undefined ? NO_USAGE : served;
    return { served, billed };
  }

  /** Fetches a fresh answer for a stale one that was just served; joins a call that is under way. */
  #refresh(prepared: Prepared): void {
    if (prepared.controls.onlyIfCached === true || !this.#deps.store.wanted(prepared)) return;
    this.#deps.background('refresh', async () => {
      const own: Prepared = { ...prepared, source: {}, recorded: undefined };
      const state: LeadState = { found: undefined };
      const participant = await this.#deps.flights.join({
        flightId: this.#flightId(prepared),
        signal: signalOf(own),
        lead: this.#deps.calls.lead({ prepared: own, stream: false, embedding: undefined, reread: false, state }),
      });
      await flightBody(participant, prepared.operation);
    });
  }

  /** Tells a recording of an answer that a flight brought; `bytes`: absent where they were measured on the way. */
  #note(note: RecordNote, { state, head }: Joined, bytes?: number): void {
    if (state.found !== undefined) return note.servedBy(state.found.entry);
    const modelMs = this.#deps.clock.wallMs() - head.calledAtMs;
    note.followed(bytes, { firstTokenMs: modelMs, modelMs });
  }

  #finish(prepared: Prepared, status: CacheStatus, served: Usage, cost: number): void {
    prepared.recorded?.end({ outcome: status.outcome, detail: status.detail, served, cost });
    this.#deps.accounting.finish({
      operation: prepared.operation,
      outcome: status.outcome,
      detail: status.detail,
      startedAtMs: prepared.startedAtMs,
      served,
      cost,
    });
    if (status.unconfirmed) this.#deps.telemetry.counter('reprise_unconfirmed_hits_total').add();
  }

  /** Counts a streamed reply once, when it ends: whole, cancelled by its reader, or broken. */
  #finisher(
    prepared: Prepared,
    status: CacheStatus,
    served: () => Usage,
    cost: () => number,
  ): (end: StreamEnd) => void {
    return (end) => {
      if (end === 'whole') this.#finish(prepared, status, served(), cost());
      else if (end === 'left') this.#finish(prepared, { ...status, outcome: 'cancelled', detail: '' }, served(), 0);
      else this.#failed(prepared, end.error);
    };
  }

  /** Counts a failure and passes it on. */
  #failed(prepared: Prepared, error: unknown): unknown {
    const cancelled = signalOf(prepared).aborted;
    prepared.recorded?.fail(error, cancelled);
    this.#deps.accounting.fail(prepared.operation, prepared.startedAtMs, { error, cancelled });
    return error;
  }
}

/** The ledger's names of a request's answer. */
export function namesOf(prepared: Prepared): {
  tenant: string;
  namespace: string;
  tags: readonly string[];
  model: string;
  key: string;
} {
  const { parts } = prepared;
  return { tenant: parts.tenant, namespace: parts.namespace, tags: parts.tags, model: parts.model, key: prepared.key };
}

/** An entry that can't be served to this request is a miss, and the leader doesn't find it again. */
function missOf(result: LookupHit | LookupMiss): LookupMiss {
  return result.kind === 'miss' ? result : { ...MISS, tiersFailed: true };
}
