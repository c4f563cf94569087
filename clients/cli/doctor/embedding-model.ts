import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config } from '../../../runtime/config/index.ts';
import type { Embedder } from '../../../runtime/ports/embedder.ts';
import type { Finding } from './finding.ts';

/** What the set-up knows of the model that it fetches. */
interface PinnedModel {
  readonly name: string;
  readonly files: Readonly<Record<string, { readonly file: string; readonly sha256?: string }>>;
}

/** Loads the configured embedding model, or says why it can't. */
export type OpenEmbedder = (config: Config) => Promise<{ embedder: Embedder } | { missing: string }>;

const NAME = 'embedding model';
const LOAD_TIMEOUT_MS = 60_000;
const GET =
  'Run npm start with a network, or put model.onnx and tokenizer.json there; without them semantic matching is off.';

/** Two texts that mean the same, and one that doesn't: any embedding model orders them. */
const TEXTS = ['How do I change my password?', 'Changing my password: how does it work?', 'Frogs lay eggs in ponds.'];

/** Whether the embedding model's files are those that the set-up fetches, load, and make sensible vectors. */
export async function embeddingModelFindings(
  config: Config,
  packageRoot: string,
  open: OpenEmbedder,
): Promise<Finding[]> {
  if (Object.values(config.node.namespaces).every((namespace) => namespace.semantic === 'off')) {
    return [{ name: NAME, state: 'info', detail: 'not needed: semantic matching is off everywhere' }];
  }
  const { name, modelDir } = config.embedder;
  const folder = join(modelDir, name);
  const pinned = await pinnedModel(packageRoot);
  const pins = pinned !== undefined && pinned.name === name ? Object.values(pinned.files) : [];
  for (const { file, sha256 } of pins) {
    const actual = await sha256Of(join(folder, file));
    if (actual === undefined) {
      return [{ name: NAME, state: 'warn', detail: `${file} isn't in ${folder}`, advice: GET }];
    }
    if (sha256 !== undefined && actual !== sha256) {
      const advice = `Remove it and run npm start, which fetches it again.`;
      return [{ name: NAME, state: 'fail', detail: `${join(folder, file)} has a wrong SHA-256 (${actual})`, advice }];
    }
  }
  const trial = await trialFinding(config, open);
  return pins.length === 0 ? [trial] : [{ name: NAME, state: 'ok', detail: `${folder}, SHA-256 as pinned` }, trial];
}

/** The set-up's script holds the hashes; it lies beside the build in a clone and in an installed package. */
async function pinnedModel(packageRoot: string): Promise<PinnedModel | undefined> {
  try {
    const script = pathToFileURL(join(packageRoot, 'scripts', 'lib', 'embedding-model.mjs')).href;
    const { DEFAULT_MODEL } = (await import(script)) as { readonly DEFAULT_MODEL: PinnedModel };
    return DEFAULT_MODEL;
  } catch {
    return undefined;
  }
}

async function sha256Of(path: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    for await (const part of createReadStream(path)) hash.update(part as Uint8Array);
  } catch {
    return undefined;
  }
  return hash.digest('hex');
}

async function trialFinding(config: Config, open: OpenEmbedder): Promise<Finding> {
  const opened = await open(config);
  if ('missing' in opened) return { name: NAME, state: 'warn', detail: opened.missing, advice: GET };
  const { embedder } = opened;
  try {
    const startedMs = performance.now();
    const options = { deadlineAtMs: performance.now() + LOAD_TIMEOUT_MS };
    const vectors = (await embedder.embed(TEXTS, options)).map((embedding) => embedding.vector);
    const ms = Math.round((performance.now() - startedMs) / TEXTS.length);
    const [near, far] = [cosine(vectors[0], vectors[1]), cosine(vectors[0], vectors[2])];
    if (!(near > far)) {
      const advice = 'The files are no sentence embedding model; put others there.';
      return { name: NAME, state: 'fail', detail: `${embedder.id} can't tell texts apart`, advice };
    }
    const detail = `${embedder.id}: ${embedder.dimensions} dimensions, ${ms} ms a text, ${near.toFixed(2)} for a rephrasing, ${far.toFixed(2)} for another text`;
    return { name: NAME, state: 'ok', detail };
  } catch (error) {
    const detail = `${embedder.id} fails: ${error instanceof Error ? error.message : 'unknown'}`;
    return { name: NAME, state: 'fail', detail, advice: GET };
  } finally {
    await embedder.close();
  }
}

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  let sum = 0;
  for (const [index, value] of (a ?? []).entries()) sum += value * (b?.[index] ?? Number.NaN);
  return sum;
}
