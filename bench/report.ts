import type { Sample } from './measure.ts';
import { SCENARIOS, scenarioOf } from './scenarios.ts';
import type { SemanticResult } from './semantic.ts';

/** All samples of one run. */
export interface Results {
  /** Of each size and scenario, one sample a round. */
  readonly samples: ReadonlyMap<number, ReadonlyMap<string, readonly Sample[]>>;
  /** At half the rate of the echo, at one size. */
  readonly paced: ReadonlyMap<string, readonly Sample[]>;
  readonly pacedBytes: number;
  /** Undefined: not measured. */
  readonly semantic: SemanticResult | undefined;
}

/** What a reader must know of a run to judge it. */
export interface Circumstances {
  readonly date: string;
  readonly machine: string;
  readonly node: string;
  readonly generator: string;
  readonly command: string;
  readonly isPinned: boolean;
  readonly loadAverage: number;
  readonly bodyCount: number;
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** Processes of others that keep this many cores busy disturb a run. */
const LOAD_AVERAGE_MAX = 0.5;
const BAR_BYTES = 2_048;

/** The run as a Markdown document. */
export function report(results: Results, about: Circumstances): string {
  const sizes = [...results.samples].map(
    ([bytes, byScenario]) => `### Bodies of ${sizeText(bytes)}\n\n${sizeTable(byScenario)}`,
  );
  const parts = [
    '# Benchmarks',
    introduction(about),
    '## Against the bars',
    barsTable(results),
    '## Throughput and server CPU',
    "Medians over the rounds. A ratio is that of the echo in the same round: throughput of ours over the echo's, CPU time of the echo's over ours; 1.00 would be a cache for nothing.",
    ...sizes,
    `## Latency at half the echo's rate, bodies of ${sizeText(results.pacedBytes)}`,
    'Requests begin at a constant rate, half of what the echo of the same protocol reached above, whatever became of those before; latency counts from the moment at which a request was due. Medians over the rounds; a ratio is that of the echo in the same round.',
    pacedTable(results.paced),
    '## A semantic hit',
    semanticText(results.semantic),
  ];
  return `${parts.join('\n\n')}\n`;
}

function introduction(about: Circumstances): string {
  const disturbed =
    about.loadAverage > LOAD_AVERAGE_MAX
      ? `\n\n**The machine was doing other work (load average ${about.loadAverage.toFixed(1)} before the start); take the ratios with care.**`
      : '';
  const pinned = about.isPinned
    ? 'The server process has one core to itself; load and upstream run on another.'
    : 'Processes could not be pinned to cores here: server and load shared them.';
  return `What an answer from memory costs, beside servers that do nothing: each echo takes a request apart as its library does (the HTTP ones parse the JSON and write it anew) and sends it back. Reprise runs as in production: identity by keys, metrics and request log on, memory grid.

\`\`\`
${about.command}
\`\`\`

| | |
| --- | --- |
| Date | ${about.date} |
| Machine | ${about.machine} |
| Node.js | ${about.node} |
| Load | ${about.generator} |
| Bodies | ${about.bodyCount} distinct ones of each size, in random order; answers of about the same size |
| Connections | ${about.connections}, one request at a time on each |
| Rounds | ${about.rounds} of ${about.seconds} s for each line, the lines in turn |

${pinned} Server CPU is user and system time of the whole process, all threads, as the kernel counts it, over the requests of that time.${disturbed}`;
}

function sizeTable(byScenario: ReadonlyMap<string, readonly Sample[]>): string {
  const rows = SCENARIOS.flatMap((scenario) => {
    const samples = byScenario.get(scenario.id);
    if (samples === undefined) return [];
    const ratio = ratios(byScenario, scenario.id);
    return [
      [
        scenario.title,
        whole(median(samples.map((sample) => sample.requestsPerSecond))),
        decimal(median(samples.map((sample) => sample.cpuUsPerRequest)), 1),
        scenario.against === undefined ? '' : scenarioOf(scenario.against).title,
        ratio === undefined ? '' : decimal(ratio.throughput, 2),
        ratio === undefined ? '' : decimal(ratio.cpu, 2),
      ],
    ];
  });
  const header = ['', 'requests/s', 'server CPU µs/request', 'against', 'throughput ratio', 'CPU ratio'];
  return markdownTable(header, rows);
}

/** Medians of the ratios within each round; undefined when there is nothing to compare with. */
function ratios(
  byScenario: ReadonlyMap<string, readonly Sample[]> | undefined,
  id: string,
): { readonly throughput: number; readonly cpu: number } | undefined {
  const ours = byScenario?.get(id);
  const theirs = byScenario?.get(scenarioOf(id).against ?? '');
  if (ours === undefined || theirs === undefined) return undefined;
  const pairs = ours.flatMap((sample, round) => {
    const other = theirs[round];
    return other === undefined ? [] : [{ sample, other }];
  });
  return {
    throughput: median(pairs.map(({ sample, other }) => sample.requestsPerSecond / other.requestsPerSecond)),
    cpu: median(pairs.map(({ sample, other }) => other.cpuUsPerRequest / sample.cpuUsPerRequest)),
  };
}

function pacedTable(paced: Results['paced']): string {
  const rows = [...paced].map(([id, samples]) => {
    const { title, against } = scenarioOf(id);
    const ratio = against === undefined ? undefined : latencyRatio(paced, id, 'p99Us');
    return [
      title,
      whole(median(samples.map((sample) => sample.requestsPerSecond))),
      decimal(median(samples.map((sample) => sample.p50Us)) / 1_000, 2),
      decimal(median(samples.map((sample) => sample.p99Us)) / 1_000, 2),
      ratio === undefined ? '' : decimal(ratio, 2),
    ];
  });
  return markdownTable(['', 'requests/s', 'p50 ms', 'p99 ms', "p99 over the echo's"], rows);
}

/** Median of the ratios within each round; undefined when there is nothing to compare with. */
function latencyRatio(paced: Results['paced'], id: string, quantile: 'p50Us' | 'p99Us'): number | undefined {
  const ours = paced.get(id);
  const theirs = paced.get(scenarioOf(id).against ?? '');
  if (ours === undefined || theirs === undefined) return undefined;
  const each = ours.map((sample, round) => sample[quantile] / (theirs[round]?.[quantile] ?? Number.NaN));
  return median(each.filter(Number.isFinite));
}

function semanticText(semantic: SemanticResult | undefined): string {
  if (semantic === undefined) return 'Not measured: there is no embedding model here.';
  const { pairs, misses, hitUs, embeddingUs, ratio } = semantic;
  const left = misses === 0 ? '' : ` (${misses} more did not hit and are left out)`;
  return `${pairs} rephrasings${left}, each embedded bare and asked as a request, in one process, one after the other: ${decimal(embeddingUs / 1_000, 2)} ms for the embedding and ${decimal(hitUs / 1_000, 2)} ms for the hit (medians), a ratio of ${decimal(ratio, 2)} (median of the pairs).`;
}

interface Bar {
  readonly what: string;
  readonly value: number | undefined;
  readonly bar: number;
  readonly aim: number | undefined;
  readonly isUpper?: boolean;
}

function bars(results: Results): readonly Bar[] {
  const at = results.samples.get(BAR_BYTES);
  const http = ratios(at, 'http');
  const bare = ratios(at, 'http-no-memo');
  const grpc = ratios(at, 'grpc');
  const unique = ratios(at, 'unique-on');
  const grid = ratios(at, 'grid');
  return [
    { what: 'exact hit by HTTP over the Fastify echo, throughput', value: http?.throughput, bar: 0.6, aim: 0.8 },
    { what: 'the same, CPU', value: http?.cpu, bar: 0.6, aim: 0.8 },
    { what: 'the same without the body memo, throughput', value: bare?.throughput, bar: 0.4, aim: undefined },
    { what: 'the same without the body memo, CPU', value: bare?.cpu, bar: 0.4, aim: undefined },
    { what: 'exact hit by gRPC over the grpc-js echo, throughput', value: grpc?.throughput, bar: 0.75, aim: 0.85 },
    { what: 'the same, CPU', value: grpc?.cpu, bar: 0.75, aim: 0.85 },
    {
      what: "HTTP, p99 at half the echo's rate over the echo's",
      value: latencyRatio(results.paced, 'http', 'p99Us'),
      bar: 2,
      aim: undefined,
      isUpper: true,
    },
    {
      what: "gRPC, p99 at half the echo's rate over the echo's",
      value: latencyRatio(results.paced, 'grpc', 'p99Us'),
      bar: 2,
      aim: undefined,
      isUpper: true,
    },
    {
      what: 'unique inputs, CPU with the cache on over off',
      value: unique === undefined ? undefined : 1 / unique.cpu,
      bar: 1.15,
      aim: 1.05,
      isUpper: true,
    },
    {
      what: 'exact hit from L2 by HTTP over an echo with a get, CPU',
      value: grid === undefined ? undefined : 1 / grid.cpu,
      bar: 1.5,
      aim: undefined,
      isUpper: true,
    },
    {
      what: "the same, p50 at half the echo's rate",
      value: latencyRatio(results.paced, 'grid', 'p50Us'),
      bar: 1.5,
      aim: undefined,
      isUpper: true,
    },
    { what: 'semantic hit over a bare embedding', value: results.semantic?.ratio, bar: 1.25, aim: 1.15, isUpper: true },
  ];
}

function barsTable(results: Results): string {
  const rows = bars(results).map(({ what, value, bar, aim, isUpper = false }) => {
    const sign = isUpper ? '≤' : '≥';
    const isMet = value !== undefined && (isUpper ? value <= bar : value >= bar);
    return [
      what,
      value === undefined ? 'not measured' : decimal(value, 2),
      `${sign} ${decimal(bar, 2)}`,
      aim === undefined ? '' : decimal(aim, 2),
      value === undefined ? '' : isMet ? 'yes' : 'no',
    ];
  });
  return `At ${sizeText(BAR_BYTES)}.\n\n${markdownTable(['', 'measured', 'bar', 'aim', 'met'], rows)}`;
}

function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The middle value; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

function sizeText(bytes: number): string {
  return bytes < 1_024 ? `${bytes / 1_000} KB` : `${bytes / 1_024} KB`;
}

function whole(value: number): string {
  return Number.isFinite(value) ? Math.round(value).toLocaleString('en') : '–';
}

function decimal(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}
