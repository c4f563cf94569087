import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../runtime/config/index.ts';
import { parseCalibration } from '../../runtime/semantic/calibration.ts';
import { MonotoneEquivalence } from '../../runtime/semantic/equivalence.ts';
import { SIGNALS } from '../../runtime/semantic/signals.ts';
import { TextEmbedder } from '../embedding/text-embedder.ts';
import { Policies } from '../judge/policies.ts';
import type { LabelledPair } from '../pairs/labelled-pair.ts';
import { seededRandom } from '../statistics/random.ts';
import { LetterEmbedder } from '../testing/letter-embedder.ts';
import { PLAIN_EQUIVALENCE } from '../testing/plain-equivalence.ts';
import { calibrate, type CalibrateInput, type Coefficients, type DomainCalibration } from './calibrate.ts';

const policies = new Policies(loadConfig({ file: false, env: {} }), undefined);
let embedder: TextEmbedder;
beforeAll(async () => void (embedder = await TextEmbedder.open(new LetterEmbedder())));

const TOPICS = ['parcel', 'invoice', 'battery', 'window', 'garden', 'kettle', 'monkey', 'yellow'];
const VERBS = ['fix', 'buy', 'lose', 'wash', 'hide', 'jump'];

/** Pairs of made-up words; same=1 asks one thing in two ways, same=0 two things in one way. */
function pairs(count: number, domain: string | null = null): readonly LabelledPair[] {
  const random = seededRandom(count);
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)] ?? '';
  return Array.from({ length: count }, (_, index) => {
    const same = index % 2 === 0;
    const name = Array.from({ length: 8 }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');
    const a = `how do i ${pick(VERBS)} the ${pick(TOPICS)} ${name}`;
    const b = same ? `please tell me, ${a}` : a.replace(/the \w+/u, `the ${pick(TOPICS)} of ${pick(TOPICS)}`);
    return { a, b, same, domain, category: null, line: index + 2 };
  });
}

function run(
  rows: readonly LabelledPair[],
  options: { readonly coefficients?: Coefficients } & Partial<CalibrateInput> = {},
): Promise<DomainCalibration> {
  return calibrate({
    file: { path: 'pairs.tsv', pairs: rows, hash: 'f'.repeat(64) },
    domain: 'default',
    policy: policies.ofDomain('default'),
    equivalence: PLAIN_EQUIVALENCE,
    embedder,
    similarityMin: 0.5,
    wrongAtMost: 0.05,
    confidence: 0.95,
    seed: 1,
    coefficients: 'shared',
    ...options,
  });
}

describe('calibrate', () => {
  it('finds a threshold whose wrong hits are below the bound', async () => {
    const { calibrated, bound, wrong, right } = await run(pairs(1_200));
    expect(bound).toBeLessThanOrEqual(0.05);
    expect(wrong.count).toBe(calibrated.counts.wrong);
    expect(right.count).toBeGreaterThan(0);
    expect(calibrated).toMatchObject({
      similarityMin: 0.5,
      wrongAtMost: 0.05,
      confidence: 0.95,
      dataHash: 'f'.repeat(64),
    });
  });

  it('is the same for one seed', async () => {
    const options = { coefficients: 'own' } as const;
    expect(await run(pairs(1_200), options)).toEqual(await run(pairs(1_200), options));
  });

  it('counts the rows that name the domain, or all where none does', async () => {
    const rows = [...pairs(800, 'default'), ...pairs(600, 'other')];
    expect((await run(rows)).pairs).toBe(800);
    expect((await run(pairs(802, 'other'))).pairs).toBe(802);
  });

  it('says how many pairs are missing', async () => {
    await expect(run(pairs(200), { wrongAtMost: 0.01 })).rejects.toMatchObject({
      code: 'data_insufficient',
      message: expect.stringMatching(/at least 299 .* has 100.*: 199 more are needed/u) as string,
    });
  });

  it('counts negatives that share a text once', async () => {
    const [, one] = pairs(2);
    const rows = pairs(400).map((row) => (row.same === true ? row : { ...row, a: one!.a }));
    await expect(run(rows)).rejects.toMatchObject({
      message: expect.stringMatching(/has 1 \(200 with those that share a text\)/u) as string,
    });
  });

  it('refuses a row without a label, and labels of one kind', async () => {
    const unlabelled = [...pairs(10), { ...pairs(2)[0]!, same: null, line: 99 }];
    await expect(run(unlabelled)).rejects.toMatchObject({ message: expect.stringMatching(/pairs\.tsv:99/u) as string });
    const onlySame = pairs(100).filter(({ same }) => same === true);
    await expect(run(onlySame)).rejects.toMatchObject({ message: expect.stringMatching(/has same=0/u) as string });
  });

  it('fits coefficients to one part and tests them on the other', async () => {
    const { coefficients, fitted, calibrated } = await run(pairs(1_200), { coefficients: 'own' });
    expect([coefficients, fitted + calibrated.counts.pairs]).toEqual(['own', 1_200]);
    const calibration = {
      version: 1,
      embedderId: 'letters-1',
      featureVersion: 1,
      equivalence: PLAIN_EQUIVALENCE,
      domains: { default: calibrated },
      origin: { command: '', seed: 1, dataHash: '', counts: {} },
    };
    expect(parseCalibration(JSON.parse(JSON.stringify(calibration)))).toEqual(calibration);
  });
});

describe('coefficients of a domain', () => {
  it('never take a mismatch for a reason to serve, or less similarity', async () => {
    const { calibrated } = await run(pairs(1_200), { coefficients: 'own' });
    const equivalence = new MonotoneEquivalence(calibrated.equivalence!);
    const signal = fc.double({ min: 0, max: 20, noNaN: true });
    fc.assert(
      fc.property(
        fc.tuple(...SIGNALS.map(() => signal)),
        fc.nat(SIGNALS.length - 1),
        fc.double({ min: 0, max: 5, noNaN: true }),
        (values, at, more) => {
          const changed = values.with(at, (values[at] ?? 0) + more);
          const [before, after] = [values, changed].map((list) => equivalence.probability(Float64Array.from(list)));
          if (SIGNALS[at]?.direction === 'raises') expect(after).toBeGreaterThanOrEqual(before!);
          else expect(after).toBeLessThanOrEqual(before!);
        },
      ),
    );
  });
});
