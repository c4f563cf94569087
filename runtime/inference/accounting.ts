import { failedOutcome, toRepriseError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Usage } from '../ports/entry.ts';
import type { Operation } from '../ports/model.ts';
import type { Price } from '../ports/options.ts';
import type { Outcome, UsageAccount } from '../ports/service.ts';
import type { Counter, Histogram, Telemetry } from '../ports/telemetry.ts';
import type { UpstreamHealth } from './upstream-health.ts';

export const NO_USAGE: Usage = { promptTokens: 0, completionTokens: 0 };

/** The accounts of a reply that cost nothing. */
export function servedOnly(served: Usage): UsageAccount {
  return { served, billed: NO_USAGE };
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
  };
}

/** What `usage` costs at `price`, in the price's currency. */
export function costOf(usage: Usage, price: Price): number {
  return (
    (usage.promptTokens * price.promptPerMillion + usage.completionTokens * price.completionPerMillion) / 1_000_000
  );
}

/** One finished request (or one item of an embeddings batch). */
export interface Finished {
  readonly operation: Operation;
  readonly outcome: Outcome;
  readonly detail: string;
  readonly startedAtMs: number;
  /** As in the answer; a hit saved it. */
  readonly served: Usage;
  /** What the answer cost once; a hit saved it. */
  readonly cost: number;
}

/** One call to an upstream, however it ended. */
export interface CalledModel {
  readonly operation: Operation;
  readonly upstream: string;
  /** `ok`, `cancelled`, or an error's code. */
  readonly result: string;
  readonly ms: number;
  /** As the upstream reported it; nothing when the call failed. */
  readonly billed: Usage;
  readonly cost: number;
}

/** What is counted of requests with one operation, outcome and detail. The counters are kept, so that a hit costs additions. */
interface Line {
  readonly operation: Operation;
  readonly outcome: Outcome;
  /** Of hits only. */
  readonly detail: string;
  readonly name: string;
  readonly requests: Counter;
  readonly seconds: Histogram;
  count: number;
}

interface Savings {
  readonly calls: Counter;
  readonly prompt: Counter;
  readonly completion: Counter;
}

/** Sums since the node's start; `byOutcome` adds up to `requests` (invariant I7). */
export interface Totals {
  requests: number;
  modelCalls: number;
  modelCallsSaved: number;
  billed: Usage;
  saved: Usage;
  costBilled: number;
  costSaved: number;
}

/**
 * Counts outcomes, tokens and cost: each request exactly once, and each model call exactly once, since a call may outlive the
 * request that led it, or be nobody's (a refresh).
 */
export class Accounting {
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #upstreams: UpstreamHealth | undefined;
  readonly #lines = new Map<string, Line>();
  readonly #savings = new Map<Operation, Savings>();
  #lastLine: Line | undefined;
  readonly totals: Totals = {
    requests: 0,
    modelCalls: 0,
    modelCallsSaved: 0,
    billed: NO_USAGE,
    saved: NO_USAGE,
    costBilled: 0,
    costSaved: 0,
  };

  constructor(deps: { clock: Clock; telemetry: Telemetry; upstreams?: UpstreamHealth }) {
    this.#clock = deps.clock;
    this.#telemetry = deps.telemetry;
    this.#upstreams = deps.upstreams;
  }

  get byOutcome(): Readonly<Record<string, number>> {
    const counts = new Map<string, number>();
    for (const { name, count } of this.#lines.values()) counts.set(name, (counts.get(name) ?? 0) + count);
    return Object.fromEntries(counts);
  }

  finish(done: Finished): void {
    const line = this.#lineOf(done.operation, done.outcome, done.outcome === 'hit' ? done.detail : '');
    line.count += 1;
    this.totals.requests += 1;
    line.requests.add();
    line.seconds.observe((this.#clock.monotonicMs() - done.startedAtMs) / 1_000);
    if (done.outcome === 'hit') this.#saved(done);
  }

  /** One request that ended in an error; `cancelled`: its caller had left, whatever failed. */
  fail(operation: Operation, startedAtMs: number, failure: { error: unknown; cancelled: boolean }): void {
    const coded = toRepriseError(failure.error);
    const outcome = failure.cancelled ? 'cancelled' : failedOutcome(coded);
    this.finish({ operation, outcome, detail: coded.code, startedAtMs, served: NO_USAGE, cost: 0 });
  }

  /** Mostly the one of the request before. */
  #lineOf(operation: Operation, outcome: Outcome, detail: string): Line {
    const last = this.#lastLine;
    if (last?.operation === operation && last.outcome === outcome && last.detail === detail) return last;
    const id = `${operation} ${outcome} ${detail}`;
    let line = this.#lines.get(id);
    if (line === undefined) {
      const name = outcome === 'hit' ? `hit-${detail}` : outcome;
      const requests = this.#telemetry.counter('reprise_requests_total', operation, outcome, detail);
      const seconds = this.#telemetry.histogram('reprise_request_seconds', operation, outcome);
      line = { operation, outcome, detail, name, requests, seconds, count: 0 };
      this.#lines.set(id, line);
    }
    this.#lastLine = line;
    return line;
  }

  modelCall(call: CalledModel): void {
    const { operation, upstream, result, ms, billed, cost } = call;
    this.#upstreams?.note(upstream, result, this.#clock.monotonicMs());
    this.totals.modelCalls += 1;
    this.totals.billed = addUsage(this.totals.billed, billed);
    this.totals.costBilled += cost;
    this.#billed(billed, cost);
    this.#telemetry.counter('reprise_model_calls_total', operation, result).add();
    this.#telemetry.histogram('reprise_model_seconds', operation, result).observe(ms / 1_000);
  }

  #saved(done: Finished): void {
    this.totals.modelCallsSaved += 1;
    this.totals.saved = addUsage(this.totals.saved, done.served);
    this.totals.costSaved += done.cost;
    const savings = this.#savingsOf(done.operation);
    savings.calls.add();
    const { promptTokens, completionTokens } = done.served;
    if (promptTokens > 0) savings.prompt.add(promptTokens);
    if (completionTokens > 0) savings.completion.add(completionTokens);
    if (done.cost > 0) this.#telemetry.counter('reprise_cost_total', 'saved').add(done.cost);
  }

  #savingsOf(operation: Operation): Savings {
    let savings = this.#savings.get(operation);
    if (savings === undefined) {
      savings = {
        calls: this.#telemetry.counter('reprise_model_calls_saved_total', operation),
        prompt: this.#telemetry.counter('reprise_tokens_total', 'prompt', 'saved'),
        completion: this.#telemetry.counter('reprise_tokens_total', 'completion', 'saved'),
      };
      this.#savings.set(operation, savings);
    }
    return savings;
  }

  #billed(usage: Usage, cost: number): void {
    if (usage.promptTokens > 0)
      this.#telemetry.counter('reprise_tokens_total', 'prompt', 'billed').add(usage.promptTokens);
    if (usage.completionTokens > 0) {
      this.#telemetry.counter('reprise_tokens_total', 'completion', 'billed').add(usage.completionTokens);
    }
    if (cost > 0) this.#telemetry.counter('reprise_cost_total', 'billed').add(cost);
  }
}
