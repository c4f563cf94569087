import { Option, type Command } from 'commander';
import type { ReplayRow } from '../../../simulation/policy/replay.ts';
import type { CsvColumns } from '../../../simulation/workload/csv-reader.ts';
import { TRACE_FORMATS, type TraceFormat } from '../../../simulation/workload/trace.ts';
import { count } from '../format.ts';
import { writeOutput } from '../output-file.ts';
import { progressLineOn } from '../progress.ts';
import { columnsOf, jobsOf, policiesOf, sizesOf } from '../replay/replay-options.ts';
import { jsonDocument, type Terminal } from '../terminal.ts';
import { table } from '../table.ts';
import { addExamples, type CommandContext } from './shared.ts';

interface ReplayOptions {
  readonly policy: string;
  readonly size: string;
  readonly format: TraceFormat | 'auto';
  readonly columns?: string;
  readonly itemBytesMax?: string;
  readonly jobs?: string;
  readonly json?: true;
  readonly csv?: true;
  readonly html?: string;
  readonly bounds: boolean;
}

const WINDOW_REQUESTS = 1_000;

const NOTES = `
TRACE is a file, plain, gzip or zstd, or a made-up workload: zipf:, users:, scan: or sessions: with name=value,…
  zipf      n, s, drift (a request), scanEvery, scanLength, scanKeys, scanShare
  users     users, su, own (share of requests), items, n, s
  scan      n, zigzag
  sessions  sessions, turns, first, grow, prompts, promptBlocks, s, think (seconds)
  all       requests, seed, rate (a second), daily, weekly, bursts (a day), burstFactor, burstSeconds, size, sizeSpread,
            cost, costSpread

Rows, as --json and --csv give them: trace, policy, size, unit (entries or bytes), requests, hits, hitPct, missBytes (bytes
of what was missed; 1 a request where a trace has no sizes), seconds (in the policy; with --jobs 1 nothing disturbs it).`;

/** Adds `reprise replay`: traces through eviction policies at several sizes. */
export function addReplay(program: Command, { terminal }: CommandContext): void {
  const command = program
    .command('replay')
    .description('replay traces through eviction policies and tell their hit rates')
    .argument('<trace...>', 'trace files, or made-up workloads')
    .option('--policy <names>', 'policies, with commas between them; all; belady and belady-size are bounds', 'all')
    .requiredOption('--size <sizes>', 'sizes, with commas between them: 5000 (entries), 512MiB (bytes)')
    .addOption(new Option('--format <name>', 'format of the files').choices(['auto', ...TRACE_FORMATS]).default('auto'))
    .option('--columns <spec>', 'columns of CSV: key=id,size=bytes,time=ts,unit=s,cost=c,group=g, by name or number')
    .option('--item-bytes-max <size>', 'what is larger is taken for a mistake (512MiB)')
    .option('--jobs <n>', 'threads (else as many as pay)')
    .option('--json', 'print one JSON document: a list of rows')
    .addOption(new Option('--csv', 'print CSV').conflicts('json'))
    .option('--html <file>', 'write a page with hit-rate curves, the clairvoyant bound and miss ratios over time')
    .option('--no-bounds', 'leave the bounds out of the page: they keep each trace in memory')
    .action(async (traces: readonly string[], options: ReplayOptions) => {
      const [{ replayTraces }, { boundFor }] = await Promise.all([
        import('../../../simulation/bin/replay-traces.ts'),
        import('../../../simulation/policy/clairvoyant.ts'),
      ]);
      const policies = await policiesOf(options.policy);
      const sizes = sizesOf(options.size);
      const columns: CsvColumns | undefined = options.columns === undefined ? undefined : columnsOf(options.columns);
      const [itemBytesMax] = options.itemBytesMax === undefined ? [] : sizesOf(options.itemBytesMax);
      const isPage = options.html !== undefined;
      const bounds =
        isPage && options.bounds ? ['belady', 'belady-size'].filter((name) => !policies.includes(name)) : [];
      const line = progressLineOn(terminal);
      const startedAtMs = performance.now();
      const told = (done: number): string => {
        const perSecond = (done * 1_000) / (performance.now() - startedAtMs);
        return `replayed ${count(done)} requests through policies, ${count(perSecond)}/s`;
      };
      const rows = await replayTraces(
        {
          traces: traces.map((path) => ({
            path,
            format: options.format,
            ...(columns !== undefined && { columns }),
            ...(itemBytesMax !== undefined && { itemBytesMax: itemBytesMax.size }),
          })),
          policies: [...policies, ...bounds],
          sizes,
          ...(options.jobs !== undefined && { jobs: jobsOf(options.jobs) }),
          ...(isPage && { windowRequests: WINDOW_REQUESTS }),
        },
        { onNote: (text) => line.note(text), onProgress: (done) => line.progress(() => told(done)) },
      ).finally(() => line.end());
      if (options.html !== undefined) {
        // Of the bounds that nobody asked for, each chart has the one that holds for its sizes.
        const shown = rows.filter(({ policy, unit }) => policies.includes(policy) || policy === boundFor(unit));
        await writePage(options.html, shown);
      }
      await printRows(
        terminal,
        rows.filter(({ policy }) => policies.includes(policy)),
        options,
      );
    });
  command.addHelpText('after', NOTES);
  addExamples(
    command,
    'reprise replay OLTP.lis.gz --policy lru,arc,adaptive --size 1000,5000',
    'reprise replay cloud.oracleGeneral.zst --size 64MiB,512MiB --html curves.html',
    'reprise replay log.csv --columns key=3,time=1,unit=s --size 10000 --json',
    'reprise replay zipf:n=1e5,s=0.9,drift=0.001,requests=1e6,seed=7 --policy all --size 1000 --csv',
  );
}

async function printRows(terminal: Terminal, rows: readonly ReplayRow[], { json, csv }: ReplayOptions): Promise<void> {
  const { plainRow, replayCells, replayCsv, REPLAY_RIGHT_FROM } =
    await import('../../../simulation/report/replay-text.ts');
  if (json === true) return terminal.out(jsonDocument(rows.map(plainRow)));
  if (csv === true) return terminal.out(replayCsv(rows));
  const cells = replayCells(rows);
  const right = cells[0]!.map((_, column) => column).slice(REPLAY_RIGHT_FROM);
  terminal.out(table(cells, { right }));
}

async function writePage(path: string, rows: readonly ReplayRow[]): Promise<void> {
  const [{ htmlPage }, { replayPage }] = await Promise.all([
    import('../../../evaluation/plot/page.ts'),
    import('../replay/replay-page.ts'),
  ]);
  await writeOutput(path, await htmlPage(replayPage(rows, WINDOW_REQUESTS)));
}
