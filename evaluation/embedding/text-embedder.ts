import { RepriseError } from '../../runtime/errors.ts';
import type { Embedder } from '../../runtime/ports/embedder.ts';
import { VectorFolder, type EmbeddedText } from './vector-folder.ts';

export interface TextEmbedderOptions {
  /** Folder that keeps vectors between runs; absent: none does. */
  readonly folder?: string;
  /** Bound of what the folder keeps for this embedder. */
  readonly bytesMax?: number;
  /** Deadline of one batch. */
  readonly batchTimeoutMs?: number;
}

export interface EmbedOptions {
  /** Told after each batch: texts done, of all distinct texts. */
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

const BYTES_MAX = 512 * 1024 * 1024;
const BATCH_TIMEOUT_MS = 120_000;
const BATCH_TEXTS = 128;
/** Work that an interrupted run may lose. */
const UNSAVED_MAX = 8_192;

/** Embeds many texts with the embedder of the server, and none of them twice. */
export class TextEmbedder {
  readonly #embedder: Embedder;
  readonly #options: TextEmbedderOptions;
  readonly #folder: VectorFolder | undefined;

  private constructor(embedder: Embedder, options: TextEmbedderOptions, folder: VectorFolder | undefined) {
    this.#embedder = embedder;
    this.#options = options;
    this.#folder = folder;
  }

  /** Reads the vectors that `folder` has. The embedder is the caller's to close. */
  static async open(embedder: Embedder, options: TextEmbedderOptions = {}): Promise<TextEmbedder> {
    if (options.folder === undefined) return new TextEmbedder(embedder, options, undefined);
    const folder = await VectorFolder.open({
      folder: options.folder,
      embedderId: embedder.id,
      dimensions: embedder.dimensions,
      bytesMax: options.bytesMax ?? BYTES_MAX,
    });
    return new TextEmbedder(embedder, options, folder);
  }

  get embedderId(): string {
    return this.#embedder.id;
  }

  /** What is known of each text, in order. The texts are embedded as they are: normalise them before. */
  async embed(texts: readonly string[], options: EmbedOptions = {}): Promise<readonly EmbeddedText[]> {
    const known = new Map<string, EmbeddedText>();
    const wanted: string[] = [];
    for (const text of new Set(texts)) {
      const found = this.#folder?.get(text);
      if (found === undefined) wanted.push(text);
      else known.set(text, found);
    }
    const total = known.size + wanted.length;
    for (let at = 0; at < wanted.length; at += BATCH_TEXTS) {
      await this.#embedBatch(wanted.slice(at, at + BATCH_TEXTS), known, options.signal);
      options.onProgress?.(known.size, total);
    }
    await this.#folder?.save();
    return texts.map((text) => {
      const found = known.get(text);
      if (found === undefined) throw new RepriseError('embedder_invalid_vector', 'The embedder left out a text.');
      return found;
    });
  }

  async #embedBatch(
    texts: readonly string[],
    known: Map<string, EmbeddedText>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const deadlineAtMs = performance.now() + (this.#options.batchTimeoutMs ?? BATCH_TIMEOUT_MS);
    const call = signal === undefined ? { deadlineAtMs } : { deadlineAtMs, signal };
    const embeddings = await this.#embedder.embed(texts, call);
    for (const [index, text] of texts.entries()) {
      const embedding = embeddings[index];
      if (embedding === undefined) continue;
      const { truncated, wordVectors } = embedding;
      const vector = truncated ? new Float32Array(this.#embedder.dimensions) : embedding.vector;
      const embedded = { vector, truncated, ...(wordVectors === undefined ? {} : { wordVectors }) };
      known.set(text, embedded);
      this.#folder?.set(text, embedded);
    }
    if ((this.#folder?.unsavedCount ?? 0) >= UNSAVED_MAX) await this.#folder?.save();
  }
}

/** Cosine of two unit vectors, in [-1, 1], as the node's index computes it. */
export function similarityOf(a: Float32Array, b: Float32Array): number {
  const even = a.length - (a.length % 4);
  let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0];
  let at = 0;
  for (; at < even; at += 4) {
    sum0 += a[at]! * b[at]!;
    sum1 += a[at + 1]! * b[at + 1]!;
    sum2 += a[at + 2]! * b[at + 2]!;
    sum3 += a[at + 3]! * b[at + 3]!;
  }
  for (; at < a.length; at += 1) sum0 += a[at]! * b[at]!;
  return Math.max(-1, Math.min(1, sum0 + sum1 + (sum2 + sum3)));
}
