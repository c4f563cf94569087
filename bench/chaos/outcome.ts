import {
  backAfterMs,
  hitRate,
  isHit,
  latencyOf,
  unconfirmedMs,
  wasForwarded,
  within,
  type Latency,
  type RequestSeen,
  type Span,
} from './records.ts';
import { MODEL_MS } from './fleet.ts';
import type { NodeSeen } from './node-watch.ts';
import type { Scenario } from './scenarios.ts';

export type PhaseName = 'before' | 'fault' | 'return' | 'after';

/** One stretch of a scenario. */
export interface PhaseSeen {
  readonly name: PhaseName;
  readonly seconds: number;
  readonly hitRate: number;
  readonly nearHitRate: number;
  readonly hits: Latency;
  /** Requests for which the model was called. */
  readonly forwarded: Latency;
  readonly control: Latency;
}

export interface ScenarioSeen {
  readonly id: string;
  readonly title: string;
  readonly startsMembers: boolean;
  readonly phases: readonly PhaseSeen[];
  /** Of all streams. */
  readonly requests: number;
  readonly failures: number;
  readonly wrong: number;
  /** Milliseconds from the fault; 0: it never fell; undefined: not while the fault lasted. */
  readonly backUnderFaultMs: number | undefined;
  /** Milliseconds from when most members were there again. */
  readonly backAfterHealMs: number | undefined;
  /** Of the strict namespace: share of tiers' hits before, under the fault (the staleness bound after it), and at the end. */
  readonly strictHitRates: readonly [number, number, number];
  readonly unconfirmedMs: number;
  /** What both nodes' counters rose by. */
  readonly counted: NodeSeen;
  /** Longest standstill of a node's event loop, and of the generator's. */
  readonly lagMs: number;
  readonly generatorLagMs: number;
  /** Of all processors, everything else on the machine included. */
  readonly busyShare: number;
  /** What is not as it must be; empty when all is well. */
  readonly faults: readonly string[];
}

/** When things happened, milliseconds of this process's clock. */
export interface Times {
  readonly startedAtMs: number;
  readonly struckAtMs: number;
  readonly healingAtMs: number;
  readonly majorityAtMs: number;
  readonly healedAtMs: number;
  readonly endedAtMs: number;
}

export interface Observed {
  readonly times: Times;
  readonly records: readonly RequestSeen[];
  readonly counted: NodeSeen;
  readonly lagMs: number;
  readonly generatorLagMs: number;
  readonly busyShare: number;
  /** What else was seen to be wrong. */
  readonly faults: readonly string[];
}

/** Look-up budget and join deadline together. */
export const ADDED_P99_MS_MAX = 150;
export const BACK_MS_MAX = 10_000;
/** Staleness bound, and what a request under way may take. */
const STRICT_SETTLES_MS = 2_500;
const STRICT_BACK_MS = 10_000;
const SHOWN_MAX = 3;

/** Makes of what was seen what is told, and judges it. */
export function outcomeOf(scenario: Scenario, observed: Observed): ScenarioSeen {
  const { times, records } = observed;
  const { startedAtMs, struckAtMs, healingAtMs, majorityAtMs, healedAtMs, endedAtMs } = times;
  const main = records.filter(({ stream }) => stream === 'main');
  const strict = records.filter(({ stream }) => stream === 'strict');
  const before = { fromMs: startedAtMs, toMs: struckAtMs };
  const underFault = { fromMs: struckAtMs, toMs: healingAtMs };
  const phases = [
    phaseOf('before', before, records),
    phaseOf('fault', underFault, records),
    ...(scenario.startsMembers ? [phaseOf('return', { fromMs: healingAtMs, toMs: healedAtMs }, records)] : []),
    phaseOf('after', { fromMs: healedAtMs, toMs: endedAtMs }, records),
  ];
  const rateBefore = hitRate(within(main, before));
  const strictRate = (span: Span): number => tierRate(within(strict, span));
  const seen: ScenarioSeen = {
    id: scenario.id,
    title: scenario.title,
    startsMembers: scenario.startsMembers,
    phases,
    requests: records.length,
    failures: records.filter(({ outcome }) => outcome === 'failed').length,
    wrong: records.filter(({ wrong }) => wrong).length,
    backUnderFaultMs: backAfterMs(main, underFault, rateBefore),
    backAfterHealMs: backAfterMs(main, { fromMs: majorityAtMs, toMs: endedAtMs }, rateBefore),
    strictHitRates: [
      strictRate(before),
      strictRate({ fromMs: struckAtMs + STRICT_SETTLES_MS, toMs: healingAtMs }),
      strictRate({ fromMs: Math.min(majorityAtMs + STRICT_BACK_MS, endedAtMs - 2_000), toMs: endedAtMs }),
    ],
    unconfirmedMs: unconfirmedMs(main),
    counted: observed.counted,
    lagMs: observed.lagMs,
    generatorLagMs: observed.generatorLagMs,
    busyShare: observed.busyShare,
    faults: [],
  };
  return { ...seen, faults: [...judge(scenario, seen, records), ...observed.faults] };
}

