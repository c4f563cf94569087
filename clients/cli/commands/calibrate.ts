import { existsSync } from 'node:fs';
import { InvalidArgumentError, type Command } from 'commander';
import type { Coefficients, DomainCalibration } from '../../../evaluation/calibrate/calibrate.ts';
import type { TextEmbedder } from '../../../evaluation/embedding/text-embedder.ts';
import { shareText } from '../../../evaluation/judge/share-text.ts';
import type { PairFile } from '../../../evaluation/pairs/labelled-pair.ts';
import type { Config } from '../../../runtime/config/index.ts';
import type { Calibration } from '../../../runtime/ports/calibration.ts';
import { calibrationPath, writeCalibration } from '../calibration-file.ts';
import { calibrationInUse } from '../calibration-in-use.ts';
import { withTextEmbedder } from '../evaluation-embedder.ts';
import { UsageError } from '../exit.ts';
import { progressOn, type Progress } from '../progress.ts';
import { jsonDocument, type Terminal } from '../terminal.ts';
import { addExamples, loadedConfig, seedOf, type CommandContext } from './shared.ts';

interface CalibrateOptions {
  readonly pairs?: string;
  readonly intents?: readonly string[];
  readonly domain: string;
  readonly wrongAtMost: number;
  readonly confidence: number;
  readonly seed: number;
  readonly coefficients: Coefficients;
  readonly embedder?: string;
  readonly config?: string;
  readonly from?: string;
  readonly out?: string;
  readonly json?: true;
}

/** Adds `reprise calibrate`: finds the threshold that keeps wrong hits of a domain below a bound. */
export function addCalibrate(program: Command, { terminal }: CommandContext): void {
  const command = program
    .command('calibrate')
    .description(
      'find the threshold that keeps wrong hits of a domain below a bound, with confidence, and write it down',
    )
    .option('--pairs <file>', 'labelled pairs: TSV (no quoting), CSV or JSONL with a (stored), b (asked), same')
    .option('--intents <file...>', 'instead: near pairs of texts by intent (BANKING77 CSV, CLINC150 JSON)')
    .requiredOption('--domain <name>', 'domain to calibrate; rows that name it count, or all rows where none does')
    .requiredOption('--wrong-at-most <share>', 'bound of the share of same=0 that is served: 1%, 0.01', share)
    .option('--confidence <share>', 'with which the bound holds', share, 0.95)
    .option('--coefficients <whose>', "shared: the file's; own: fitted to these pairs; auto: the better", whose, 'auto')
    .option('--seed <number>', 'seed of all that is drawn', seedOf, 1)
    .option('--embedder <id|path>', "embedding model, or its folder (else the configuration's)")
    .option('--config <file>', 'configuration file (REPRISE_CONFIG; else reprise.yaml where there is one)')
    .option('--from <file>', 'calibration to start from (else the file that is written, else the one in use)')
    .option('--out <file>', 'calibration to write or to add to (else calibration/<embedder>.json)')
    .option('--json', 'print one JSON document')
    .action(async (options: CalibrateOptions) => {
      if ((options.pairs === undefined) === (options.intents === undefined))
        throw new UsageError('give --pairs or --intents');
      const [{ calibrate }, { Policies }] = await Promise.all([
        import('../../../evaluation/calibrate/calibrate.ts'),
        import('../../../evaluation/judge/policies.ts'),
      ]);
      const config = await loadedConfig(options.config, terminal);
      const onProgress = progressOn(terminal, 'embedding texts:');
      await withTextEmbedder(config, options.embedder, async (embedder) => {
        const { embedderId } = embedder;
        const path = options.out ?? calibrationPath(embedderId);
        const base = await startingPoint(options, config, { path, embedderId, terminal });
        const file = await pairsOf(options, embedder, onProgress);
        const policies = new Policies(config, base);
        const found = await calibrate(
          {
            ...options,
            file,
            embedder,
            policy: policies.ofDomain(policies.has(options.domain) ? options.domain : 'default'),
            equivalence: base.equivalence,
            similarityMin: config.node.semantic.similarityFloor,
          },
          { onProgress },
        );
        const domains = { ...base.domains, [options.domain]: found.calibrated };
        await writeCalibration(path, { ...base, domains });
        terminal.out(options.json === true ? documentOf(path, options, found) : textOf(path, options, found));
      });
    });
  addExamples(
    command,
    'reprise calibrate --pairs pairs.tsv --domain default --wrong-at-most 1%',
    'reprise calibrate --intents banking77-test.csv clinc150.json --domain default --wrong-at-most 1%',
    'reprise calibrate --pairs banking.csv --domain banking --wrong-at-most 0.5% --confidence 99% --out mine.json',
  );
}

