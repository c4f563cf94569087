import { Arrivals, arrivalOptions } from './arrivals.ts';
import { KeyTraits } from './key-traits.ts';
import type { Generator, GeneratorMaker, Requests } from './generator.ts';
import { ZipfSampler } from './zipf-sampler.ts';

const KEYS_MAX = 50_000_000;

/**
 * `zipf`: keys by a Zipf law. `drift` is how often, per request, a popular key gives its rank to any other; a burst asks for one
 * key mostly; a scan runs over keys that are asked for in scans only, with a share of the requests.
 */
export const popularKeys: GeneratorMaker = (values, seed): Generator => {
  const ranks = values.count('n', 10_000, KEYS_MAX);
  const exponent = values.number('s', 0.9, { most: 10 });
  const drift = values.share('drift', 0);
  const scanEvery = values.number('scanEvery', 0, { most: 1e12 });
  const scanLength = values.count('scanLength', 1_000, KEYS_MAX);
  const scanSpan = values.count('scanKeys', 1_000_000, KEYS_MAX);
  const scanShare = values.share('scanShare', 0.5);
  const arriving = arrivalOptions(values);
  const traits = new KeyTraits(values, seed);
  return {
    columns: ['timesMs', ...traits.columns],
    *requests(random): Requests {
      const ranking = new ZipfSampler(random.fork('rank'), { ranks, exponent });
      const arrivals = new Arrivals(random.fork('arrivals'), arriving);
      const changes = random.fork('drift');
      const scans = random.fork('scan');
      const hot = random.fork('burst');
      const keyOf = Uint32Array.from({ length: ranks }, (_, rank) => rank);
      let [scanLeft, scanKey, burst, hotKey] = [0, 0, -1, 0];
      for (;;) {
        const timeMs = arrivals.next();
        if (drift > 0 && changes.float() < drift) {
          swap(keyOf, ranking.next() - 1, Math.floor(changes.float() * ranks));
        }
        if (scanEvery > 0 && scanLeft === 0 && scans.float() * scanEvery < 1) {
          scanLeft = scanLength;
          scanKey = Math.floor(scans.float() * scanSpan);
        }
        let key: number;
        if (scanLeft > 0 && scans.float() < scanShare) {
          key = ranks + (scanKey % scanSpan);
          scanKey += 1;
          scanLeft -= 1;
        } else key = keyOf[ranking.next() - 1]!;
        if (arrivals.burst !== -1) {
          if (arrivals.burst !== burst) {
            burst = arrivals.burst;
            hotKey = Math.floor(hot.float() * ranks);
          }
          if (hot.float() < arrivals.burstShare) key = hotKey;
        }
        yield { key, timeMs, size: traits.sizeOf(key), cost: traits.costOf(key) };
      }
    },
  };
};

function swap(list: Uint32Array, a: number, b: number): void {
  const kept = list[a]!;
  list[a] = list[b]!;
  list[b] = kept;
}
