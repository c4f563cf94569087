import type { HeldOut } from '../../evaluation/train/cross-validate.ts';
import type { Training } from '../../evaluation/train/train.ts';
import { table } from './table.ts';

/** The tables of a training, and where its parameters are. */
export function trainedText(training: Training, path: string): string {
  const { calibration, crossValidated, leftOut, passedOver } = training;
  const parts = [
    'Share of same pairs served where at most 1 % (5 %) of the others are; none of the pairs was seen by its model.',
    `\nPair files, cross-validated by text groups:\n${rows(crossValidated)}`,
    `\nEach source, by a model of the other sources:\n${rows(leftOut)}`,
    ...(passedOver.length > 0 ? [`\nNo training data: ${passedOver.join(', ')}\n`] : []),
    `\nParameters for ${calibration.embedderId} written to ${path}\n`,
  ];
  return parts.join('\n');
}

function rows(heldOut: readonly HeldOut[]): string {
  const head = [
    'source',
    'same',
    'others',
    'model 1 %',
    'model 5 %',
    'cosine 1 %',
    'cosine 5 %',
    'vetoed same',
    'vetoed others',
  ];
  return table([
    head,
    ...heldOut.map(({ name, model, cosine, vetoedSame, vetoedOther }) => [
      name,
      String(model.positives),
      String(model.negatives),
      ...[model.at1, model.at5, cosine.at1, cosine.at5, vetoedSame, vetoedOther].map(percent),
    ]),
  ]);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
