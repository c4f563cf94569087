import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '../errors.ts';
import type { Storage } from '../ports/storage.ts';

const NAME = /^[a-z0-9][a-z0-9._-]*$/;
const TEMPORARY = '.part';

/** Records as files of one folder; a write goes to a temporary file, is synced, then renamed. */
export class FileStorage implements Storage {
  readonly #folder: string;
  #writes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    try {
      return await readFile(this.#path(name));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async write(name: string, value: Uint8Array): Promise<void> {
    const path = this.#path(name);
    await mkdir(this.#folder, { recursive: true });
    this.#writes += 1;
    const temporary = `${path}.${process.pid}-${this.#writes}${TEMPORARY}`;
    try {
      const file = await open(temporary, 'w', 0o600);
      try {
        await file.writeFile(value);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await rm(this.#path(name), { force: true });
  }

  async list(): Promise<readonly string[]> {
    try {
      const names = await readdir(this.#folder);
      return names.filter((name) => NAME.test(name) && !name.endsWith(TEMPORARY)).sort();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  #path(name: string): string {
    assert(NAME.test(name) && !name.endsWith(TEMPORARY), 'a storage name is plain');
    return join(this.#folder, name);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
