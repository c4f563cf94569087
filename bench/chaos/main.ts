import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { unavailable } from '../../grid/hazelcast/testing/cluster.ts';
import { Chaos, type ChaosPlan } from './chaos.ts';
import { chaosReport } from './report.ts';
import { SCENARIOS } from './scenarios.ts';
import type { ScenarioSeen } from './outcome.ts';

const HELP = `npm run chaos [-- OPTION]…: makes a Hazelcast cluster ill under load and tells what two nodes did about it.

  --scenario ID  this one only; may be repeated: ${SCENARIOS.map(({ id }) => id).join(', ')}
  --seconds N    for so long each fault lasts (20)
  --rate N       requests a second to both nodes together (300)
  --out FILE     where the report goes; docs/chaos.md for a run of all scenarios, else standard output
  --json         the figures as JSON on standard output, and no report unless --out is given

Exit: 0 all was as it must be, 1 the run failed, 2 usage, 4 something was not.
`;
const REPORT = fileURLToPath(new URL('../../docs/chaos.md', import.meta.url));
const FAULT_SECONDS = 20;
const RATE = 300;
const STRICT_RATE = 20;
const RAMP_MS = 15_000;
const AFTER_SECONDS_MIN = 15;
const EXIT = { failed: 1, usage: 2, wrong: 4 } as const;

interface Options {
  readonly scenarios: readonly string[];
  readonly seconds: number;
  readonly rate: number;
  readonly out: string | undefined;
  readonly json: boolean;
}

const options = readOptions();
if (options === undefined) process.exit(process.argv.includes('--help') ? 0 : EXIT.usage);
const missing = unavailable();
if (missing !== undefined) fail(missing);

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => stopping.abort(new Error(`stopped by ${signal}`)));
const startedAtMs = performance.now();
const log = (line: string): void => {
  const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1).padStart(6);
  process.stderr.write(`[${seconds} s] ${line}\n`);
};
try {
  process.exitCode = await run(options);
} catch (error) {
  const { aborted, reason } = stopping.signal;
  const cause: unknown = aborted ? reason : error;
  fail(cause instanceof Error ? cause.message : String(cause));
}

async function run({ scenarios, seconds, rate, out, json }: Options): Promise<number> {
  const plan: ChaosPlan = {
    rate,
    controlRate: rate / 3,
    strictRate: Math.min(STRICT_RATE, rate),
    rampMs: RAMP_MS,
    beforeSeconds: Math.max(5, Math.round(seconds / 2)),
    faultSeconds: seconds,
    afterSeconds: Math.max(AFTER_SECONDS_MIN, seconds),
  };
  const chosen = SCENARIOS.filter(({ id }) => scenarios.length === 0 || scenarios.includes(id));
  const chaos = await Chaos.start(plan, { log, signal: stopping.signal });
  const seen: ScenarioSeen[] = [];
  let broken: unknown;
  try {
    for (const scenario of chosen) {
      const outcome = await chaos.run(scenario);
      seen.push(outcome);
      log(`${scenario.id}: ${outcome.faults.length === 0 ? 'all as it must be' : outcome.faults.join('; ')}`);
    }
  } catch (error) {
    // What was seen before it is told all the same.
    if (stopping.signal.aborted || seen.length === 0) throw error;
    broken = error;
  } finally {
    await chaos.close();
  }
  const head = { date: new Date().toISOString().slice(0, 10), machine: machineText(), command: commandText(), plan };
  if (json) process.stdout.write(`${JSON.stringify({ ...head, scenarios: seen }, undefined, 2)}\n`);
  const path = out ?? (json || scenarios.length > 0 ? undefined : REPORT);
  if (!json || path !== undefined) {
    const text = await format(chaosReport(head, seen), { ...(await resolveConfig(REPORT)), parser: 'markdown' });
    if (path === undefined) process.stdout.write(text);
    else writeFileSync(path, text);
  }
  if (broken !== undefined) throw broken;
  return seen.every(({ faults }) => faults.length === 0) ? 0 : EXIT.wrong;
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        scenario: { type: 'string', multiple: true, default: [] },
        seconds: { type: 'string', default: String(FAULT_SECONDS) },
        rate: { type: 'string', default: String(RATE) },
        out: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const unknown = values.scenario.filter((id) => !SCENARIOS.some((scenario) => scenario.id === id));
    if (unknown.length > 0) throw new Error(`There is no scenario ${unknown.join(', ')}.`);
    const [seconds, rate] = [Number(values.seconds), Number(values.rate)];
    if (!(seconds >= 1 && seconds <= 600)) throw new Error('--seconds takes a number from 1 to 600.');
    if (!(rate >= 5 && rate <= 10_000)) throw new Error('--rate takes a number from 5 to 10000.');
    if (values.help) process.stderr.write(HELP);
    const out = values.out === undefined ? undefined : resolve(values.out);
    return values.help ? undefined : { scenarios: values.scenario, seconds, rate, out, json: values.json };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    return undefined;
  }
}

function fail(reason: string): never {
  process.stderr.write(`chaos: ${reason}\n`);
  process.exit(EXIT.failed);
}

function commandText(): string {
  const given = process.argv.slice(2);
  return given.length === 0 ? 'npm run chaos' : `npm run chaos -- ${given.join(' ')}`;
}

function machineText(): string {
  const [first] = cpus();
  const memoryGib = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} × ${first?.model ?? 'unknown'}, ${memoryGib} GiB, ${process.platform} ${release()}, Node.js ${process.version}`;
}
