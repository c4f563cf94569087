import type { Command } from 'commander';
import type { Training } from '../../../evaluation/train/train.ts';
import { calibrationPath, writeCalibration } from '../calibration-file.ts';
import { withTextEmbedder } from '../evaluation-embedder.ts';
import { progressOn } from '../progress.ts';
import { jsonDocument } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';
import { trainedText } from '../train-text.ts';
import { addExamples, loadedConfig, seedOf, type CommandContext } from './shared.ts';

interface TrainOptions {
  readonly embedder?: string;
  readonly config?: string;
  readonly out?: string;
  readonly seed: number;
  readonly json?: true;
}

/** Adds `reprise train`: fits the equivalence model to labelled pairs. */
export function addTrain(program: Command, { terminal }: CommandContext): void {
  const command = program
    .command('train')
    .description(
      'fit the model that tells whether two texts have one answer to labelled pairs, and say how well it does',
    )
    .argument('<folder...>', 'folders of pair files (a, b, same) and known data sets, by name')
    .option('--embedder <id|path>', "embedding model, or its folder (else the configuration's)")
    .option('--config <file>', 'configuration file (REPRISE_CONFIG; else reprise.yaml where there is one)')
    .option('--out <file>', 'where the parameters are written (else calibration/<embedder>.json)')
    .option('--seed <number>', 'seed of all that is drawn', seedOf, 1)
    .option('--json', 'print one JSON document')
    .action(async (folders: readonly string[], options: TrainOptions) => {
      const { seed } = options;
      const { train } = await import('../../../evaluation/train/train.ts');
      const config = await loadedConfig(options.config, terminal);
      const command = `reprise train ${folders.join(' ')} --seed ${seed}`;
      const onProgress = progressOf(terminal);
      const training = await withTextEmbedder(config, options.embedder, (embedder) =>
        train({ folders, embedder, seed, command, onProgress }),
      );
      const path = options.out ?? calibrationPath(training.calibration.embedderId);
      await writeCalibration(path, training.calibration);
      terminal.out(options.json === true ? jsonDocument(documentOf(training, path)) : trainedText(training, path));
    });
  addExamples(
    command,
    'reprise train pairs/',
    'reprise train ../data evaluation/own-pairs --seed 1 --out calibration/mine.json',
  );
}

function progressOf(terminal: Terminal): (what: string, done?: number, total?: number) => void {
  const embedding = progressOn(terminal, 'embedding texts:');
  return (what, done, total) => {
    if (done !== undefined && total !== undefined) embedding(done, total);
    else terminal.err(`fitting: ${what}\n`);
  };
}

function documentOf({ calibration, crossValidated, leftOut, passedOver }: Training, path: string): unknown {
  const plain = (tables: Training['leftOut']): unknown => tables.map(({ scores: _scores, ...rest }) => rest);
  return {
    path,
    embedderId: calibration.embedderId,
    origin: calibration.origin,
    crossValidated: plain(crossValidated),
    leftOut: plain(leftOut),
    passedOver,
  };
}
