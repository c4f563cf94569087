import { dataOfThread, inferRow, sessionOfThread } from './onnx-session.ts';
import type { OnnxSession } from './onnx-session.ts';
import { WordSketcher } from './word-sketcher.ts';
import type { EmbedReply, EmbedTask, OnnxWorkerData } from './worker-messages.ts';

const sketcher = new WordSketcher();

/** Embeds texts, each by itself: in a batch a quantised model's vectors would depend on the texts beside them. */
export async function embed(task: EmbedTask): Promise<EmbedReply> {
  const data = dataOfThread<OnnxWorkerData>();
  const loaded = await sessionOfThread(data, data.intraOpThreads);
  const embeddings = [];
  const givenUp = new Int32Array(task.givenUp);
  for (const text of task.texts) {
    if (Atomics.load(givenUp, 0) !== 0) break;
    embeddings.push(await embedOne(loaded, text, data.windowTokens));
  }
  return { embeddings, missingProviders: loaded.missingProviders };
}

async function embedOne(
  loaded: OnnxSession,
  text: string,
  windowTokens: number,
): Promise<EmbedReply['embeddings'][number]> {
  const { ids, attention_mask: mask, tokens } = loaded.tokenizer.encode(text);
  const tokenCount = ids.length;
  if (tokenCount > windowTokens) return { vector: new Float32Array(0), tokenCount, truncated: true };
  const hidden = await inferRow(loaded.session, { input_ids: ids, attention_mask: mask }, tokenCount);
  const width = hidden.dims.at(-1) ?? 0;
  const vector = normalise(meanPool(hidden.data, mask, width));
  const wordVectors = sketcher.sketch(tokens, hidden.data, width);
  return { vector, tokenCount, truncated: false, ...(wordVectors === undefined ? {} : { wordVectors }) };
}

/** The mean over the tokens that the mask keeps. */
function meanPool(hidden: Float32Array, mask: readonly number[], dimensions: number): Float32Array {
  const sums = new Float32Array(dimensions);
  let kept = 0;
  for (let token = 0; token < mask.length; token += 1) {
    if (mask[token] !== 1) continue;
    kept += 1;
    const offset = token * dimensions;
    for (let i = 0; i < dimensions; i += 1) sums[i] = (sums[i] ?? 0) + (hidden[offset + i] ?? 0);
  }
  return kept === 0 ? sums : sums.map((sum) => sum / kept);
}

function normalise(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  return length > 0 ? vector.map((value) => value / length) : vector;
}
