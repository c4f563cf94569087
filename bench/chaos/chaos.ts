import { cpus } from 'node:os';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { ChaosFleet } from './fleet.ts';
import { Load } from './load.ts';
import { NodeWatch, type NodeSeen } from './node-watch.ts';
import { outcomeOf, type ScenarioSeen } from './outcome.ts';
import { HIT_RATE } from './questions.ts';
import { BACK_SHARE, hitRate, within, type RequestSeen } from './records.ts';
import type { Scenario } from './scenarios.ts';

export interface ChaosPlan {
  /** Requests a second to the two nodes together. */
  readonly rate: number;
  /** The same for the control. */
  readonly controlRate: number;
  readonly strictRate: number;
  /** For so long the load rises from nothing: code that has never run is slow. */
  readonly rampMs: number;
  readonly beforeSeconds: number;
  readonly faultSeconds: number;
  readonly afterSeconds: number;
}

export interface ChaosDeps {
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
}

const SETTLE_MS_MAX = 30_000;
const SETTLED_MS = 2_000;
const POLL_MS = 250;
const LAG_RESOLUTION_MS = 10;

/** A fleet under load, and the scenarios that it goes through, one after the other. */
export class Chaos {
  readonly #plan: ChaosPlan;
  readonly #deps: ChaosDeps;
  readonly #fleet: ChaosFleet;
  readonly #load: Load;
  readonly #watches: readonly NodeWatch[];
  readonly #lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  #errorsTold = 0;

  private constructor(plan: ChaosPlan, deps: ChaosDeps, fleet: ChaosFleet) {
    this.#plan = plan;
    this.#deps = deps;
    this.#fleet = fleet;
    const { nodes, control } = fleet;
    this.#load = new Load({ ...plan, nodes, control });
    this.#watches = nodes.map((url) => new NodeWatch(url));
  }

