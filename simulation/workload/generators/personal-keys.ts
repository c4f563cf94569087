import { Arrivals, arrivalOptions } from './arrivals.ts';
import type { Generator, GeneratorMaker, Requests } from './generator.ts';
import { KeyTraits } from './key-traits.ts';
import { ZipfSampler } from './zipf-sampler.ts';

/** `users`: each user asks mostly for keys of their own, else for what all share. Groups are users. */
export const personalKeys: GeneratorMaker = (values, seed): Generator => {
  const users = values.count('users', 1_000, 10_000_000);
  const userExponent = values.number('su', 0.8, { most: 10 });
  const own = values.share('own', 0.7);
  const items = values.count('items', 200, 1_000_000);
  const shared = values.count('n', 10_000, 50_000_000);
  const exponent = values.number('s', 0.9, { most: 10 });
  const arriving = arrivalOptions(values);
  const traits = new KeyTraits(values, seed);
  return {
    columns: ['timesMs', 'groups', ...traits.columns],
    *requests(random): Requests {
      const arrivals = new Arrivals(random.fork('arrivals'), arriving);
      const userRanks = new ZipfSampler(random.fork('user'), { ranks: users, exponent: userExponent });
      const ownRanks = new ZipfSampler(random.fork('own'), { ranks: items, exponent });
      const sharedRanks = new ZipfSampler(random.fork('shared'), { ranks: shared, exponent });
      const choices = random.fork('choice');
      for (;;) {
        const timeMs = arrivals.next();
        const group = userRanks.next() - 1;
        const isOwn = choices.float() < own;
        const key = isOwn ? shared + group * items + ownRanks.next() - 1 : sharedRanks.next() - 1;
        yield { key, timeMs, group, size: traits.sizeOf(key), cost: traits.costOf(key) };
      }
    },
  };
};
