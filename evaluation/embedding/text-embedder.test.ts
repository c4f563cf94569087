import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LetterEmbedder } from '../testing/letter-embedder.ts';
import { TextEmbedder, similarityOf } from './text-embedder.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'reprise-vectors-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const files = (): readonly string[] => readdirSync(join(folder, 'letters-1'));

describe('TextEmbedder', () => {
  it('gives results in the order of the texts, and embeds each text once', async () => {
    const embedder = new LetterEmbedder();
    const texts = await TextEmbedder.open(embedder);
    const [one, two, again] = await texts.embed(['abc', 'xyz', 'abc']);
    expect(one).toEqual(again);
    expect(similarityOf(one!.vector, two!.vector)).toBeLessThan(0.1);
    expect(embedder.asked).toEqual(['abc', 'xyz']);
  });

  it('keeps vectors between runs', async () => {
    const [first] = await (await TextEmbedder.open(new LetterEmbedder(), { folder })).embed(['abc', 'long#']);
    const embedder = new LetterEmbedder();
    const [known, beyond] = await (await TextEmbedder.open(embedder, { folder })).embed(['abc', 'long#']);
    expect(known).toEqual(first);
    expect(beyond?.truncated).toBe(true);
    expect(embedder.asked).toEqual([]);
  });

  it('does without a file that was damaged', async () => {
    await (await TextEmbedder.open(new LetterEmbedder(), { folder })).embed(['abc']);
    const path = join(folder, 'letters-1', files()[0] ?? '');
    const bytes = readFileSync(path);
    bytes[60] = (bytes[60] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const embedder = new LetterEmbedder();
    await (await TextEmbedder.open(embedder, { folder })).embed(['abc']);
    expect(embedder.asked).toEqual(['abc']);
  });

  it('merges its files before they are many', async () => {
    const texts = Array.from({ length: 40 }, (_, index) => 'x'.repeat(index + 1));
    for (const text of texts) await (await TextEmbedder.open(new LetterEmbedder(), { folder })).embed([text]);
    expect(files().length).toBeLessThanOrEqual(33);
    const embedder = new LetterEmbedder();
    await (await TextEmbedder.open(embedder, { folder })).embed(texts);
    expect(embedder.asked).toEqual([]);
  });

  it('keeps no more than its bound', async () => {
    const bytesMax = 1_000;
    for (const text of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      await (await TextEmbedder.open(new LetterEmbedder(), { folder, bytesMax })).embed([text]);
    }
    const bytes = files().reduce((sum, name) => sum + readFileSync(join(folder, 'letters-1', name)).length, 0);
    expect(bytes).toBeLessThanOrEqual(bytesMax);
  });

  it('tells of its progress', async () => {
    const told: string[] = [];
    const texts = Array.from({ length: 300 }, (_, index) => `text ${index}`);
    const onProgress = (done: number, total: number): void => void told.push(`${done}/${total}`);
    await (await TextEmbedder.open(new LetterEmbedder())).embed(texts, { onProgress });
    expect(told).toEqual(['128/300', '256/300', '300/300']);
  });
});
