import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SemanticConfig } from '../../config/index.ts';
import { toRepriseError } from '../../errors.ts';
import { ModelVerifier } from '../../models/model-verifier.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ModelDirectory } from '../../ports/model-directory.ts';
import type { Verifier } from '../../ports/verifier.ts';
import { CrossEncoder } from './cross-encoder.ts';

/**
 * The configured verifier, loaded and tried; or why there is none, which is empty where none is configured. The files of a cross-encoder
 * are `model.onnx` and `tokenizer.json` in the folder named like the model below `modelDir`.
 */
export async function openVerifier(
  config: SemanticConfig['verifier'],
  deps: { readonly clock: Clock; readonly models: () => ModelDirectory },
): Promise<Verifier | { readonly missing: string }> {
  if (config.kind === 'off') return { missing: '' };
  if (config.kind === 'model') return new ModelVerifier(config.model, deps.models);
  const folder = join(config.modelDir, config.name);
  const modelPath = join(folder, 'model.onnx');
  const tokenizerPath = join(folder, 'tokenizer.json');
  if (!existsSync(modelPath) || !existsSync(tokenizerPath)) {
    return { missing: `the cross-encoder ${config.name} isn't in ${config.modelDir}` };
  }
  try {
    const { windowTokens, threads, executionProviders } = config;
    const options = { modelPath, tokenizerPath, windowTokens, threads, executionProviders };
    return await CrossEncoder.open(deps, { id: `cross-encoder:${config.name}`, ...options });
  } catch (error) {
    const { code, cause } = toRepriseError(error);
    const detail = cause instanceof Error ? `: ${cause.message.slice(0, 200)}` : '';
    return { missing: `the cross-encoder ${config.name} doesn't load (${code}${detail})` };
  }
}
