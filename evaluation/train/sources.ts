import { open, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { RepriseError } from '../../runtime/errors.ts';
import { normaliseAskedText } from '../../runtime/semantic/asked-text.ts';
import { readDataFile } from '../pairs/data-file.ts';
import { distinctTexts, readBanking77, readClinc150, readParaphrases } from '../pairs/known-data.ts';
import type { IntentText } from '../pairs/known-data.ts';
import { readPairs } from '../pairs/read-pairs.ts';
import { seededRandom, shuffled } from '../statistics/random.ts';

/** A labelled pair of normalised texts. */
export interface TextPair {
  readonly a: string;
  readonly b: string;
  readonly same: boolean;
  readonly category: string;
}

/** What one file gives: labelled pairs, or texts by intent of which pairs are still to be made. */
export type Source =
  | { readonly kind: 'pairs'; readonly name: string; readonly pairs: readonly TextPair[]; readonly weight: number }
  | { readonly kind: 'paraphrases'; readonly name: string; readonly pairs: readonly TextPair[] }
  | { readonly kind: 'intents'; readonly name: string; readonly texts: readonly IntentText[] };

export interface Sources {
  readonly sources: readonly Source[];
  /** Files that are no training data, with the reason. */
  readonly passedOver: readonly string[];
  /** SHA-256 of each file that was read, in the order of the sources. */
  readonly hashes: readonly string[];
}

const FOLDER_DEPTH_MAX = 3;
const FILES_MAX = 1_000;
const HEAD_BYTES = 4_096;
/** Intent sets are large; so many texts of each give enough pairs, and the rest would only cost time. */
const INTENT_TEXTS_MAX = 4_000;
/** A row of a pair file counts this much, and more in a small file: else one large collection decides what a difference is. */
const PAIR_FILE_WEIGHT = 2;
const SMALL_FILE_FACTOR_MAX = 2;
const SMALL_FILE_PAIRS = 1_000;

/**
 * All training data below some folders, in the order of names: pair files (TSV, CSV or JSONL with `a`, `b`, `same`), and known sets by
 * name: `banking77-train.csv`, `clinc150.json` (train), `gptcache-paraphrases.json`. Fails with `data_invalid` where there is none.
 */
export async function readSources(folders: readonly string[], seed: number): Promise<Sources> {
  const sources: Source[] = [];
  const passedOver: string[] = [];
  const hashes: string[] = [];
  for (const folder of folders) {
    for (const path of await filesBelow(folder)) {
      const name = relative(folder, path);
      const source = await readSource(path, name, seed);
      if (source === undefined) {
        passedOver.push(name);
        continue;
      }
      sources.push(source);
      hashes.push((await readDataFile(path)).hash);
    }
  }
  if (sources.length === 0) {
    throw new RepriseError('data_invalid', `There is nothing to train on in ${folders.join(', ')}.`);
  }
  return { sources, passedOver, hashes };
}

async function filesBelow(folder: string, depth = 0): Promise<readonly string[]> {
  const files: string[] = [];
  let entries;
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (cause) {
    throw new RepriseError('data_invalid', `The folder ${folder} can't be read.`, { cause });
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth < FOLDER_DEPTH_MAX) files.push(...(await filesBelow(path, depth + 1)));
    else if (entry.isFile()) files.push(path);
  }
  return files.slice(0, FILES_MAX);
}

async function readSource(path: string, name: string, seed: number): Promise<Source | undefined> {
  if (path.endsWith('banking77-train.csv')) return intents(name, await readBanking77(path), seed);
  if (path.endsWith('clinc150.json')) {
    const { train, oosTrain } = await readClinc150(path);
    return intents(name, [...train, ...oosTrain], seed);
  }
  if (path.endsWith('gptcache-paraphrases.json')) {
    const pairs = await readParaphrases(path);
    return { kind: 'paraphrases', name, pairs: pairs.map(({ a, b }) => textPair(a, b, true, 'paraphrase')) };
  }
  if (!(await isPairFile(path))) return undefined;
  const { pairs } = await readPairs(path);
  const labelled: TextPair[] = [];
  for (const { a, b, same, category } of pairs) {
    if (same !== null) labelled.push(textPair(a, b, same, category ?? 'uncategorised'));
  }
  return { kind: 'pairs', name, pairs: labelled, weight: weightOf(labelled.length) };
}

function weightOf(pairs: number): number {
  return PAIR_FILE_WEIGHT * Math.min(SMALL_FILE_FACTOR_MAX, Math.max(1, SMALL_FILE_PAIRS / Math.max(1, pairs)));
}

function textPair(a: string, b: string, same: boolean, category: string): TextPair {
  return { a: normaliseAskedText(a), b: normaliseAskedText(b), same, category };
}

function intents(name: string, texts: readonly IntentText[], seed: number): Source {
  const some = shuffled(texts, seededRandom(seed)).slice(0, INTENT_TEXTS_MAX);
  return { kind: 'intents', name, texts: distinctTexts(some) };
}

/** True for a file of a known kind whose first line names the columns of labelled pairs. */
async function isPairFile(path: string): Promise<boolean> {
  if (!/\.(?:tsv|csv|jsonl|ndjson)$/u.test(path)) return false;
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(HEAD_BYTES) });
    const [head = ''] = new TextDecoder().decode(buffer.subarray(0, bytesRead)).split('\n');
    const names = new Set(head.match(/[A-Za-z_]+/gu) ?? []);
    return ['a', 'b', 'same'].every((name) => names.has(name));
  } finally {
    await file.close();
  }
}
