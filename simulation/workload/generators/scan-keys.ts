import { Arrivals, arrivalOptions } from './arrivals.ts';
import type { Generator, GeneratorMaker, Requests } from './generator.ts';
import { KeyTraits } from './key-traits.ts';

/** `scan`: keys one after the other, and from the first again; with `zigzag=1` back and forth. */
export const scanKeys: GeneratorMaker = (values, seed): Generator => {
  const keys = values.count('n', 10_000, 50_000_000);
  const isZigzag = values.number('zigzag', 0, { most: 1, isWhole: true }) === 1;
  const arriving = arrivalOptions(values);
  const traits = new KeyTraits(values, seed);
  return {
    columns: ['timesMs', ...traits.columns],
    *requests(random): Requests {
      const arrivals = new Arrivals(random.fork('arrivals'), arriving);
      const round = isZigzag ? Math.max(1, 2 * keys - 2) : keys;
      for (let at = 0; ; at = (at + 1) % round) {
        const key = at < keys ? at : round - at;
        yield { key, timeMs: arrivals.next(), size: traits.sizeOf(key), cost: traits.costOf(key) };
      }
    },
  };
};
