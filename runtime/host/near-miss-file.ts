import { appendFile, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { toRepriseError } from '../errors.ts';
import type { NearMiss, NearMissLog } from '../ports/near-miss-log.ts';
import type { Telemetry } from '../ports/telemetry.ts';

/** Lines that wait for the disk; what comes past it is dropped. */
const WAITING_MAX = 1_024;
const OWNER_ONLY = 0o600;

export interface NearMissFileOptions {
  readonly path: string;
  readonly bytesMax: number;
  /** The current one included; older ones are called `<path>.1`, `<path>.2`, … */
  readonly filesMax: number;
}

/** Near misses as lines of JSON in a file that only its owner may read; a full one is put aside, the oldest removed. */
export class NearMissFile implements NearMissLog {
  readonly #options: NearMissFileOptions;
  readonly #telemetry: Telemetry;
  #waiting: string[] = [];
  #writing: Promise<void> | undefined;
  /** Bytes of the current file; undefined until it was looked at. */
  #bytes: number | undefined;
  #isFailing = false;

  constructor(options: NearMissFileOptions, telemetry: Telemetry) {
    this.#options = options;
    this.#telemetry = telemetry;
  }

  write(miss: NearMiss): boolean {
    if (this.#waiting.length >= WAITING_MAX) return false;
    const { atMs, ...rest } = miss;
    this.#waiting.push(`${JSON.stringify({ version: 1, at: new Date(atMs).toISOString(), ...rest })}\n`);
    this.#writing ??= this.#drain();
    return true;
  }

  async close(): Promise<void> {
    await this.#writing;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      try {
        await this.#append(lines);
        this.#isFailing = false;
      } catch (error) {
        this.#failed(error, lines.length);
      }
    }
    this.#writing = undefined;
  }

  async #append(lines: readonly string[]): Promise<void> {
    const { path, bytesMax } = this.#options;
    await mkdir(dirname(path), { recursive: true });
    let bytes = this.#bytes ?? (await sizeOf(path));
    let text = '';
    for (const line of lines) {
      const size = Buffer.byteLength(line);
      if (bytes > 0 && bytes + size > bytesMax) {
        await this.#put(text);
        await this.#rotate();
        text = '';
        bytes = 0;
      }
      text += line;
      bytes += size;
    }
    await this.#put(text);
    this.#bytes = bytes;
  }

  async #put(text: string): Promise<void> {
    if (text !== '') await appendFile(this.#options.path, text, { mode: OWNER_ONLY });
  }

  async #rotate(): Promise<void> {
    const { path, filesMax } = this.#options;
    const nameOf = (number: number): string => (number === 0 ? path : `${path}.${number}`);
    await rm(nameOf(filesMax - 1), { force: true });
    for (let number = filesMax - 2; number >= 0; number -= 1) {
      await rename(nameOf(number), nameOf(number + 1)).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    }
  }

  /** Once for a row of failures: a full disk must not fill the log too. */
  #failed(error: unknown, lines: number): void {
    this.#bytes = undefined;
    this.#telemetry.counter('reprise_semantic_near_misses_total', 'lost').add(lines);
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#telemetry.log('warn', 'near-miss log not written', { code: codeOf(error) });
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : toRepriseError(error).code;
}
