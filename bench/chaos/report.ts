import {
  ADDED_P99_MS_MAX,
  addedMs,
  BACK_MS_MAX,
  backText,
  isStarved,
  type PhaseSeen,
  type ScenarioSeen,
} from './outcome.ts';
import { HEAP_MB, MEMBERS, MODEL_MS } from './fleet.ts';
import { BACK_SHARE } from './records.ts';
import type { ChaosPlan } from './chaos.ts';

export interface ReportHead {
  readonly date: string;
  readonly machine: string;
  readonly command: string;
  readonly plan: ChaosPlan;
}

const PHASES = { before: 'before', fault: 'under the fault', return: 'members start', after: 'after' } as const;
/** Busier than this, the machine has no time left for what a fault costs. */
const BUSY_SHARE_MAX = 0.9;

/** The document: what was run, the tables, and what their columns mean. */
export function chaosReport(head: ReportHead, seen: readonly ScenarioSeen[]): string {
  return [
    introduction(head),
    '## What became of requests and hits',
    table(
      [
        'Fault',
        'Requests',
        'Failed',
        'Wrong',
        'Hits before',
        'under it',
        'at the end',
        'Back under it',
        'Back after it',
      ],
      seen.map(hitRow),
    ),
    '## What was added to calls of the model',
    'Milliseconds at p50 / p99 / p99.9.',
    table(
      ['Fault', 'Phase', 'Seconds', 'Hits', 'Model called', 'Control', 'Added'],
      seen.flatMap((scenario) => scenario.phases.map((phase) => latencyRow(scenario, phase))),
    ),
    '## What the nodes did about it',
    table(
      [
        'Fault',
        'Strict hits before / under it / at the end',
        'Unconfirmed hits',
        'for',
        'Breakers opened / half-open / closed',
        'Stores failed',
        'Incarnations',
        'Longest stall: node / generator',
        'Processors busy',
      ],
      seen.map(nodeRow),
    ),
    ...verdict(seen),
    EXPLANATION,
  ].join('\n\n');
}

function introduction({ date, machine, command, plan }: ReportHead): string {
  const { rate, controlRate, strictRate, beforeSeconds, faultSeconds, afterSeconds } = plan;
  return `# The grid in trouble

What two nodes do when their Hazelcast cluster falls ill under load. Measured on ${date} by \`${command}\` on ${machine}. To
run it again: \`npm run chaos\` (\`-- --help\` for its options); it needs Java 17 and a machine with nothing else to do.

${MEMBERS} members of ${HEAP_MB} MiB behind proxies that delay, stall and cut; two nodes in the hybrid topology, sealed, with the
default deadlines (look-up 50 ms, join 100 ms), breakers and staleness bound (2 s); a model that answers after ${MODEL_MS} ms; all on the
one machine. An open loop asks the nodes ${rate} times a second: three of five requests are for popular questions (Zipf), one
is new, and one repeats what the *other* node was asked two seconds before, so that it is a hit only if the grid has it. At the same
time a third node with \`cache-control: no-cache, no-store\` answers the same requests ${Math.round(controlRate)} times a second, the *control*; and a
namespace with \`strict: true\` is asked ${strictRate} times a second. Each fault has ${beforeSeconds} s before it, lasts ${faultSeconds} s, and is watched for
${afterSeconds} s after it. All answers are compared with the only right one. Nodes and members live through the whole run, one fault
after the other.`;
}

function hitRow(seen: ScenarioSeen): string[] {
  const rateOf = (name: PhaseSeen['name']): string =>
    percent(seen.phases.find((phase) => phase.name === name)?.hitRate);
  return [
    seen.title,
    seen.requests.toLocaleString('en'),
    String(seen.failures),
    String(seen.wrong),
    rateOf('before'),
    rateOf('fault'),
    rateOf('after'),
    backText(seen.backUnderFaultMs),
    backText(seen.backAfterHealMs),
  ];
}

function latencyRow({ title }: ScenarioSeen, phase: PhaseSeen): string[] {
  const places = ['p50', 'p99', 'p999'] as const;
  const text = (of: (place: (typeof places)[number]) => number): string =>
    places.map((place) => milliseconds(of(place))).join(' / ');
  const mark = isStarved(phase) ? ' †' : '';
  return [
    title,
    PHASES[phase.name],
    phase.seconds.toFixed(0),
    text((place) => phase.hits[place]),
    text((place) => phase.forwarded[place]),
    text((place) => phase.control[place]),
    `${text((place) => addedMs(phase, place))}${mark}`,
  ];
}

function nodeRow(seen: ScenarioSeen): string[] {
  const { counted } = seen;
  return [
    seen.title,
    seen.strictHitRates.map(percent).join(' / '),
    String(counted.unconfirmedHits),
    `${(seen.unconfirmedMs / 1_000).toFixed(1)} s`,
    `${counted.breakerOpened} / ${counted.breakerHalfOpened} / ${counted.breakerClosed}`,
    String(counted.storesFailed),
    String(counted.incarnations),
    `${seen.lagMs.toFixed(0)} / ${seen.generatorLagMs.toFixed(0)} ms`,
    `${percent(seen.busyShare)}${seen.busyShare > BUSY_SHARE_MAX ? ' ‡' : ''}`,
  ];
}

function verdict(seen: readonly ScenarioSeen[]): string[] {
  const faults = seen.flatMap(({ title, faults: each }) => each.map((fault) => `- ${title}: ${fault}`));
  if (faults.length === 0) return ['## Not as it must be', 'Nothing.'];
  return ['## Not as it must be', faults.join('\n')];
}

const EXPLANATION = `## How to read the tables

- **Requests** counts all three kinds; **failed** is any status but 200, a connection that broke or an answer that took longer
  than 10 s; **wrong** is an answer to another question. Both must be 0.
- **Hits** are of L1, L2, or of a call under way that a request joined, as a share of requests outside the strict namespace.
- **Back under it** is the time from the fault until the hit rate is at ${BACK_SHARE * 100} % of what it was before and stays there while the
  fault lasts, judged in windows of one second; **back after it** the same from when most members were there again. "Never fell"
  and "not back" are the ends of that scale. The first must be within ${BACK_MS_MAX / 1_000} s when one member is killed, the second always.
- **Hits**, **model called** and **control** in the second table are whole times of requests as the client saw them, counted from when
  they were due. **Added** is the difference of the two distributions at that place: what look-up, waiting for a sick grid and join
  cost a request that ended at the model. Its p99 must be within ${ADDED_P99_MS_MAX} ms, the two deadlines together, but for the rows *members start*: a
  starting JVM takes the processors from everything else. † marks phases in which the control's own p99 was above ${MODEL_MS + ADDED_P99_MS_MAX} ms: there
  the machine, not the grid, kept requests waiting, and added times say nothing.
- **Strict hits** of the tiers must be 0 under faults that keep the ledger from being confirmed, and come back.
- **Unconfirmed hits** are the metric \`reprise_unconfirmed_hits_total\`; **for** is the time in which a node gave some.
  **Breakers** are \`reprise_breaker_transitions_total\`, of both nodes.
- **Incarnations** are new ledgers, begun or adopted, of both nodes: after the loss of all members L1 and L2 begin cold.
- **Longest stall** is how long an event loop stood still. ‡ marks runs in which the processors had hardly a moment to spare.
`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function percent(share: number | undefined): string {
  return share === undefined || Number.isNaN(share) ? '–' : `${(share * 100).toFixed(0)} %`;
}

function milliseconds(ms: number): string {
  return Number.isNaN(ms) ? '–' : ms.toFixed(0);
}
