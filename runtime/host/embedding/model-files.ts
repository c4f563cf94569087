import { join } from 'node:path';
import { toRepriseError } from '../../errors.ts';

/** The files of a model: `model.onnx` and `tokenizer.json` in the folder named like it below `modelDir`. */
export function modelFilesOf(config: { readonly modelDir: string; readonly name: string }): {
  readonly modelPath: string;
  readonly tokenizerPath: string;
} {
  const folder = join(config.modelDir, config.name);
  return { modelPath: join(folder, 'model.onnx'), tokenizerPath: join(folder, 'tokenizer.json') };
}

const CAUSE_CHARACTERS_MAX = 200;

/** Why a model doesn't load, for people: the error's code and the beginning of its cause. */
export function loadFailureOf(error: unknown): string {
  const { code, cause } = toRepriseError(error);
  return cause instanceof Error ? `${code}: ${cause.message.slice(0, CAUSE_CHARACTERS_MAX)}` : code;
}
