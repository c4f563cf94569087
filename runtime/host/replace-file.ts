import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

/** End of the names under which files are written until they are whole. */
export const PART = '.part';

/** A name beside `path`, of its own, for what isn't whole yet. */
export function partOf(path: string): string {
  return `${path}.${randomUUID()}${PART}`;
}

/**
 * Writes a file so that a reader finds the old one or the new one, whole, also after a crash. The folder must be there; `mode`: who may
 * read and write it. Fails as the file system does, and then leaves nothing behind.
 */
export async function replaceFile(path: string, content: string | Uint8Array, mode = 0o666): Promise<void> {
  const part = partOf(path);
  try {
    const file = await open(part, 'w', mode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
