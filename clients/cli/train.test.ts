import { describe, expect, it } from 'vitest';
import { EXIT } from './exit.ts';
import { runCaptured } from './testing/captured-terminal.ts';
import { trainedText } from './train-text.ts';

describe('reprise train', () => {
  it.each(['x', '-1', '1.5', '99999999999'])('refuses the seed %s before anything is read', async (seed) => {
    const { code, err } = await runCaptured(['train', 'no-such-folder', `--seed=${seed}`]);
    expect(code).toBe(EXIT.usage);
    expect(err).toContain('--seed');
  });

  it('asks for a folder', async () => {
    expect((await runCaptured(['train'])).code).toBe(EXIT.usage);
  });

  it('shows shares of unseen pairs beside those of cosine', () => {
    const coverage = { positives: 560, negatives: 553, at1: 0.35, at5: 0.55 };
    const cosine = { ...coverage, at1: 0.02, at5: 0.088 };
    const heldOut = { name: 'dev.tsv', model: coverage, cosine, vetoedSame: 0.05, vetoedOther: 0.9, scores: [] };
    const calibration = { embedderId: 'embedder-1' } as Parameters<typeof trainedText>[0]['calibration'];
    const text = trainedText(
      { calibration, crossValidated: [heldOut], leftOut: [], passedOver: ['a.txt'] },
      'out.json',
    );
    expect(text).toMatch(/dev\.tsv +560 +553 +35\.0 % +55\.0 % +2\.0 % +8\.8 % +5\.0 % +90\.0 %/u);
    expect(text).toContain('No training data: a.txt');
  });
});
