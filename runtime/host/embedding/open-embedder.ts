import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { EmbedderConfig } from '../../config/index.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Embedder } from '../../ports/embedder.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import { loadFailureOf, modelFilesOf } from './model-files.ts';
import { OnnxEmbedder } from './onnx-embedder.ts';

/**
 * The configured embedding model, loaded and tried; or why there is none. Its files are those of `modelFilesOf`.
 */
export async function openEmbedder(
  config: EmbedderConfig,
  deps: { readonly clock: Clock; readonly telemetry: Telemetry },
): Promise<Embedder | { readonly missing: string }> {
  const { modelPath, tokenizerPath } = modelFilesOf(config);
  const id = await embedderIdOf(config);
  if (id === undefined) return { missing: `the embedding model ${config.name} isn't in ${config.modelDir}` };
  try {
    return await OnnxEmbedder.open(deps, {
      id,
      modelPath,
      tokenizerPath,
      windowTokens: config.windowTokens,
      threads: config.threads,
      intraOpThreads: config.intraOpThreads,
      executionProviders: config.executionProviders,
    });
  } catch (error) {
    return { missing: `the embedding model ${config.name} doesn't load (${loadFailureOf(error)})` };
  }
}

/** The id that the configured embedding model has when it loads; undefined when its files aren't there. */
export async function embedderIdOf(config: EmbedderConfig): Promise<string | undefined> {
  const { modelPath, tokenizerPath } = modelFilesOf(config);
  const fingerprint = await fingerprintOf([modelPath, tokenizerPath], config.windowTokens);
  return fingerprint === undefined ? undefined : `${config.name}-${fingerprint}`;
}

/** Short hash of everything that a vector depends on; undefined when a file can't be read. */
async function fingerprintOf(paths: readonly string[], windowTokens: number): Promise<string | undefined> {
  const hash = createHash('sha256').update(`mean/${windowTokens}/`);
  try {
    for (const path of paths) for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  } catch {
    return undefined;
  }
  return hash.digest('hex').slice(0, 8);
}
