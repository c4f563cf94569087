import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { RepriseError } from '../../runtime/errors.ts';
import type { Calibration } from '../../runtime/ports/calibration.ts';

/** Writes a calibration so that a reader finds the old one or the new one, whole. */
export async function writeCalibration(path: string, calibration: Calibration): Promise<void> {
  const text = `${JSON.stringify(calibration, undefined, 1)}\n`;
  const part = `${path}.${randomUUID()}.part`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(part, text);
    await rename(part, path);
  } catch (cause) {
    await rm(part, { force: true }).catch(() => undefined);
    const { code } = cause as NodeJS.ErrnoException;
    throw new RepriseError('config_invalid', `${path} can't be written (${code ?? 'unknown'}).`, { cause });
  }
}
