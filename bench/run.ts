import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unavailable } from '../grid/hazelcast/testing/cluster.ts';
import { Fleet, TSX } from './fleet.ts';
import { Meter, wrkVersion, type Sample } from './measure.ts';
import { chooseCores, Processes, type Cores } from './processes.ts';
import { median, report, type Results } from './report.ts';
import { ON_GRID, PACED, SCENARIOS, type Scenario } from './scenarios.ts';
import type { SemanticResult } from './semantic.ts';

/** How much a run measures. */
export interface RunPlan {
  /** As the report shows it. */
  readonly command: string;
  /** Body sizes, bytes. */
  readonly sizes: readonly number[];
  /** Scenarios by id; those that others are compared with must be among them. */
  readonly scenarios: readonly string[];
  readonly bodyCount: number;
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Rounds of the runs at a fixed rate; 0: none. */
  readonly pacedRounds: number;
  readonly pacedSeconds: number;
  readonly pacedBytes: number;
  /** Rephrasings; 0: none. */
  readonly semanticCount: number;
  readonly useWrk: boolean;
  /** Reprise from its sources instead of `dist`. */
  readonly fromSource: boolean;
  readonly limitMs: number;
}

export const FULL_RUN: RunPlan = {
  command: 'npm run bench',
  sizes: [300, 2_048, 16_384],
  scenarios: SCENARIOS.map((scenario) => scenario.id),
  bodyCount: 5_000,
  connections: 64,
  rounds: 5,
  seconds: 1,
  warmUpSeconds: 4,
  pacedRounds: 5,
  pacedSeconds: 2,
  pacedBytes: 2_048,
  semanticCount: 300,
  useWrk: true,
  fromSource: false,
  limitMs: 780_000,
};

/** A look at whether all of it works; its figures mean little. */
export const QUICK_RUN: RunPlan = {
  ...FULL_RUN,
  command: 'npm run bench -- --quick',
  sizes: [2_048],
  bodyCount: 200,
  rounds: 1,
  seconds: 1,
  warmUpSeconds: 0,
  pacedRounds: 1,
  pacedSeconds: 1,
  semanticCount: 20,
};

const HERE = fileURLToPath(new URL('.', import.meta.url));
const MODELS_FOLDER = join(HERE, '..', '.reprise', 'models');
const SEMANTIC_LIMIT_MS = 120_000;