  /** Starts everything and the load; resolves when the load has its full rate. Leaves nothing behind when it fails. */
  static async start(plan: ChaosPlan, deps: ChaosDeps): Promise<Chaos> {
    const chaos = new Chaos(plan, deps, await ChaosFleet.start(deps.log, deps.signal));
    try {
      await chaos.#until(async () => (await chaos.#complaints()).length === 0, SETTLE_MS_MAX);
      chaos.#lag.enable();
      for (const watch of chaos.#watches) watch.start();
      chaos.#load.start();
      deps.log('the load begins');
      await chaos.#pause(plan.rampMs);
      return chaos;
    } catch (error) {
      await chaos.close();
      throw error;
    }
  }

  async run(scenario: Scenario): Promise<ScenarioSeen> {
    const { log } = this.#deps;
    const { beforeSeconds, faultSeconds, afterSeconds } = this.#plan;
    const { cluster } = this.#fleet;
    const faults = await this.#settle();
    this.#load.forget();
    this.#lag.reset();
    const countedBefore = await this.#counted();
    const ticksBefore = cpuTicks();
    const startedAtMs = performance.now();
    await this.#pause(beforeSeconds * 1_000);
    log(`${scenario.id}: it happens`);
    const struckAtMs = performance.now();
    const heal = await scenario.strike(cluster);
    let healingAtMs = Number.NaN;
    let majorityAtMs: number | undefined;
    try {
      await this.#pause(faultSeconds * 1_000);
    } finally {
      log(`${scenario.id}: it ends`);
      healingAtMs = performance.now();
      await heal(() => void (majorityAtMs ??= performance.now()));
    }
    const healedAtMs = performance.now();
    if (scenario.startsMembers) log(`${scenario.id}: members are back`);
    await this.#pause(afterSeconds * 1_000);
    const endedAtMs = performance.now();
    const busyShare = busyBetween(ticksBefore, cpuTicks());
    const records = [...this.#load.records];
    faults.push(...(await this.#lasting()));
    const counted = difference(await this.#counted(), countedBefore);
    return outcomeOf(scenario, {
      times: { startedAtMs, struckAtMs, healingAtMs, majorityAtMs: majorityAtMs ?? healedAtMs, healedAtMs, endedAtMs },
      records,
      counted,
      lagMs: Math.max(...this.#watches.map((watch) => watch.lagMsSince(startedAtMs))),
      generatorLagMs: this.#lag.max / 1_000_000,
      busyShare,
      faults,
    });
  }

  async close(): Promise<void> {
    this.#lag.disable();
    for (const watch of this.#watches) watch.stop();
    await this.#load.stop();
    await this.#fleet.close();
  }

  /** Waits until nothing of the last scenario is felt any more; gives what still is. */
  async #settle(): Promise<string[]> {
    const isSettled = async (): Promise<boolean> => {
      const nowMs = performance.now();
      const rate = hitRate(within(this.#main(), { fromMs: nowMs - SETTLED_MS - POLL_MS, toMs: nowMs - POLL_MS }));
      return rate >= HIT_RATE * BACK_SHARE && (await this.#complaints()).length === 0;
    };
    if (await this.#until(isSettled, SETTLE_MS_MAX)) return [];
    return [`not settled ${SETTLE_MS_MAX / 1_000} s after the scenario before`];
  }

  /** What is still wrong with the nodes when the fault is long gone. */
  async #lasting(): Promise<string[]> {
    const isWell = async (): Promise<boolean> => (await this.#complaints()).length === 0;
    const complaints = (await this.#until(isWell, SETTLE_MS_MAX)) ? [] : await this.#complaints();
    const errors = this.#fleet.errors();
    const news = errors.slice(this.#errorsTold);
    this.#errorsTold = errors.length;
    return [...complaints.map((complaint) => `at the end: ${complaint}`), ...news];
  }

  #main(): RequestSeen[] {
    return this.#load.records.filter(({ stream }) => stream === 'main');
  }

  async #complaints(): Promise<readonly string[]> {
    const each = await Promise.all(
      this.#watches.map(async (watch, index) =>
        (await watch.complaints().catch((error: unknown) => [String(error)])).map(
          (complaint) => `node ${index + 1}: ${complaint}`,
        ),
      ),
    );
    return each.flat();
  }

  /** Sums of both nodes' counters; asks again while one is too busy to tell. */
  async #counted(): Promise<NodeSeen> {
    let sums: NodeSeen | undefined;
    let trouble: unknown;
    await this.#until(async () => {
      try {
        const [one, two] = await Promise.all(this.#watches.map((watch) => watch.read()));
        sums = combine(one as NodeSeen, two as NodeSeen, (a, b) => a + b);
      } catch (error) {
        trouble = error;
      }
      return sums !== undefined;
    }, SETTLE_MS_MAX);
    if (sums === undefined) throw new Error('A node tells no metrics.', { cause: trouble });
    return sums;
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await pause(ms, undefined, this.#deps);
  }

  async #until(condition: () => Promise<boolean>, limitMs: number): Promise<boolean> {
    const deadlineAtMs = performance.now() + limitMs;
    while (performance.now() < deadlineAtMs) {
      if (await condition()) return true;
      await this.#pause(POLL_MS);
    }
    return false;
  }
}

function difference(later: NodeSeen, earlier: NodeSeen): NodeSeen {
  return combine(later, earlier, (a, b) => a - b);
}

function combine(one: NodeSeen, other: NodeSeen, by: (a: number, b: number) => number): NodeSeen {
  const names = Object.keys(one) as (keyof NodeSeen)[];
  return Object.fromEntries(names.map((name) => [name, by(one[name], other[name])])) as unknown as NodeSeen;
}

interface Ticks {
  readonly busy: number;
  readonly all: number;
}

/** Of all processors and all that runs on them. */
function cpuTicks(): Ticks {
  let busy = 0;
  let all = 0;
  for (const { times } of cpus()) {
    const sum = Object.values(times).reduce((total, each) => total + each, 0);
    all += sum;
    busy += sum - times.idle;
  }
  return { busy, all };
}

function busyBetween(earlier: Ticks, later: Ticks): number {
  return (later.busy - earlier.busy) / (later.all - earlier.all);
}