/** What the cache added to a call of the model at a place of the distribution, milliseconds. */
export function addedMs({ forwarded, control }: PhaseSeen, place: 'p50' | 'p99' | 'p999'): number {
  return forwarded[place] - control[place];
}

/** The control itself was so slow that the machine, not the grid, made requests wait. */
export function isStarved({ control }: PhaseSeen): boolean {
  return control.p99 > MODEL_MS + ADDED_P99_MS_MAX;
}

/** Share of hits of L1 or L2: who joins another's call of the model shares its answer, and reads no tier. */
function tierRate(records: readonly RequestSeen[]): number {
  return records.filter(({ outcome }) => outcome === 'exact-l1' || outcome === 'exact-l2').length / records.length;
}

function phaseOf(name: PhaseName, span: Span, records: readonly RequestSeen[]): PhaseSeen {
  const seen = within(records, span);
  const main = seen.filter(({ stream }) => stream === 'main');
  return {
    name,
    seconds: (span.toMs - span.fromMs) / 1_000,
    hitRate: hitRate(main),
    nearHitRate: main.filter(({ outcome }) => outcome === 'exact-l1').length / main.length,
    hits: latencyOf(main.filter(isHit)),
    forwarded: latencyOf(main.filter(wasForwarded)),
    control: latencyOf(seen.filter(({ stream }) => stream === 'control')),
  };
}

function judge(scenario: Scenario, seen: ScenarioSeen, records: readonly RequestSeen[]): string[] {
  const faults: string[] = [];
  if (seen.failures > 0) faults.push(`${seen.failures} requests failed: ${reasons(records)}`);
  if (seen.wrong > 0) faults.push(`${seen.wrong} answers were to another question`);
  for (const phase of seen.phases) {
    const added = addedMs(phase, 'p99');
    const isJudged = phase.name !== 'return' && !isStarved(phase);
    if (isJudged && !(added <= ADDED_P99_MS_MAX))
      faults.push(`p99 of what was added ${phase.name}: ${added.toFixed(0)} ms, more than ${ADDED_P99_MS_MAX} ms`);
  }
  const { backUnderFaultMs, backAfterHealMs } = seen;
  if (scenario.recoversUnderFault && !((backUnderFaultMs ?? Infinity) <= BACK_MS_MAX))
    faults.push(`hits were not back within ${BACK_MS_MAX / 1_000} s of the loss: ${backText(backUnderFaultMs)}`);
  if (!((backAfterHealMs ?? Infinity) <= BACK_MS_MAX))
    faults.push(`hits were not back within ${BACK_MS_MAX / 1_000} s of the return: ${backText(backAfterHealMs)}`);
  if (scenario.isCutOff && seen.strictHitRates[1] > 0) faults.push('the strict namespace had hits without the grid');
  if (scenario.isCutOff && seen.unconfirmedMs === 0) faults.push('no hit was marked as unconfirmed');
  if (!(seen.strictHitRates[2] > 0)) faults.push('the strict namespace has no hits at the end');
  return faults;
}

/** `3.2 s`; a rate that is not back has no time. */
export function backText(ms: number | undefined): string {
  return ms === undefined ? 'not back' : ms === 0 ? 'never fell' : `${(ms / 1_000).toFixed(1)} s`;
}

function reasons(records: readonly RequestSeen[]): string {
  const counts = new Map<string, number>();
  for (const { failure, stream } of records) {
    if (failure === undefined) continue;
    const reason = `${stream}: ${failure}`;
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const often = [...counts].toSorted(([, one], [, other]) => other - one).slice(0, SHOWN_MAX);
  return often.map(([reason, count]) => `${count} × ${reason}`).join('; ');
}
