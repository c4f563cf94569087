import type { Clock } from '../ports/clock.ts';
import type { Usage } from '../ports/entry.ts';
import type { Operation } from '../ports/model.ts';
import type { Price } from '../ports/options.ts';
import type { Outcome, UsageAccount } from '../ports/service.ts';
import type { Telemetry } from '../ports/telemetry.ts';

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
  /** `ok`, `cancelled`, or an error's code. */
  readonly result: string;
  readonly ms: number;
  /** As the upstream reported it; nothing when the call failed. */
  readonly billed: Usage;
  readonly cost: number;
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
  readonly #byOutcome = new Map<string, number>();
  readonly totals: Totals = {
    requests: 0,
    modelCalls: 0,
    modelCallsSaved: 0,
    billed: NO_USAGE,
    saved: NO_USAGE,
    costBilled: 0,
    costSaved: 0,
  };

  constructor(deps: { clock: Clock; telemetry: Telemetry }) {
    this.#clock = deps.clock;
    this.#telemetry = deps.telemetry;
  }

  get byOutcome(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#byOutcome);
  }

  finish(done: Finished): void {
    const { operation, outcome, detail } = done;
    const name = outcome === 'hit' ? `hit-${detail}` : outcome;
    this.#byOutcome.set(name, (this.#byOutcome.get(name) ?? 0) + 1);
    this.totals.requests += 1;
    const metricDetail = outcome === 'hit' ? detail : '';
    this.#telemetry.counter('reprise_requests_total', operation, outcome, metricDetail).add();
    this.#telemetry
      .histogram('reprise_request_seconds', operation, outcome)
      .observe((this.#clock.monotonicMs() - done.startedAtMs) / 1_000);
    if (outcome === 'hit') this.#saved(done);
  }

  modelCall(call: CalledModel): void {
    const { operation, result, ms, billed, cost } = call;
    this.totals.modelCalls += 1;
    this.totals.billed = addUsage(this.totals.billed, billed);
    this.totals.costBilled += cost;
    this.#count('billed', billed, cost);
    this.#telemetry.counter('reprise_model_calls_total', operation, result).add();
    this.#telemetry.histogram('reprise_model_seconds', operation, result).observe(ms / 1_000);
  }

  #saved(done: Finished): void {
    this.totals.modelCallsSaved += 1;
    this.totals.saved = addUsage(this.totals.saved, done.served);
    this.totals.costSaved += done.cost;
    this.#telemetry.counter('reprise_model_calls_saved_total', done.operation).add();
    this.#count('saved', done.served, done.cost);
  }

  #count(account: string, usage: Usage, cost: number): void {
    if (usage.promptTokens > 0)
      this.#telemetry.counter('reprise_tokens_total', 'prompt', account).add(usage.promptTokens);
    if (usage.completionTokens > 0) {
      this.#telemetry.counter('reprise_tokens_total', 'completion', account).add(usage.completionTokens);
    }
    if (cost > 0) this.#telemetry.counter('reprise_cost_total', account).add(cost);
  }
}
