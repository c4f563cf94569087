import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';
import type { EmbedOptions, TextEmbedder } from '../embedding/text-embedder.ts';
import { dataInvalid } from '../pairs/data-file.ts';
import { distinctTexts, readBanking77, readClinc150, type IntentText } from '../pairs/known-data.ts';
import type { LabelledPair, PairFile } from '../pairs/labelled-pair.ts';
import { intentPairs } from '../train/near-pairs.ts';

export interface IntentPairsOptions extends EmbedOptions {
  readonly seed: number;
}

const HEADER = 'domain\tcategory\tsame\ta\tb';

/**
 * Near pairs of data sets by intent, as training makes them, of texts that training doesn't read: JSON in the form of CLINC150, of which
 * the validation parts are taken, or CSV in the form of BANKING77, taken whole. `hash` is that of the pairs as TSV (domain, category, same,
 * a, b), because which texts are near is the embedder's to say. Repeatable for one seed. Fails with `data_invalid`.
 */
export async function readIntentPairs(
  paths: readonly string[],
  embedder: TextEmbedder,
  options: IntentPairsOptions,
): Promise<PairFile> {
  const pairs: LabelledPair[] = [];
  const rows = [HEADER];
  for (const path of paths) {
    const { name, texts } = await readTexts(path);
    const vectors = await vectorsOf(texts, embedder, options);
    for (const { a, b, same, category } of intentPairs(texts, (text) => vectors.get(text), options.seed)) {
      const pair = { a, b, same, domain: null, category: `${name}/${category}` };
      rows.push(['', pair.category, Number(same), a, b].join('\t'));
      pairs.push({ ...pair, line: rows.length });
    }
  }
  const path = paths.join(', ');
  if (pairs.length === 0) throw dataInvalid(path, undefined, 'has no two texts that are near');
  return {
    path,
    pairs,
    hash: createHash('sha256')
      .update(`${rows.join('\n')}\n`)
      .digest('hex'),
  };
}

async function readTexts(path: string): Promise<{ readonly name: string; readonly texts: readonly IntentText[] }> {
  const name = basename(path, extname(path));
  if (extname(path).toLowerCase() !== '.json') return { name, texts: distinctTexts(await readBanking77(path)) };
  const { val, oosVal } = await readClinc150(path);
  return { name: `${name}-val`, texts: distinctTexts([...val, ...oosVal]) };
}

async function vectorsOf(
  texts: readonly IntentText[],
  embedder: TextEmbedder,
  options: EmbedOptions,
): Promise<ReadonlyMap<string, Float32Array>> {
  const embedded = await embedder.embed(
    texts.map(({ text }) => text),
    options,
  );
  const vectors = new Map<string, Float32Array>();
  for (const [at, { vector, truncated }] of embedded.entries()) {
    if (!truncated) vectors.set(texts[at]?.text ?? '', vector);
  }
  return vectors;
}
