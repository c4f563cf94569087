import { ModelError } from '../errors.ts';
import { JsonNumber, parseJson, stringifyJson, type JsonObject, type JsonValue } from '../cache/json.ts';
import type { Usage } from '../ports/entry.ts';

/** One vector as the upstream spelled it: a JSON array of numbers, or a base64 string. */
export interface EmbeddingItem {
  /** JSON text of the `embedding` member. */
  readonly vectorJson: string;
  readonly usage: Usage;
}

const DEPTH_MAX = 64;

/** The inputs of an embeddings request, one value an item: texts or token arrays. */
export function inputItems(tree: JsonObject): readonly JsonValue[] {
  const input = tree.get('input') ?? null;
  return !Array.isArray(input) || typeof input[0] === 'number' ? [input] : input;
}

/** The request for some of the items; a single item is asked for as such. */
export function withItems(tree: JsonObject, items: readonly JsonValue[]): JsonObject {
  const copy: JsonObject = new Map(tree);
  const only = items[0];
  copy.set('input', items.length === 1 && only !== undefined && !Array.isArray(only) ? only : [...items]);
  return copy;
}

/** How long an item is, for sharing out a batch's tokens; its unit cancels out. */
export function itemLength(item: JsonValue): number {
  if (typeof item === 'string') return Math.max(1, item.length);
  return Array.isArray(item) ? Math.max(1, item.length) : 1;
}

/**
 * An upstream's answer, item by item, in the order asked. Its counts and indexes are checked: each index exactly once.
 * The upstream reports tokens for the whole batch; they are shared out by length, so that their sum is right.
 */
export function splitAnswer(body: Uint8Array, items: readonly JsonValue[]): readonly EmbeddingItem[] {
  const answer = parseJson(body, { depthMax: DEPTH_MAX });
  const data = answer instanceof Map ? answer.get('data') : undefined;
  if (!Array.isArray(data) || data.length !== items.length) throw wrong(`${items.length} vectors were asked for`);
  const vectors: (string | undefined)[] = items.map(() => undefined);
  data.forEach((row, position) => {
    if (!(row instanceof Map)) throw wrong('a row is not an object');
    const index = row.get('index') ?? position;
    const vector = row.get('embedding');
    if (typeof index !== 'number' || !(index in vectors) || vectors[index] !== undefined) {
      throw wrong('its indexes are not those of the request');
    }
    if (!isVector(vector)) throw wrong('a row has no vector');
    vectors[index] = stringifyJson(vector);
  });
  const usage = answer instanceof Map ? answer.get('usage') : undefined;
  const promptTokens = usage instanceof Map ? usage.get('prompt_tokens') : undefined;
  const shares = shareOut(typeof promptTokens === 'number' ? promptTokens : 0, items.map(itemLength));
  return vectors.map((vectorJson, index) => ({
    vectorJson: vectorJson!,
    usage: { promptTokens: shares[index] ?? 0, completionTokens: 0 },
  }));
}

/** A whole answer from its items, in OpenAI's shape. */
export function joinAnswer(items: readonly EmbeddingItem[], model: string): Uint8Array {
  const rows = items.map((item, index) => `{"object":"embedding","index":${index},"embedding":${item.vectorJson}}`);
  const tokens = items.reduce((sum, item) => sum + item.usage.promptTokens, 0);
  const usage = `{"prompt_tokens":${tokens},"total_tokens":${tokens}}`;
  return new TextEncoder().encode(
    `{"object":"list","data":[${rows.join(',')}],"model":${JSON.stringify(model)},"usage":${usage}}`,
  );
}

function isVector(value: JsonValue | undefined): value is JsonValue {
  if (typeof value === 'string') return value !== '';
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((number) => typeof number === 'number' || number instanceof JsonNumber)
  );
}

/** Whole numbers in proportion to `weights` that add up to `total` (largest remainders, earlier first). */
function shareOut(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const exact = weights.map((weight) => (total * weight) / sum);
  const shares = exact.map(Math.floor);
  let left = total - shares.reduce((a, b) => a + b, 0);
  const byRemainder = exact
    .map((value, index) => ({ index, rest: value - Math.floor(value) }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index);
  for (const { index } of byRemainder) {
    if (left <= 0) break;
    shares[index] = (shares[index] ?? 0) + 1;
    left -= 1;
  }
  return shares;
}

function wrong(detail: string): ModelError {
  return new ModelError(
    'model_invalid_answer',
    `The upstream's embeddings answer does not fit the request: ${detail}.`,
  );
}
