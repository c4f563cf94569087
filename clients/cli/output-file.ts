import { writeFile } from 'node:fs/promises';
import { RepriseError } from '../../runtime/errors.ts';

/** Writes a file that an option names. Fails with `data_invalid` where it can't. */
export async function writeOutput(path: string, text: string): Promise<void> {
  await writeFile(path, text).catch((cause: NodeJS.ErrnoException) => {
    throw new RepriseError('data_invalid', `${path} can't be written (${cause.code ?? 'unknown'}).`, { cause });
  });
}
