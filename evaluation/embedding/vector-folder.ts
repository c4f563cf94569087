import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../runtime/host/replace-file.ts';
import type { WordVectors } from '../../runtime/ports/embedder.ts';

/** What is known of one embedded text. */
export interface EmbeddedText {
  /** Unit length; all zeros when `truncated`. */
  readonly vector: Float32Array;
  /** The text is longer than the embedder's window. */
  readonly truncated: boolean;
  readonly wordVectors?: WordVectors;
}

export interface VectorFolderOptions {
  /** Folder of all embedders; made when something is saved. */
  readonly folder: string;
  readonly embedderId: string;
  readonly dimensions: number;
  /** Bound of the embedder's files; the oldest go first. */
  readonly bytesMax: number;
}

const MAGIC = 0x52_50_56_32;
const HEADER_BYTES = 12;
const HASH_BYTES = 32;
const DIGEST_BYTES = 32;
/** The words of the texts are in them. */
const OWNER_ONLY = 0o600;
const TRUNCATED = 1;
const WITH_WORDS = 2;
const SEGMENTS_MAX = 32;
const SEGMENT_NAME = /^[0-9a-f-]{36}\.vectors$/u;

/**
 * Vectors on disk by embedder and SHA-256 of the text. They lie in files that are written once, under a name of their own, and renamed
 * into place when whole: processes that save at the same time lose nothing. A damaged file counts as absent.
 */
export class VectorFolder {
  readonly #folder: string;
  readonly #options: VectorFolderOptions;
  readonly #known = new Map<string, EmbeddedText>();
  readonly #unsaved = new Map<string, EmbeddedText>();
  #read: readonly string[] = [];

  private constructor(options: VectorFolderOptions) {
    this.#options = options;
    this.#folder = join(options.folder, options.embedderId);
  }

  /** Reads what is there. Fails only when the folder can't be read for another reason than being absent. */
  static async open(options: VectorFolderOptions): Promise<VectorFolder> {
    const vectors = new VectorFolder(options);
    const segments = await vectors.#segments();
    for (const name of segments) await vectors.#load(name);
    vectors.#read = segments;
    return vectors;
  }

  get unsavedCount(): number {
    return this.#unsaved.size;
  }

  get(text: string): EmbeddedText | undefined {
    return this.#known.get(keyOf(text));
  }

  set(text: string, embedded: EmbeddedText): void {
    const key = keyOf(text);
    this.#known.set(key, embedded);
    this.#unsaved.set(key, embedded);
  }

