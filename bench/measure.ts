import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UNIQUE_MARK, writeBodies, writeTemplate, type BodyKind } from './bodies.ts';
import type { Fleet } from './fleet.ts';
import type { LoadPlan, LoadResult } from './load.ts';
import { cpuUs, type Cores, type Processes } from './processes.ts';
import type { Scenario, ServerName } from './scenarios.ts';

/** What one load on one server came to. */
export interface Sample {
  readonly requestsPerSecond: number;
  /** Of the server, all threads; NaN where it can't be read. */
  readonly cpuUsPerRequest: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

export interface MeasureOptions {
  readonly folder: string;
  readonly bodyCount: number;
  readonly connections: number;
  /** Without it HTTP too is loaded by the generator of this bench. */
  readonly useWrk: boolean;
}

const HERE = fileURLToPath(new URL('.', import.meta.url));
const HTTP_PATH = '/v1/chat/completions';
const LIMIT_MS = 120_000;
const PRIME_CONNECTIONS = 16;
/** Load before a sample that isn't measured. */
const SETTLE_SECONDS = 1;
/** Share of requests that may fail, or be answered another way than the scenario says. */
const STRAYS_MAX = 0.02;

/** The version line of wrk; undefined where there is none. */
export function wrkVersion(): string | undefined {
  const { stdout } = spawnSync('wrk', ['-v'], { encoding: 'utf8' });
  return /^wrk \S+/.exec(stdout ?? '')?.[0];
}

/** Puts servers under load and reads what it costs them. */
export class Meter {
  readonly #processes: Processes;
  readonly #cores: Cores;
  readonly #fleet: Fleet;
  readonly #options: MeasureOptions;
  #seed = 1;

  constructor(deps: { processes: Processes; cores: Cores; fleet: Fleet }, options: MeasureOptions) {
    this.#processes = deps.processes;
    this.#cores = deps.cores;
    this.#fleet = deps.fleet;
    this.#options = options;
  }

