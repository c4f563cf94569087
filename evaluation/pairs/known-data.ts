import { normaliseAskedText } from '../../runtime/semantic/asked-text.ts';
import { dataInvalid, jsonOf, readDataFile, type DataFile } from './data-file.ts';
import type { LabelledPair } from './labelled-pair.ts';
import { columnOf, readCsv } from './tables.ts';

/** A text and what its author wanted. */
export interface IntentText {
  readonly text: string;
  readonly intent: string;
}

/** The parts of CLINC150; `oos…` texts want something that no intent stands for. */
export interface Clinc150 {
  readonly train: readonly IntentText[];
  readonly val: readonly IntentText[];
  readonly test: readonly IntentText[];
  readonly oosTrain: readonly IntentText[];
  readonly oosVal: readonly IntentText[];
  readonly oosTest: readonly IntentText[];
  /** SHA-256 of the file's bytes, lower-case hex. */
  readonly hash: string;
}

/** Intent of the out-of-scope texts of CLINC150. */
export const OUT_OF_SCOPE = 'oos';

/** The texts as they are asked, normalised, each once; empty ones are left out. */
export function distinctTexts(texts: readonly IntentText[]): readonly IntentText[] {
  const kept = new Map<string, IntentText>();
  for (const { text, intent } of texts) {
    const asked = normaliseAskedText(text);
    if (asked !== '' && !kept.has(asked)) kept.set(asked, { text: asked, intent });
  }
  return [...kept.values()];
}

/** The texts of a BANKING77 file: CSV with the columns `text` and `category`. */
export async function readBanking77(path: string): Promise<readonly IntentText[]> {
  const file = await readDataFile(path);
  const table = readCsv(file);
  const [text, category] = [columnOf(file, table, 'text'), columnOf(file, table, 'category')];
  return table.rows.map(({ cells }) => ({ text: (cells[text] ?? '').trim(), intent: cells[category] ?? '' }));
}

/** The texts of CLINC150's `data_full.json`. */
export async function readClinc150(path: string): Promise<Clinc150> {
  const file = await readDataFile(path);
  const value = jsonOf(file.path, undefined, file.text);
  const part = (name: string): readonly IntentText[] => intentTexts(file, name, value);
  return {
    train: part('train'),
    val: part('val'),
    test: part('test'),
    oosTrain: part('oos_train'),
    oosVal: part('oos_val'),
    oosTest: part('oos_test'),
    hash: file.hash,
  };
}

/** The pairs of GPTCache's paraphrase list: JSON objects with `origin` and `similar`. All are same. */
export async function readParaphrases(path: string): Promise<readonly LabelledPair[]> {
  const file = await readDataFile(path);
  const value = jsonOf(file.path, undefined, file.text);
  if (!Array.isArray(value)) throw dataInvalid(path, undefined, 'must be a JSON list');
  return value.map((item: unknown, index) => {
    const { origin, similar } = (item ?? {}) as { readonly origin?: unknown; readonly similar?: unknown };
    if (typeof origin !== 'string' || typeof similar !== 'string') {
      throw dataInvalid(path, undefined, `item ${index} must have the texts origin and similar`);
    }
    return { a: origin, b: similar, same: true, domain: null, category: 'paraphrase', line: index + 1 };
  });
}

function intentTexts(file: DataFile, name: string, value: unknown): readonly IntentText[] {
  const part = (value as Readonly<Record<string, unknown>> | null)?.[name];
  if (!Array.isArray(part)) throw dataInvalid(file.path, undefined, `must have the list ${name}`);
  return part.map((item: unknown, index) => {
    const [text, intent] = Array.isArray(item) ? (item as unknown[]) : [];
    if (typeof text === 'string' && typeof intent === 'string') return { text, intent };
    throw dataInvalid(file.path, undefined, `${name}[${index}] must be [text, intent]`);
  });
}
