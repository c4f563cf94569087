import { dataOfThread, inferRow, sessionOfThread } from '../embedding/onnx-session.ts';
import type { CrossEncoderWorkerData, VerifyReply, VerifyTask } from './worker-messages.ts';

/** Reads both texts together and gives the probability that they ask the same. */
export async function verify(task: VerifyTask): Promise<VerifyReply> {
  const data = dataOfThread<CrossEncoderWorkerData>();
  const loaded = await sessionOfThread(data, 1);
  if (Atomics.load(new Int32Array(task.givenUp), 0) !== 0) return { kind: 'given-up' };
  const encoded = loaded.tokenizer.encode(task.storedText, { text_pair: task.askedText, return_token_type_ids: true });
  const { ids, attention_mask: mask, token_type_ids: types } = encoded;
  if (ids.length > data.windowTokens) return { kind: 'too-long' };
  const inputs = { input_ids: ids, attention_mask: mask, token_type_ids: types };
  const logits = await inferRow(loaded.session, inputs, ids.length);
  return { kind: 'probability', probability: probabilityOf(logits.data) };
}

/** One logit is that of "the same"; of two, the second is. */
function probabilityOf(logits: Float32Array): number {
  const [first = Number.NaN, second] = logits;
  if (logits.length > 2) throw new Error('the model has more than two labels');
  return 1 / (1 + Math.exp(second === undefined ? -first : first - second));
}
