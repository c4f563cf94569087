import type { Config } from '../../runtime/config/index.ts';
import type { Calibration } from '../../runtime/ports/calibration.ts';
import type { Terminal } from './terminal.ts';

/** The calibration that a node would have, or the one that is named (`off`: none). One that doesn't fit fails, or is warned of where it came with Reprise. */
export async function calibrationInUse(
  config: Config,
  embedderId: string,
  { named, terminal }: { readonly named: string | undefined; readonly terminal: Terminal },
): Promise<Calibration | undefined> {
  const { loadCalibration } = await import('../../runtime/host/calibration.ts');
  const setting = named ?? config.semantic.calibration;
  const { calibration, detail, isUnfit } = await loadCalibration(
    { ...config.semantic, calibration: setting },
    embedderId,
  );
  if (isUnfit) terminal.err(`warning: ${detail}\n`);
  return calibration;
}
