import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Calibration } from '../../runtime/ports/calibration.ts';
import { writeOutput } from './output-file.ts';

/** Where the calibration of an embedder lies unless it is said. */
export function calibrationPath(embedderId: string): string {
  return `calibration/${embedderId}.json`;
}

/** Writes a calibration, whole or not at all, and makes its folder where there is none. Fails with `data_invalid` where it can't. */
export async function writeCalibration(path: string, calibration: Calibration): Promise<void> {
  // Where the folder can't be made, writing says why.
  await mkdir(dirname(path), { recursive: true }).catch(() => undefined);
  await writeOutput(path, `${JSON.stringify(calibration, undefined, 1)}\n`);
}
