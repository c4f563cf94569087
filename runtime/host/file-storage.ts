import { mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '../errors.ts';
import type { Storage } from '../ports/storage.ts';
import { PART, replaceFile } from './replace-file.ts';

const NAME = /^[a-z0-9][a-z0-9._-]*$/;
const OWNER_ONLY = 0o600;

/** Records as files of one folder; a record is replaced whole or not at all. */
export class FileStorage implements Storage {
  readonly #folder: string;

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
    await replaceFile(path, value, OWNER_ONLY);
  }

  async remove(name: string): Promise<void> {
    await rm(this.#path(name), { force: true });
  }

  async list(): Promise<readonly string[]> {
    try {
      const names = await readdir(this.#folder);
      return names.filter((name) => NAME.test(name) && !name.endsWith(PART)).sort();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  #path(name: string): string {
    assert(NAME.test(name) && !name.endsWith(PART), 'a storage name is plain');
    return join(this.#folder, name);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
