import { readFile } from 'node:fs/promises';
import { workerData as threadData } from 'node:worker_threads';
import { Tokenizer } from '@huggingface/tokenizers';
import { InferenceSession, Tensor, env } from 'onnxruntime-node';
import type { CrossEncoderWorkerData, VerifyReply, VerifyTask } from './worker-messages.ts';

interface Loaded {
  readonly session: InferenceSession;
  readonly tokenizer: Tokenizer;
}

let loading: Promise<Loaded> | undefined;

/** Reads both texts together and gives the probability that they ask the same. */
export async function verify(task: VerifyTask): Promise<VerifyReply> {
  const data = dataOfThread();
  loading ??= load(data);
  let loaded: Loaded;
  try {
    loaded = await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
  if (Atomics.load(new Int32Array(task.givenUp), 0) !== 0) return { kind: 'given-up' };
  const encoded = loaded.tokenizer.encode(task.storedText, { text_pair: task.askedText, return_token_type_ids: true });
  const { ids, attention_mask: mask, token_type_ids: types } = encoded;
  if (ids.length > data.windowTokens) return { kind: 'too-long' };
  const values: Readonly<Record<string, readonly number[]>> = {
    input_ids: ids,
    attention_mask: mask,
    token_type_ids: types,
  };
  const feeds: Record<string, Tensor> = {};
  for (const name of loaded.session.inputNames) {
    feeds[name] = new Tensor('int64', BigInt64Array.from(values[name] ?? ids.map(() => 0), BigInt), [1, ids.length]);
  }
  const outputs = await loaded.session.run(feeds);
  const logits = outputs[loaded.session.outputNames[0] ?? ''];
  if (logits === undefined || !(logits.data instanceof Float32Array)) throw new Error('the model has no float output');
  return { kind: 'probability', probability: probabilityOf(logits.data) };
}

/** One logit is that of "the same"; of two, the second is. */
function probabilityOf(logits: Float32Array): number {
  const [first = Number.NaN, second] = logits;
  if (logits.length > 2) throw new Error('the model has more than two labels');
  return 1 / (1 + Math.exp(second === undefined ? -first : first - second));
}

/** Piscina hands its `workerData` on as the second element. */
function dataOfThread(): CrossEncoderWorkerData {
  const data: unknown = Array.isArray(threadData) ? threadData[1] : threadData;
  return data as CrossEncoderWorkerData;
}

async function load(data: CrossEncoderWorkerData): Promise<Loaded> {
  env.logLevel = 'fatal';
  const tokenizer = new Tokenizer(JSON.parse(await readFile(data.tokenizerPath, 'utf8')) as object, {});
  for (const provider of data.executionProviders.filter((name) => name !== 'cpu')) {
    try {
      return { session: await open(data, provider), tokenizer };
    } catch {
      continue;
    }
  }
  return { session: await open(data, 'cpu'), tokenizer };
}

function open(data: CrossEncoderWorkerData, provider: string): Promise<InferenceSession> {
  return InferenceSession.create(data.modelPath, {
    executionProviders: [provider],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
}