async function pairsOf(
  { pairs, intents = [], seed }: CalibrateOptions,
  embedder: TextEmbedder,
  onProgress: Progress,
): Promise<PairFile> {
  if (pairs !== undefined) {
    const { readPairs } = await import('../../../evaluation/pairs/read-pairs.ts');
    return readPairs(pairs);
  }
  const { readIntentPairs } = await import('../../../evaluation/calibrate/intent-pairs.ts');
  return readIntentPairs(intents, embedder, { seed, onProgress });
}

/** The calibration that the domain is added to. Without one there is no model whose threshold could be found. */
async function startingPoint(
  options: CalibrateOptions,
  config: Config,
  use: { readonly path: string; readonly embedderId: string; readonly terminal: Terminal },
): Promise<Calibration> {
  const { path, embedderId, terminal } = use;
  const named = options.from ?? (existsSync(path) ? path : undefined);
  const found = await calibrationInUse(config, embedderId, { named, terminal });
  if (found !== undefined) return found;
  const { RepriseError } = await import('../../../runtime/errors.ts');
  throw new RepriseError(
    'config_invalid',
    `There is no calibration for the embedder ${embedderId} to start from: make one with reprise train, or name one with --from.`,
  );
}

function documentOf(path: string, options: CalibrateOptions, found: DomainCalibration): string {
  const { calibrated, ...rest } = found;
  const { equivalence: _equivalence, ...domain } = calibrated;
  return jsonDocument({ path, domain: options.domain, calibrated: domain, ...rest });
}

function textOf(path: string, { domain }: CalibrateOptions, found: DomainCalibration): string {
  const { calibrated, coefficients, wrong, right, bound, fitted, dropped, pairs } = found;
  const percent = (value: number): string => `${Number((100 * value).toFixed(2))} %`;
  const fit = coefficients === 'shared' ? 'shared' : `own, fitted to ${fitted} pairs`;
  return [
    `domain        ${domain}: ${pairs} pairs, ${calibrated.counts.pairs} held out${dropped === 0 ? '' : `, ${dropped} across and dropped`}`,
    `coefficients  ${fit}`,
    `threshold     probability ${calibrated.probabilityMin.toFixed(6)}, similarity ${calibrated.similarityMin}`,
    `wrong hits    ${shareText(wrong)} of independent same=0; below ${percent(bound)} with ${percent(calibrated.confidence)} confidence (asked: ${percent(calibrated.wrongAtMost)})`,
    `right hits    ${shareText(right)} of same=1`,
    `method        ${calibrated.method}`,
    `written to    ${path}`,
    '',
  ].join('\n');
}

/** `1%`, `1 %` or `0.01`. */
function share(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(%?)$/u.exec(text.trim());
  const value = match === null ? Number.NaN : Number(match[1]) / (match[2] === '%' ? 100 : 1);
  if (value > 0 && value < 1) return value;
  throw new InvalidArgumentError('It must be a share above 0 and below 1, such as 1% or 0.01.');
}

function whose(text: string): Coefficients {
  if (text === 'auto' || text === 'shared' || text === 'own') return text;
  throw new InvalidArgumentError('It must be auto, shared or own.');
}
