import { InvalidArgumentError, type Command } from 'commander';
import { calibrationInUse } from '../calibration-in-use.ts';
import { withTextEmbedder } from '../evaluation-embedder.ts';
import { UsageError } from '../exit.ts';
import { judgedText, streamText } from '../judge-text.ts';
import { writeOutput } from '../output-file.ts';
import { progressOn } from '../progress.ts';
import { jsonDocument, type Terminal } from '../terminal.ts';
import { addExamples, loadedConfig, type CommandContext } from './shared.ts';

interface JudgeOptions {
  readonly pairs?: string;
  readonly stream?: string;
  readonly seeds: readonly number[];
  readonly embedder?: string;
  readonly config?: string;
  readonly calibration?: string;
  readonly domain?: string;
  readonly json?: true;
  readonly summary?: string;
  readonly html?: string;
}

/** Adds `reprise judge`: says of each pair of a file whether a node would serve the stored answer. */
export function addJudge(program: Command, { terminal }: CommandContext): void {
  const command = program
    .command('judge')
    .description('say of each pair of texts whether a node would serve the stored answer, and how sure it is')
    .option('--pairs <file>', 'TSV (no quoting), CSV or JSONL with a (stored), b (asked), same, domain, category')
    .option(
      '--stream <file>',
      'instead of pairs: CLINC150 (data_full.json) asked as a stream, cosine against a fitted policy',
    )
    .option('--seeds <list>', 'orders of the stream', seedList, [1])
    .option('--embedder <id|path>', "embedding model, or its folder (else the configuration's)")
    .option('--config <file>', 'configuration file (REPRISE_CONFIG; else reprise.yaml where there is one)')
    .option('--calibration <file|off>', "calibration to judge with (else the configuration's)")
    .option('--domain <name>', "judge all pairs by this domain (else by the row's, or the configuration's rules)")
    .option('--json', 'print one JSON object a pair, one a line')
    .option('--summary <file>', 'write curves, operating point, and the pairs to read, as JSON')
    .option('--html <file>', 'write the same as a page with plots, which needs no network')
    .action((options: JudgeOptions) => {
      if ((options.pairs === undefined) === (options.stream === undefined))
        throw new UsageError('give --pairs or --stream');
      return options.stream === undefined
        ? judgePairs(options, terminal)
        : judgeStream(options, options.stream, terminal);
    });
  addExamples(
    command,
    'reprise judge --pairs pairs.tsv',
    'reprise judge --pairs pairs.tsv --json > judged.jsonl',
    'reprise judge --pairs pairs.csv --summary summary.json --html summary.html > pairs.txt',
    'reprise judge --stream clinc150.json --seeds 1,2,3 --html stream.html',
  );
}

async function judgePairs(options: JudgeOptions, terminal: Terminal): Promise<void> {
  const [{ readPairs }, { judge }, { judgedLine }] = await Promise.all([
    import('../../../evaluation/pairs/read-pairs.ts'),
    import('../../../evaluation/judge/judge.ts'),
    import('../../../evaluation/judge/judge-pairs.ts'),
  ]);
  const config = await loadedConfig(options.config, terminal);
  const file = await readPairs(options.pairs ?? '');
  const onProgress = progressOn(terminal, 'embedding texts:');
  const { pairs, summary } = await withTextEmbedder(config, options.embedder, async (embedder) => {
    const calibration = await calibrationInUse(config, embedder.embedderId, {
      named: options.calibration,
      terminal,
    });
    const { domain } = options;
    return judge(
      { config, file, embedder, ...(calibration && { calibration }), ...(domain !== undefined && { domain }) },
      { onProgress },
    );
  });
  if (options.summary !== undefined) await writeOutput(options.summary, jsonDocument(summary));
  if (options.html !== undefined) {
    const [{ htmlPage }, { summaryPage }] = await Promise.all([
      import('../../../evaluation/plot/page.ts'),
      import('../../../evaluation/judge/summary-page.ts'),
    ]);
    await writeOutput(options.html, await htmlPage(summaryPage(summary)));
  }
  if (options.json !== true) return terminal.out(judgedText(pairs, summary));
  for (let at = 0; at < pairs.length; at += LINES_AT_ONCE) {
    terminal.out(
      pairs
        .slice(at, at + LINES_AT_ONCE)
        .map(judgedLine)
        .join(''),
    );
  }
}

/** Streams are compared by what the policy adds to cosine, so guards are left out: here two questions of one intent are one question. */
async function judgeStream(options: JudgeOptions, path: string, terminal: Terminal): Promise<void> {
  const [{ readClinc150 }, { runClincStream }, { streamPage, streamRows }] = await Promise.all([
    import('../../../evaluation/pairs/known-data.ts'),
    import('../../../evaluation/stream/clinc-stream.ts'),
    import('../../../evaluation/stream/stream-report.ts'),
  ]);
  const [{ UNCALIBRATED }, { PLAIN_LEXICON }] = await Promise.all([
    import('../../../runtime/semantic/equivalence.ts'),
    import('../../../runtime/semantic/lexicons/domain-lexicon.ts'),
  ]);
  const config = await loadedConfig(options.config, terminal);
  const data = await readClinc150(path);
  const result = await withTextEmbedder(config, options.embedder, (embedder) =>
    runClincStream(
      {
        data,
        embedder,
        seeds: options.seeds,
        candidatesMax: config.node.semantic.candidatesMax,
        policy: { guards: [], lexicon: PLAIN_LEXICON, similarityMin: 0, probabilityMin: 0, equivalence: UNCALIBRATED },
        onRun: progressOn(terminal, 'streams:'),
      },
      { onProgress: progressOn(terminal, 'embedding texts:') },
    ),
  );
  if (options.summary !== undefined) await writeOutput(options.summary, jsonDocument(result));
  if (options.html !== undefined) {
    const { htmlPage } = await import('../../../evaluation/plot/page.ts');
    await writeOutput(options.html, await htmlPage(streamPage(result)));
  }
  const rows = streamRows(result);
  terminal.out(options.json === true ? jsonDocument({ ...result, rows }) : streamText(rows));
}

function seedList(text: string): readonly number[] {
  const seeds = text.split(',').map(Number);
  if (seeds.length <= SEEDS_MAX && seeds.every((seed) => Number.isInteger(seed) && seed >= 0)) return seeds;
  throw new InvalidArgumentError(`It must be at most ${SEEDS_MAX} whole numbers, parted by commas.`);
}

const SEEDS_MAX = 100;
const LINES_AT_ONCE = 1_000;
