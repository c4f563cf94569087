import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SemanticConfig } from '../config/index.ts';
import { RepriseError, toRepriseError } from '../errors.ts';
import type { Calibration } from '../ports/calibration.ts';
import { parseCalibration } from '../semantic/calibration.ts';
import { FEATURE_VERSION } from '../semantic/features.ts';

/** A calibration in force, or none and why. */
export interface LoadedCalibration {
  readonly calibration?: Calibration;
  /** One line for people. */
  readonly detail: string;
  /** True when there ought to be one: worth a warning. */
  readonly isUnfit: boolean;
}

/**
 * The calibration that the configuration names, for the embedder in use. One that comes with Reprise and doesn't fit is off, with a
 * warning; a configured one that can't be read or doesn't fit fails with `config_invalid`.
 */
export async function loadCalibration(config: SemanticConfig, embedderId: string): Promise<LoadedCalibration> {
  if (config.calibration === 'off') return { detail: 'calibration off', isUnfit: false };
  const isShipped = config.calibration === 'auto';
  const path = isShipped ? join(config.shippedDir, `${embedderId}.json`) : config.calibration;
  try {
    const text = await readText(path, isShipped);
    if (text === undefined) return { detail: `no calibration comes with Reprise for ${embedderId}`, isUnfit: false };
    const calibration = parsed(text, { path, embedderId });
    const domains = Object.keys(calibration.domains);
    const promised = domains.length === 0 ? 'nothing is promised of any domain' : domains.join(', ');
    return { calibration, detail: `calibrated: ${promised}`, isUnfit: false };
  } catch (error) {
    if (!isShipped) throw error;
    return { detail: `calibration off: ${toRepriseError(error).message}`, isUnfit: true };
  }
}

async function readText(path: string, isShipped: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (isShipped && cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new RepriseError('config_invalid', `semantic.calibration: the file ${path} can't be read.`, { cause });
  }
}

function parsed(text: string, use: { readonly path: string; readonly embedderId: string }): Calibration {
  const { path } = use;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new RepriseError('config_invalid', `semantic.calibration: ${path} is not JSON.`, { cause });
  }
  refuseUnfit(value, use);
  try {
    return parseCalibration(value);
  } catch (error) {
    const { message } = toRepriseError(error);
    throw new RepriseError('config_invalid', `semantic.calibration: ${path}: ${message}`, { cause: error });
  }
}

/** Before all else is read: another version's file may have other fields too, and this says why. */
function refuseUnfit(value: unknown, use: { readonly path: string; readonly embedderId: string }): void {
  const { path, embedderId } = use;
  const { embedderId: itsId, featureVersion } = (value ?? {}) as { embedderId?: unknown; featureVersion?: unknown };
  if (typeof itsId === 'string' && itsId !== embedderId) {
    throw new RepriseError(
      'config_invalid',
      `semantic.calibration: ${path} is for the embedder ${itsId}, but ${embedderId} is in use.`,
    );
  }
  if (typeof featureVersion === 'number' && featureVersion !== FEATURE_VERSION) {
    throw new RepriseError(
      'config_invalid',
      `semantic.calibration: ${path} is for features of version ${featureVersion}, but ${FEATURE_VERSION} is in use.`,
    );
  }
}
