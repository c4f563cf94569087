import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { EmbedderConfig } from '../../runtime/config/index.ts';
import { RepriseError } from '../../runtime/errors.ts';
import { openEmbedder } from '../../runtime/host/embedding/open-embedder.ts';
import { SystemClock } from '../../runtime/host/system-clock.ts';
import { HostTelemetry } from '../../runtime/host/telemetry.ts';
import type { Embedder } from '../../runtime/ports/embedder.ts';

const FINGERPRINT = /-[0-9a-f]{8}$/u;
const THREADS_MAX = 8;

/**
 * The embedder of a node with this configuration, or the one that `named` names: a model of `modelDir`, its full id, or the path of a
 * folder with `model.onnx` and `tokenizer.json`. It takes the machine's processors. Fails with `embedder_unavailable`.
 */
export async function openNamedEmbedder(config: EmbedderConfig, named?: string): Promise<Embedder> {
  const { id, ...place } = placeOf(config, named);
  const threads = Math.max(1, Math.min(THREADS_MAX, availableParallelism()));
  const telemetry = new HostTelemetry({ logLevel: 'silent' });
  const opened = await openEmbedder({ ...config, ...place, threads }, { clock: new SystemClock(), telemetry });
  if ('missing' in opened) throw new RepriseError('embedder_unavailable', `No embedder: ${opened.missing}.`);
  if (id === undefined || opened.id === id) return opened;
  await opened.close();
  throw new RepriseError('embedder_unavailable', `The embedder ${id} isn't here; that folder holds ${opened.id}.`);
}

interface Place {
  readonly name: string;
  readonly modelDir: string;
  /** What the embedder must be, where that was asked for. */
  readonly id?: string;
}

function placeOf(config: EmbedderConfig, named: string | undefined): Place {
  const { name, modelDir } = config;
  if (named === undefined) return { name, modelDir };
  if (existsSync(join(modelDir, named))) return { name: named, modelDir };
  const stem = named.replace(FINGERPRINT, '');
  if (stem !== named && existsSync(join(modelDir, stem))) return { name: stem, modelDir, id: named };
  const path = resolve(named);
  if (existsSync(path)) return { name: basename(path), modelDir: dirname(path) };
  throw new RepriseError(
    'embedder_unavailable',
    `There is no embedder ${named}, neither in ${modelDir} nor as a folder.`,
  );
}