  /** Writes the bodies of one size. */
  writeBodies(bytes: number, kind: BodyKind): void {
    writeBodies(this.#file(bytes, kind, 'random'), this.#options.bodyCount, bytes, kind);
    writeTemplate(this.#file(bytes, kind, 'unique'), bytes, kind);
  }

  /** Asks a server for every body once, so that it has the answers. */
  async prime(server: ServerName, bytes: number, kind: BodyKind): Promise<void> {
    const bodies = this.#file(bytes, kind, 'random');
    const port = this.#fleet.server(server).httpPort;
    const result = await this.#load({ ...this.#plan(port, bodies), order: 'once', connections: PRIME_CONNECTIONS });
    if (result.errors > 0 || result.requests < this.#options.bodyCount) {
      throw new Error(`${server} did not answer ${result.errors} of ${result.requests} bodies.`);
    }
  }

  /** One scenario for some seconds, each connection asking again as soon as it has its answer. */
  async sample(scenario: Scenario, bytes: number, seconds: number): Promise<Sample> {
    const server = this.#fleet.server(scenario.server);
    const isHttp = scenario.protocol === 'http';
    const load = isHttp && this.#options.useWrk ? this.#wrk.bind(this) : this.#load.bind(this);
    const port = isHttp ? server.httpPort : server.grpcPort;
    // What ran before has left caches and heap of its own: a moment of the same load first.
    await load({ ...this.#scenarioPlan(scenario, bytes, port), seconds: SETTLE_SECONDS });
    const plan: LoadPlan = { ...this.#scenarioPlan(scenario, bytes, port), seconds };
    return this.#watched(scenario, plan, load);
  }

  /** The same at a rate of its own, whatever the answers take. */
  async paced(scenario: Scenario, bytes: number, seconds: number, ratePerSecond: number): Promise<Sample> {
    const server = this.#fleet.server(scenario.server);
    const port = scenario.protocol === 'http' ? server.httpPort : server.grpcPort;
    const plan: LoadPlan = { ...this.#scenarioPlan(scenario, bytes, port), seconds, ratePerSecond };
    return this.#watched(scenario, plan, this.#load.bind(this));
  }

  async #watched(scenario: Scenario, plan: LoadPlan, load: (plan: LoadPlan) => Promise<LoadResult>): Promise<Sample> {
    const { pid } = this.#fleet.server(scenario.server);
    const outcomesBefore = await this.#outcomes(scenario);
    const cpuBefore = cpuUs(pid);
    const result = await load(plan);
    const cpuAfter = cpuUs(pid);
    const outcomesAfter = await this.#outcomes(scenario);
    this.#fleet.emptyLogs();
    if (plan.ratePerSecond === undefined && result.errors > result.requests * STRAYS_MAX) {
      throw new Error(`${scenario.id}: ${result.errors} of ${result.requests} requests failed.`);
    }
    const strays = outcomesAfter.others - outcomesBefore.others;
    if (strays > (outcomesAfter.all - outcomesBefore.all) * STRAYS_MAX) {
      throw new Error(`${scenario.id}: ${strays} requests were no ${scenario.outcome ?? ''}.`);
    }
    return {
      requestsPerSecond: result.requests / (result.durationUs / 1_000_000),
      cpuUsPerRequest: (cpuAfter - cpuBefore) / result.requests,
      p50Us: result.p50Us,
      p99Us: result.p99Us,
    };
  }

  /** How many requests Reprise has answered, and how many of them with another outcome than the scenario's. */
  async #outcomes(scenario: Scenario): Promise<{ readonly all: number; readonly others: number }> {
    if (scenario.outcome === undefined) return { all: 0, others: 0 };
    const { httpPort } = this.#fleet.server(scenario.server);
    const text = await (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text();
    let all = 0;
    let others = 0;
    for (const [, labels = '', count] of text.matchAll(/^reprise_requests_total\{(.*)\} (\d+)$/gm)) {
      // A load that ends leaves some behind.
      if (labels.includes('outcome="cancelled"')) continue;
      all += Number(count);
      if (!labels.includes(`outcome="${scenario.outcome}"`)) others += Number(count);
    }
    return { all, others };
  }

  async #load(plan: LoadPlan): Promise<LoadResult> {
    return JSON.parse(await this.#fleet.generate(JSON.stringify(plan), LIMIT_MS)) as LoadResult;
  }

  async #wrk(plan: LoadPlan): Promise<LoadResult> {
    const url = `http://127.0.0.1:${plan.port}${HTTP_PATH}`;
    const headers = Object.entries(plan.headers ?? {}).map(([name, value]) => `${name}=${value}`);
    const seconds = Math.max(1, Math.round(plan.seconds));
    const args = ['-t1', `-c${plan.connections}`, `-d${seconds}s`, '-s', join(HERE, 'wrk.lua'), url, '--'];
    args.push(plan.bodies, String(plan.seed), plan.order, UNIQUE_MARK, ...headers);
    const output = await this.#processes.run({ program: 'wrk', args, core: this.#cores.load }, LIMIT_MS);
    return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as LoadResult;
  }

  #scenarioPlan({ protocol, bodies, order, headers }: Scenario, bytes: number, port: number): LoadPlan {
    const plan = { ...this.#plan(port, this.#file(bytes, bodies, order)), protocol, order };
    return headers === undefined ? plan : { ...plan, headers };
  }

  #plan(port: number, bodies: string): LoadPlan {
    this.#seed += 1;
    const { connections } = this.#options;
    return { protocol: 'http', port, bodies, connections, seed: this.#seed, order: 'random', seconds: 0 };
  }

  #file(bytes: number, kind: BodyKind, order: Scenario['order']): string {
    return join(this.#options.folder, `${kind}-${bytes}-${order}.txt`);
  }
}
