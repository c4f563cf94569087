import { withCalibration, type Config, type DomainPromise } from '../config/index.ts';
import { loadCalibration } from './calibration.ts';
import { embedderIdOf } from './embedding/open-embedder.ts';

/** What semantic matching can be relied on for, with the embedder that is here. */
export interface DescribedPromises {
  /** Its id, or why there is none. */
  readonly embedder: string;
  readonly calibration: string;
  readonly promises: readonly DomainPromise[];
}

/** The same as a node says at its start, without loading the model. Fails with `config_invalid` on a configured calibration that doesn't fit. */
export async function describePromises(config: Config): Promise<DescribedPromises> {
  const id = await embedderIdOf(config.embedder);
  if (id === undefined) {
    const embedder = `none: the embedding model ${config.embedder.name} isn't in ${config.embedder.modelDir}`;
    return { embedder, calibration: 'calibration off', promises: [] };
  }
  const { calibration, detail } = await loadCalibration(config.semantic, id);
  return { embedder: id, calibration: detail, promises: withCalibration(config, calibration).promises };
}
