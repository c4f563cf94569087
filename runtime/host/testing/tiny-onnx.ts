import { BinaryWriter } from '@bufbuild/protobuf/wire';

const FLOAT = 1;
const INT64 = 7;
const OPSET = 11;
const IR_VERSION = 6;

/**
 * An ONNX cross-encoder small enough to write by hand: one logit, 4 less the square of how far the sums of the token ids of both texts
 * lie apart, so that texts of the same tokens are the same.
 */
export function tinyCrossEncoder(): Uint8Array {
  const nodes = [
    node('Cast', ['input_ids'], 'ids', { to: FLOAT }),
    node('Cast', ['token_type_ids'], 'types', { to: FLOAT }),
    node('Mul', ['types', 'two'], 'doubled'),
    node('Sub', ['doubled', 'one'], 'signs'),
    node('Mul', ['ids', 'signs'], 'signed'),
    node('ReduceSum', ['signed'], 'apart', { axes: [1], keepdims: 1 }),
    node('Mul', ['apart', 'apart'], 'square'),
    node('Sub', ['four', 'square'], 'logits'),
  ];
  const graph = new BinaryWriter();
  for (const bytes of nodes) graph.tag(1, 2).bytes(bytes);
  graph.tag(2, 2).string('tiny');
  for (const [name, value] of [
    ['one', 1],
    ['two', 2],
    ['four', 4],
  ] as const)
    graph.tag(5, 2).bytes(scalar(name, value));
  for (const name of ['input_ids', 'attention_mask', 'token_type_ids']) {
    graph.tag(11, 2).bytes(value(name, INT64, ['batch', 'tokens']));
  }
  graph.tag(12, 2).bytes(value('logits', FLOAT, ['batch', 'labels']));
  const opset = new BinaryWriter().tag(1, 2).string('').tag(2, 0).int64(OPSET).finish();
  return new BinaryWriter().tag(1, 0).int64(IR_VERSION).tag(7, 2).bytes(graph.finish()).tag(8, 2).bytes(opset).finish();
}

/** Its tokenizer: a token a word, of which it knows these. */
export function tinyTokenizer(words: readonly string[]): object {
  const vocab = Object.fromEntries(['[CLS]', '[SEP]', '[UNK]', ...words].map((word, id) => [word, id]));
  const special = (id: string, typeId: number) => ({ SpecialToken: { id, type_id: typeId } });
  const text = (id: string, typeId: number) => ({ Sequence: { id, type_id: typeId } });
  const single = [special('[CLS]', 0), text('A', 0), special('[SEP]', 0)];
  const named = Object.fromEntries(['[CLS]', '[SEP]'].map((id, at) => [id, { id, ids: [at], tokens: [id] }]));
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: 'Whitespace' },
    post_processor: {
      type: 'TemplateProcessing',
      single,
      pair: [...single, text('B', 1), special('[SEP]', 1)],
      special_tokens: named,
    },
    decoder: null,
    model: {
      type: 'WordPiece',
      vocab,
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 32,
    },
  };
}

function node(
  operator: string,
  inputs: readonly string[],
  output: string,
  attributes: Readonly<Record<string, number | readonly number[]>> = {},
): Uint8Array {
  const writer = new BinaryWriter();
  for (const input of inputs) writer.tag(1, 2).string(input);
  writer.tag(2, 2).string(output).tag(4, 2).string(operator);
  for (const [name, setting] of Object.entries(attributes)) writer.tag(5, 2).bytes(attribute(name, setting));
  return writer.finish();
}

function attribute(name: string, setting: number | readonly number[]): Uint8Array {
  const writer = new BinaryWriter().tag(1, 2).string(name);
  if (typeof setting === 'number') return writer.tag(3, 0).int64(setting).tag(20, 0).int32(2).finish();
  for (const one of setting) writer.tag(8, 0).int64(one);
  return writer.tag(20, 0).int32(7).finish();
}

function scalar(name: string, number: number): Uint8Array {
  const data = new BinaryWriter().float(number).finish();
  return new BinaryWriter().tag(2, 0).int32(FLOAT).tag(4, 2).bytes(data).tag(8, 2).string(name).finish();
}

function value(name: string, type: number, dimensions: readonly string[]): Uint8Array {
  const shape = new BinaryWriter();
  for (const dimension of dimensions) shape.tag(1, 2).bytes(new BinaryWriter().tag(2, 2).string(dimension).finish());
  const tensor = new BinaryWriter().tag(1, 0).int32(type).tag(2, 2).bytes(shape.finish()).finish();
  const typed = new BinaryWriter().tag(1, 2).bytes(tensor).finish();
  return new BinaryWriter().tag(1, 2).string(name).tag(2, 2).bytes(typed).finish();
}