/** Measures everything in a plan and gives the report; whatever it started is ended when it settles. */
export async function run(plan: RunPlan, log: (line: string) => void): Promise<string> {
  const processes = new Processes();
  const cores = chooseCores();
  const folder = mkdtempSync(join(tmpdir(), 'reprise-bench-'));
  const fleet = new Fleet(processes, cores, { folder, fromSource: plan.fromSource });
  const limit = setTimeout(() => processes.kill(), plan.limitMs);
  const onSignal = (): void => processes.kill();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  const loadAverage = loadavg()[0] ?? 0;
  try {
    const version = plan.useWrk ? wrkVersion() : undefined;
    const { bodyCount, connections } = plan;
    const meter = new Meter(
      { processes, cores, fleet },
      { folder, bodyCount, connections, useWrk: version !== undefined },
    );
    const results = await new Run(plan, { meter, fleet, processes, cores, log }).all();
    return report(results, {
      date: new Date().toISOString().slice(0, 10),
      machine: machineText(),
      node: process.version,
      generator: generatorText(version),
      command: plan.command,
      isPinned: cores.server !== undefined,
      loadAverage,
      bodyCount,
      connections,
      rounds: plan.rounds,
      seconds: plan.seconds,
    });
  } finally {
    clearTimeout(limit);
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    await processes.stop();
    await fleet.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface RunDeps {
  readonly meter: Meter;
  readonly fleet: Fleet;
  readonly processes: Processes;
  readonly cores: Cores;
  readonly log: (line: string) => void;
}

class Run {
  readonly #plan: RunPlan;
  readonly #deps: RunDeps;
  readonly #scenarios: readonly Scenario[];
  readonly #samples = new Map<number, Map<string, Sample[]>>();

  constructor(plan: RunPlan, deps: RunDeps) {
    this.#plan = plan;
    this.#deps = deps;
    const missing = unavailable();
    if (missing !== undefined) deps.log(`left out: hits from L2: ${missing}`);
    const isThere = (id: string): boolean => missing === undefined || !ON_GRID.includes(id);
    this.#scenarios = SCENARIOS.filter(({ id }) => plan.scenarios.includes(id) && isThere(id));
  }

  async all(): Promise<Results> {
    const { fleet, log } = this.#deps;
    const { pacedBytes } = this.#plan;
    const semantic = await this.#semantic();
    log('starting the servers');
    await fleet.start(new Set(this.#scenarios.map((scenario) => scenario.server)));
    await this.#prime();
    await this.#warmUp();
    await this.#rounds();
    const paced = await this.#paced();
    return { samples: this.#samples, paced, pacedBytes, semantic };
  }

  /** Every body of every scenario that is to be a hit, once. */
  async #prime(): Promise<void> {
    const { meter, log } = this.#deps;
    for (const bytes of this.#plan.sizes) {
      log(`filling the caches with bodies of ${bytes} bytes`);
      meter.writeBodies(bytes, 'whole');
      meter.writeBodies(bytes, 'stream');
      const stored = this.#scenarios.filter((scenario) => scenario.outcome === 'hit');
      const sets = new Map(stored.map(({ server, bodies }) => [`${server} ${bodies}`, { server, bodies }]));
      for (const { server, bodies } of sets.values()) await meter.prime(server, bytes, bodies);
    }
  }

  async #warmUp(): Promise<void> {
    const { meter, log } = this.#deps;
    const { warmUpSeconds, sizes } = this.#plan;
    if (warmUpSeconds === 0) return;
    log('warming up');
    for (const scenario of this.#scenarios) await meter.sample(scenario, sizes[0] ?? 0, warmUpSeconds);
  }

  async #rounds(): Promise<void> {
    const { meter, log } = this.#deps;
    const { sizes, rounds, seconds } = this.#plan;
    for (const bytes of sizes) {
      const byScenario = new Map<string, Sample[]>();
      this.#samples.set(bytes, byScenario);
      for (let round = 1; round <= rounds; round += 1) {
        for (const scenario of this.#scenarios) {
          const sample = await meter.sample(scenario, bytes, seconds);
          log(`${bytes} bytes, round ${round}, ${scenario.id}: ${sampleText(sample)}`);
          const samples = byScenario.get(scenario.id);
          if (samples === undefined) byScenario.set(scenario.id, [sample]);
          else samples.push(sample);
        }
      }
    }
  }

  async #paced(): Promise<Map<string, Sample[]>> {
    const { meter, log } = this.#deps;
    const { pacedRounds, pacedSeconds, pacedBytes } = this.#plan;
    const paced = new Map<string, Sample[]>();
    const reached = this.#samples.get(pacedBytes);
    for (let round = 1; round <= pacedRounds; round += 1) {
      for (const scenario of this.#scenarios.filter(({ id }) => PACED.includes(id))) {
        const echo = reached?.get(scenario.against ?? scenario.id) ?? [];
        const rate = Math.round(median(echo.map((sample) => sample.requestsPerSecond)) / 2);
        const sample = await meter.paced(scenario, pacedBytes, pacedSeconds, rate);
        log(`at ${rate} requests/s, round ${round}, ${scenario.id}: p99 ${(sample.p99Us / 1_000).toFixed(2)} ms`);
        const samples = paced.get(scenario.id);
        if (samples === undefined) paced.set(scenario.id, [sample]);
        else samples.push(sample);
      }
    }
    return paced;
  }

  async #semantic(): Promise<SemanticResult | undefined> {
    const { processes, log } = this.#deps;
    const { semanticCount } = this.#plan;
    if (semanticCount === 0) return undefined;
    log('semantic hits beside bare embeddings');
    const build = this.#plan.fromSource ? 'sources' : 'built';
    const args = [...TSX, join(HERE, 'semantic.ts'), MODELS_FOLDER, String(semanticCount), build];
    // On all cores, since the embedder has a thread of its own.
    const output = await processes.run({ args, core: undefined }, SEMANTIC_LIMIT_MS);
    const result = JSON.parse(output.trimEnd().split('\n').at(-1) ?? 'null') as SemanticResult | null;
    return result ?? undefined;
  }
}

function sampleText({ requestsPerSecond, cpuUsPerRequest }: Sample): string {
  return `${Math.round(requestsPerSecond)} requests/s, ${cpuUsPerRequest.toFixed(1)} µs`;
}

function machineText(): string {
  const [first] = cpus();
  const memoryGib = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} × ${first?.model ?? 'unknown'}, ${memoryGib} GiB, ${process.platform} ${release()}`;
}

function generatorText(version: string | undefined): string {
  const own = 'a generator over raw sockets on Node.js';
  if (version === undefined) return `${own} (no wrk here)`;
  return `${version} for HTTP; ${own} for gRPC and for fixed rates, since no native one takes distinct gRPC bodies`;
}
