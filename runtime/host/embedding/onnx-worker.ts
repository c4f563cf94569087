import { readFile } from 'node:fs/promises';
import { workerData as threadData } from 'node:worker_threads';
import { Tokenizer } from '@huggingface/tokenizers';
import { InferenceSession, Tensor, env } from 'onnxruntime-node';
import { WordSketcher } from './word-sketcher.ts';
import type { EmbedReply, EmbedTask, OnnxWorkerData } from './worker-messages.ts';

/** A loaded model of one worker thread. */
interface Loaded {
  readonly session: InferenceSession;
  readonly tokenizer: Tokenizer;
  readonly missingProviders: readonly string[];
}

const sketcher = new WordSketcher();
let loading: Promise<Loaded> | undefined;

/** Embeds texts, each by itself: in a batch a quantised model's vectors would depend on the texts beside them. */
export async function embed(task: EmbedTask): Promise<EmbedReply> {
  const data = dataOfThread();
  loading ??= load(data);
  let loaded: Loaded;
  try {
    loaded = await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
  const embeddings = [];
  const givenUp = new Int32Array(task.givenUp);
  for (const text of task.texts) {
    if (Atomics.load(givenUp, 0) !== 0) break;
    embeddings.push(await embedOne(loaded, text, data.windowTokens));
  }
  return { embeddings, missingProviders: loaded.missingProviders };
}

/** Piscina hands its `workerData` on as the second element. */
function dataOfThread(): OnnxWorkerData {
  const data: unknown = Array.isArray(threadData) ? threadData[1] : threadData;
  return data as OnnxWorkerData;
}

async function load(data: OnnxWorkerData): Promise<Loaded> {
  env.logLevel = 'fatal';
  const tokenizer = new Tokenizer(JSON.parse(await readFile(data.tokenizerPath, 'utf8')) as object, {});
  const missingProviders: string[] = [];
  for (const provider of data.executionProviders.filter((name) => name !== 'cpu')) {
    try {
      return { session: await open(data, provider), tokenizer, missingProviders };
    } catch {
      missingProviders.push(provider);
    }
  }
  return { session: await open(data, 'cpu'), tokenizer, missingProviders };
}

function open(data: OnnxWorkerData, provider: string): Promise<InferenceSession> {
  return InferenceSession.create(data.modelPath, {
    executionProviders: [provider],
    intraOpNumThreads: data.intraOpThreads,
    interOpNumThreads: 1,
  });
}

async function embedOne(loaded: Loaded, text: string, windowTokens: number): Promise<EmbedReply['embeddings'][number]> {
  const { ids, attention_mask: mask, tokens } = loaded.tokenizer.encode(text);
  const tokenCount = ids.length;
  if (tokenCount > windowTokens) return { vector: new Float32Array(0), tokenCount, truncated: true };
  const shape = [1, tokenCount];
  const feeds: Record<string, Tensor> = {};
  for (const name of loaded.session.inputNames) {
    const values = name === 'input_ids' ? ids : name === 'attention_mask' ? mask : undefined;
    feeds[name] = new Tensor('int64', integers(values, tokenCount), shape);
  }
  const outputs = await loaded.session.run(feeds);
  const hidden = outputs[loaded.session.outputNames[0] ?? ''];
  if (hidden === undefined || !(hidden.data instanceof Float32Array)) throw new Error('the model has no float output');
  const width = hidden.dims.at(-1) ?? 0;
  const vector = normalise(meanPool(hidden.data, mask, width));
  const wordVectors = sketcher.sketch(tokens, hidden.data, width);
  return { vector, tokenCount, truncated: false, ...(wordVectors === undefined ? {} : { wordVectors }) };
}

function integers(values: readonly number[] | undefined, length: number): BigInt64Array {
  const integers64 = new BigInt64Array(length);
  for (let i = 0; values !== undefined && i < length; i += 1) integers64[i] = BigInt(values[i] ?? 0);
  return integers64;
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
