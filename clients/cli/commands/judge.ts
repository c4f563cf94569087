import type { Command } from 'commander';
import type { Config } from '../../../runtime/config/index.ts';
import type { Calibration } from '../../../runtime/ports/calibration.ts';
import { withTextEmbedder } from '../evaluation-embedder.ts';
import { judgedText } from '../judge-text.ts';
import { writeOutput } from '../output-file.ts';
import { progressOn } from '../progress.ts';
import { jsonDocument } from '../terminal.ts';
import { addExamples, type CommandContext } from './shared.ts';

interface JudgeOptions {
  readonly pairs: string;
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
    .requiredOption('--pairs <file>', 'TSV (no quoting), CSV or JSONL with a (stored), b (asked), same, domain, category')
    .option('--embedder <id|path>', "embedding model, or its folder (else the configuration's)")
    .option('--config <file>', 'configuration file (REPRISE_CONFIG; else reprise.yaml where there is one)')
    .option('--calibration <file|off>', "calibration to judge with (else the configuration's)")
    .option('--domain <name>', "judge all pairs by this domain (else by the row's, or the configuration's rules)")
    .option('--json', 'print one JSON object a pair, one a line')
    .option('--summary <file>', 'write curves, operating point, and the pairs to read, as JSON')
    .option('--html <file>', 'write the same as a page with plots, which needs no network')
    .action(async (options: JudgeOptions) => {
      const [{ loadConfig }, { readPairs }, { judge }, { judgedLine }] = await Promise.all([
        import('../../../runtime/config/index.ts'),
        import('../../../evaluation/pairs/read-pairs.ts'),
        import('../../../evaluation/judge/judge.ts'),
        import('../../../evaluation/judge/judge-pairs.ts'),
      ]);
      const config = loadConfig(options.config === undefined ? {} : { file: options.config });
      for (const warning of config.warnings) terminal.err(`warning: ${warning}\n`);
      const file = await readPairs(options.pairs);
      const onProgress = progressOn(terminal, 'embedding texts:');
      const { pairs, summary } = await withTextEmbedder(config, options.embedder, async (embedder) => {
        const calibration = await calibrationOf(options.calibration, config, embedder.embedderId);
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
        terminal.out(pairs.slice(at, at + LINES_AT_ONCE).map(judgedLine).join(''));
      }
    });
  addExamples(
    command,
    'reprise judge --pairs pairs.tsv',
    'reprise judge --pairs pairs.tsv --json > judged.jsonl',
    'reprise judge --pairs pairs.csv --summary summary.json --html summary.html > pairs.txt',
  );
}

const LINES_AT_ONCE = 1_000;

/** The calibration that a node would have, or the one that was named; undefined: none. */
async function calibrationOf(named: string | undefined, config: Config, embedderId: string): Promise<Calibration | undefined> {
  if (named === 'off') return undefined;
  if (named === undefined) return config.node.calibration;
  const { checkFits, readCalibration } = await import('../../../evaluation/calibrate/calibration-file.ts');
  const { RepriseError } = await import('../../../runtime/errors.ts');
  const calibration = await readCalibration(named);
  if (calibration === undefined) throw new RepriseError('config_invalid', `The calibration ${named} doesn't exist.`);
  checkFits(named, calibration, embedderId);
  return calibration;
}
