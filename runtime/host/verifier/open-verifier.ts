import { existsSync } from 'node:fs';
import type { SemanticConfig } from '../../config/index.ts';
import { ModelVerifier } from '../../models/model-verifier.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ModelDirectory } from '../../ports/model-directory.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { Verifier } from '../../ports/verifier.ts';
import { loadFailureOf, modelFilesOf } from '../embedding/model-files.ts';
import { CrossEncoder } from './cross-encoder.ts';

/**
 * The configured verifier, loaded and tried; or why there is none, which is empty where none is configured. The files of a
 * cross-encoder are those of `modelFilesOf`.
 */
export async function openVerifier(
  config: SemanticConfig['verifier'],
  deps: { readonly clock: Clock; readonly telemetry: Telemetry; readonly models: () => ModelDirectory },
): Promise<Verifier | { readonly missing: string }> {
  if (config.kind === 'off') return { missing: '' };
  if (config.kind === 'model') return new ModelVerifier(config.model, deps.models);
  const { modelPath, tokenizerPath } = modelFilesOf(config);
  if (!existsSync(modelPath) || !existsSync(tokenizerPath)) {
    return { missing: `the cross-encoder ${config.name} isn't in ${config.modelDir}` };
  }
  try {
    const { windowTokens, threads, executionProviders } = config;
    const options = { modelPath, tokenizerPath, windowTokens, threads, executionProviders };
    return await CrossEncoder.open(deps, { id: `cross-encoder:${config.name}`, ...options });
  } catch (error) {
    return { missing: `the cross-encoder ${config.name} doesn't load (${loadFailureOf(error)})` };
  }
}