  /** Writes what is new, then removes what is beyond the bound. */
  async save(): Promise<void> {
    if (this.#unsaved.size === 0) return;
    await mkdir(this.#folder, { recursive: true });
    const merge = this.#read.length >= SEGMENTS_MAX;
    const name = await this.#write(merge ? this.#known : this.#unsaved);
    if (merge) await Promise.all(this.#read.map((old) => rm(join(this.#folder, old), { force: true })));
    this.#read = merge ? [name] : [...this.#read, name];
    this.#unsaved.clear();
    await this.#prune();
  }

  async #write(vectors: ReadonlyMap<string, EmbeddedText>): Promise<string> {
    const { dimensions, bytesMax } = this.#options;
    const kept: Buffer[] = [];
    let left = bytesMax - HEADER_BYTES - DIGEST_BYTES;
    for (const [key, embedded] of [...vectors].toReversed()) {
      const record = encodeRecord(key, embedded, dimensions);
      left -= record.length;
      if (left < 0) break;
      kept.push(record);
    }
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32LE(MAGIC, 0);
    header.writeUInt32LE(dimensions, 4);
    header.writeUInt32LE(kept.length, 8);
    const bytes = Buffer.concat([header, ...kept.reverse()]);
    const name = `${randomUUID()}.vectors`;
    const digest = createHash('sha256').update(bytes).digest();
    await replaceFile(join(this.#folder, name), Buffer.concat([bytes, digest]), OWNER_ONLY);
    return name;
  }

  async #load(name: string): Promise<void> {
    const bytes = await readFile(join(this.#folder, name)).catch(() => undefined);
    if (bytes === undefined || bytes.length < HEADER_BYTES + DIGEST_BYTES) return;
    const body = bytes.subarray(0, bytes.length - DIGEST_BYTES);
    const digest = createHash('sha256').update(body).digest();
    const { dimensions } = this.#options;
    const isOurs = body.readUInt32LE(0) === MAGIC && body.readUInt32LE(4) === dimensions;
    if (!isOurs || !digest.equals(bytes.subarray(body.length))) return;
    const count = body.readUInt32LE(8);
    let at = HEADER_BYTES;
    for (let record = 0; record < count; record += 1) {
      const { key, embedded, end } = decodeRecord(body, at, dimensions);
      this.#known.set(key, embedded);
      at = end;
    }
  }

  /** Names of the segments, oldest first. */
  async #segments(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const dated = await Promise.all(
      names.filter((name) => SEGMENT_NAME.test(name)).map(async (name) => ({ name, ...(await this.#stat(name)) })),
    );
    return dated
      .toSorted((a, b) => a.changedAtMs - b.changedAtMs || (a.name < b.name ? -1 : 1))
      .map(({ name }) => name);
  }

  async #stat(name: string): Promise<{ readonly changedAtMs: number; readonly bytes: number }> {
    return stat(join(this.#folder, name)).then(
      ({ mtimeMs, size }) => ({ changedAtMs: mtimeMs, bytes: size }),
      () => ({ changedAtMs: 0, bytes: 0 }),
    );
  }

  async #prune(): Promise<void> {
    let left = this.#options.bytesMax;
    for (const name of (await this.#segments()).toReversed()) {
      left -= (await this.#stat(name)).bytes;
      if (left < 0) await rm(join(this.#folder, name), { force: true });
    }
  }
}

/** Hash · flags · vector · bytes of the words · bytes of their vectors · words, with spaces between · their vectors. */
function encodeRecord(key: string, embedded: EmbeddedText, dimensions: number): Buffer {
  const { vector, truncated, wordVectors } = embedded;
  const words = Buffer.from((wordVectors?.words ?? []).join(' '));
  const vectors = wordVectors?.vectors ?? new Int8Array(0);
  const wordsAt = HASH_BYTES + 4 + 4 * dimensions + 8;
  const record = Buffer.alloc(wordsAt + words.length + vectors.length);
  record.write(key, 0, 'hex');
  record.writeUInt32LE((truncated ? TRUNCATED : 0) | (wordVectors === undefined ? 0 : WITH_WORDS), HASH_BYTES);
  for (let i = 0; i < dimensions; i += 1) record.writeFloatLE(vector[i] ?? 0, HASH_BYTES + 4 + 4 * i);
  record.writeUInt32LE(words.length, wordsAt - 8);
  record.writeUInt32LE(vectors.length, wordsAt - 4);
  record.set(words, wordsAt);
  record.set(new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.length), wordsAt + words.length);
  return record;
}

/** Only ever called on bytes whose digest is right. */
function decodeRecord(
  body: Buffer,
  at: number,
  dimensions: number,
): { readonly key: string; readonly embedded: EmbeddedText; readonly end: number } {
  const vectorAt = at + HASH_BYTES + 4;
  const wordsAt = vectorAt + 4 * dimensions + 8;
  const vectorsAt = wordsAt + body.readUInt32LE(wordsAt - 8);
  const end = vectorsAt + body.readUInt32LE(wordsAt - 4);
  const flags = body.readUInt32LE(at + HASH_BYTES);
  const copied = (from: number, to: number): ArrayBuffer =>
    Uint8Array.prototype.slice.call(body, from, to).buffer as ArrayBuffer;
  const vector = new Float32Array(copied(vectorAt, wordsAt - 8));
  const embedded = { vector, truncated: (flags & TRUNCATED) !== 0 };
  const key = body.toString('hex', at, at + HASH_BYTES);
  if ((flags & WITH_WORDS) === 0) return { key, embedded, end };
  const words = body.toString('utf8', wordsAt, vectorsAt).split(' ');
  return {
    key,
    embedded: { ...embedded, wordVectors: { words, vectors: new Int8Array(copied(vectorsAt, end)) } },
    end,
  };
}

function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
