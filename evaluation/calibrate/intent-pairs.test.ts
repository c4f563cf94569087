import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TextEmbedder } from '../embedding/text-embedder.ts';
import type { PairFile } from '../pairs/labelled-pair.ts';
import { LetterEmbedder } from '../testing/letter-embedder.ts';
import { readIntentPairs } from './intent-pairs.ts';

let folder: string;
let embedder: TextEmbedder;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-intents-'));
  embedder = await TextEmbedder.open(new LetterEmbedder());
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const CARDS = [
  'text,category',
  'where is my card,arrival',
  'where is my card now,arrival',
  'where is my cash,cash',
  'Where  is my cash,cash',
  '# where is my card,arrival',
].join('\n');
const CLINC = JSON.stringify({
  train: [['never read', 'x']],
  val: [
    ['play a song', 'music'],
    ['play some song', 'music'],
  ],
  test: [['nor this', 'x']],
  oos_train: [['nor that', 'oos']],
  oos_val: [
    ['play a game', 'oos'],
    ['play a games', 'oos'],
  ],
  oos_test: [['or that', 'oos']],
});

const read = (...paths: readonly string[]): Promise<PairFile> => readIntentPairs(paths, embedder, { seed: 1 });
const textsOf = ({ pairs }: PairFile): ReadonlySet<string> => new Set(pairs.flatMap(({ a, b }) => [a, b]));

describe('readIntentPairs', () => {
  it('takes near texts of one intent for same, those of others for different', async () => {
    const { pairs } = await read(file('cards.csv', CARDS));
    const [same] = pairs;
    expect(same).toMatchObject({ a: 'where is my card', b: 'where is my card now', same: true, domain: null });
    expect(same?.category).toBe('cards/same-intent-nearest');
    const other = pairs.find((pair) => pair.a === 'where is my card' && pair.b === 'where is my cash');
    expect(other).toMatchObject({ same: false, category: 'cards/other-intent' });
  });

  it('leaves out texts beyond the window', async () => {
    expect([...textsOf(await read(file('cards.csv', CARDS)))].filter((text) => text.includes('#'))).toEqual([]);
  });

  it('reads of CLINC150 what neither training nor the stream reads; two texts out of scope are different', async () => {
    const found = await read(file('clinc.json', CLINC));
    expect(textsOf(found)).toEqual(new Set(['play a song', 'play some song', 'play a game', 'play a games']));
    const outside = found.pairs.filter(({ a, b }) => a.includes('game') && b.includes('game'));
    expect(outside.map(({ same }) => same)).toEqual([false]);
  });

  it('joins files, and hashes the pairs', async () => {
    const paths = [file('cards.csv', CARDS), file('clinc.json', CLINC)];
    const [one, two] = [await read(...paths), await read(...paths)];
    expect(one).toEqual(two);
    expect(one.hash).not.toBe((await read(paths[0]!)).hash);
    expect(one.pairs.map(({ line }) => line)).toEqual(one.pairs.map((_, at) => at + 2));
  });

  it('fails where no texts are near', async () => {
    await expect(read(file('far.csv', 'text,category\naaa,x\nzzz,y\n'))).rejects.toMatchObject({
      code: 'data_invalid',
    });
  });
});
