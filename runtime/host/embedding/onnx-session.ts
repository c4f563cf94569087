import { readFile } from 'node:fs/promises';
import { workerData as threadData } from 'node:worker_threads';
import { Tokenizer } from '@huggingface/tokenizers';
import { InferenceSession, Tensor, env } from 'onnxruntime-node';

/** What loading a model takes. */
export interface OnnxSessionOptions {
  readonly modelPath: string;
  readonly tokenizerPath: string;
  readonly windowTokens: number;
  /** In order of preference; `cpu` is always there as the last. */
  readonly executionProviders: readonly string[];
}

/** A loaded model of one worker thread. */
export interface OnnxSession {
  readonly session: InferenceSession;
  readonly tokenizer: Tokenizer;
  /** Providers that were asked for and could not be had. */
  readonly missingProviders: readonly string[];
}

let loading: Promise<OnnxSession> | undefined;

/** This thread's model, loaded at the first call and, where that failed, at the next one. */
export async function sessionOfThread(options: OnnxSessionOptions, intraOpThreads: number): Promise<OnnxSession> {
  loading ??= load(options, intraOpThreads);
  try {
    return await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

/** What the pool gave this thread at its start; it hands its `workerData` on as the second element. */
export function dataOfThread<Data>(): Data {
  const data: unknown = Array.isArray(threadData) ? threadData[1] : threadData;
  return data as Data;
}

/** The first output of the model for one row of tokens; inputs that `values` doesn't name are zeros. */
export async function inferRow(
  session: InferenceSession,
  values: Readonly<Record<string, readonly number[] | undefined>>,
  length: number,
): Promise<{ readonly data: Float32Array; readonly dims: readonly number[] }> {
  const feeds: Record<string, Tensor> = {};
  for (const name of session.inputNames) {
    feeds[name] = new Tensor('int64', integers(values[name], length), [1, length]);
  }
  const outputs = await session.run(feeds);
  const output = outputs[session.outputNames[0] ?? ''];
  if (output === undefined || !(output.data instanceof Float32Array)) throw new Error('the model has no float output');
  return { data: output.data, dims: output.dims };
}

async function load(options: OnnxSessionOptions, intraOpThreads: number): Promise<OnnxSession> {
  env.logLevel = 'fatal';
  const tokenizer = new Tokenizer(JSON.parse(await readFile(options.tokenizerPath, 'utf8')) as object, {});
  const open = (provider: string): Promise<InferenceSession> =>
    InferenceSession.create(options.modelPath, {
      executionProviders: [provider],
      intraOpNumThreads: intraOpThreads,
      interOpNumThreads: 1,
    });
  const missingProviders: string[] = [];
  for (const provider of options.executionProviders.filter((name) => name !== 'cpu')) {
    try {
      return { session: await open(provider), tokenizer, missingProviders };
    } catch {
      missingProviders.push(provider);
    }
  }
  return { session: await open('cpu'), tokenizer, missingProviders };
}

function integers(values: readonly number[] | undefined, length: number): BigInt64Array {
  const integers64 = new BigInt64Array(length);
  for (let i = 0; values !== undefined && i < length; i += 1) integers64[i] = BigInt(values[i] ?? 0);
  return integers64;
}
