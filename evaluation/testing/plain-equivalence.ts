import type { EquivalenceParameters } from '../../runtime/ports/calibration.ts';
import { SIGNALS } from '../../runtime/semantic/signals.ts';

/** A model that sees nothing but the similarity. */
export const PLAIN_EQUIVALENCE: EquivalenceParameters = {
  kind: 'monotone-networks',
  signals: SIGNALS.map(({ name }) => name),
  centre: SIGNALS.map(() => 0),
  scale: SIGNALS.map(() => 1),
  networks: [
    {
      hidden: [],
      hiddenBias: [],
      output: [],
      direct: SIGNALS.map(({ name }) => (name === 'similarity' ? 10 : 0)),
      bias: -8,
    },
  ],
  slope: 1,
  offset: 0,
  rarity: { texts: 0, levels: [] },
};
