import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { RepriseError } from '../../../runtime/errors.ts';
import { partOf } from '../../../runtime/host/replace-file.ts';

const LINE_FEED = 10;
const OWNER_ONLY = 0o600;

/** Whole lines of a stream in a file, up to a bound; what is cut off within a line isn't written. */
export class LineFile {
  readonly #bytesMax: number;
  readonly #file: Writable;
  readonly #sink: Writable;
  #rest = Buffer.alloc(0);
  #isFull = false;
  failure: Error | undefined;
  lines = 0;
  bytes = 0;

  private constructor(path: string, options: { readonly isGzip: boolean; readonly bytesMax: number }) {
    this.#bytesMax = options.bytesMax;
    this.#file = createWriteStream(path, { mode: OWNER_ONLY });
    this.#sink = options.isGzip ? createGzip() : this.#file;
    for (const stream of new Set([this.#file, this.#sink])) {
      stream.on('error', (error: Error) => {
        this.failure ??= error;
        this.#sink.destroy();
      });
    }
    if (this.#sink !== this.#file) (this.#sink as ReturnType<typeof createGzip>).pipe(this.#file);
  }

  /**
   * Fills a file of its owner's, gzip where its name ends with .gz, under another name until `work` is done. Fails with `data_invalid`
   * where it can't be written, before `work` begins where that shows by then, else as `work` does; then there is no new file.
   */
  static async fill(path: string, bytesMax: number, work: (file: LineFile) => Promise<void>): Promise<LineFile> {
    await refuseWhatIsNoFile(path);
    const part = partOf(path);
    const file = new LineFile(part, { isGzip: path.endsWith('.gz'), bytesMax });
    try {
      await once(file.#file, 'open');
      await work(file);
      await file.#close();
      await rename(part, path);
      return file;
    } catch (error) {
      file.#sink.destroy();
      file.#file.destroy();
      await rm(part, { force: true });
      if (!(error instanceof Error && 'syscall' in error)) throw error;
      const code = 'code' in error ? String(error.code) : 'unknown';
      throw new RepriseError('data_invalid', `${path} can't be written (${code}).`, { cause: error });
    }
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  async take(chunk: Uint8Array): Promise<void> {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const kept: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1 && !this.#isFull; end = bytes.indexOf(LINE_FEED, start)) {
      const line = bytes.subarray(start, end + 1);
      start = end + 1;
      if (line.length === 1) continue;
      if (this.bytes + line.length > this.#bytesMax) this.#isFull = true;
      else {
        kept.push(line);
        this.bytes += line.length;
        this.lines += 1;
      }
    }
    this.#rest = bytes.subarray(start);
    if (this.failure !== undefined) throw this.failure;
    if (kept.length > 0 && !this.#sink.write(Buffer.concat(kept))) await this.#drained();
  }

  async #close(): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    const closed = once(this.#file, 'close');
    this.#sink.end();
    await closed;
    if (this.failure !== undefined) throw this.failure;
  }

  async #drained(): Promise<void> {
    const over = new AbortController();
    const { signal } = over;
    try {
      await Promise.race([once(this.#sink, 'drain', { signal }), once(this.#file, 'close', { signal })]);
    } finally {
      over.abort();
    }
    if (this.failure !== undefined) throw this.failure;
  }
}

/** Fails with `data_invalid` where there is a folder or a device, which no finished file can take the place of. */
async function refuseWhatIsNoFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.isFile()) return;
  throw new RepriseError(
    'data_invalid',
    `${path} can't be written (it is ${found.isDirectory() ? 'a folder' : 'no file'}).`,
  );
}
