import { stat, writeFile } from 'node:fs/promises';
import { RepriseError } from '../../runtime/errors.ts';
import { replaceFile } from '../../runtime/host/replace-file.ts';

/** Writes a file that an option names, whole or not at all. Fails with `data_invalid` where it can't. */
export async function writeOutput(path: string, text: string): Promise<void> {
  try {
    await ((await isReplaceable(path)) ? replaceFile(path, text) : writeFile(path, text));
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    throw new RepriseError('data_invalid', `${path} can't be written (${code}).`, { cause });
  }
}

/** Pipes and devices have no other file put in their place. */
async function isReplaceable(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => true,
  );
}
