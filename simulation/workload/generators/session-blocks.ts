import type { Random } from '../../../runtime/ports/random.ts';
import { Arrivals, arrivalOptions, exponential } from './arrivals.ts';
import type { Generator, GeneratorMaker, Requests } from './generator.ts';
import { KeyTraits } from './key-traits.ts';
import { TurnQueue } from './turn-queue.ts';
import { ZipfSampler } from './zipf-sampler.ts';

const SECOND_MS = 1_000;
/** Blocks of one prompt, as a model's window bounds them. */
const BLOCKS_MAX = 4_096;

interface Session {
  readonly group: number;
  readonly blocks: number[];
  turnsLeft: number;
}

/**
 * `sessions`: conversations whose prompts grow. A turn asks for all blocks of its prompt in order: those of one of the shared
 * system prompts, those of all turns before, and new ones. Groups are sessions; a block's parent is the one before it.
 */
export const sessionBlocks: GeneratorMaker = (values, seed): Generator => {
  const open = values.count('sessions', 100, 1_000_000);
  const turns = values.number('turns', 5, { least: 1, most: 10_000 });
  const firstBlocks = values.number('first', 8, { least: 1, most: BLOCKS_MAX });
  const grow = values.number('grow', 4, { least: 1, most: BLOCKS_MAX });
  const prompts = values.count('prompts', 20, 1_000_000);
  const promptBlocks = values.count('promptBlocks', 2, BLOCKS_MAX);
  const exponent = values.number('s', 1, { most: 10 });
  const thinkMs = values.number('think', 30, { least: 0.001, most: 1e7 }) * SECOND_MS;
  const arriving = arrivalOptions(values);
  const traits = new KeyTraits(values, seed);
  return {
    columns: ['timesMs', 'groups', 'parents', ...traits.columns],
    *requests(random): Requests {
      const seasons = new Arrivals(random.fork('arrivals'), arriving);
      const promptRanks = new ZipfSampler(random.fork('prompt'), { ranks: prompts, exponent });
      const lengths = random.fork('lengths');
      const thinking = random.fork('think');
      const queue = new TurnQueue<Session>();
      let [sessions, nextBlock] = [0, prompts * promptBlocks];
      const begin = (atMs: number): void => {
        const prompt = promptRanks.next() - 1;
        const blocks = Array.from({ length: promptBlocks }, (_, at) => prompt * promptBlocks + at);
        const turnsLeft = geometric(lengths, turns);
        for (let count = geometric(lengths, firstBlocks); count > 0; count -= 1) blocks.push(nextBlock++);
        queue.add(atMs, { group: sessions++, blocks, turnsLeft });
      };
      for (let slot = 0; slot < open; slot += 1) begin(exponential(thinking, thinkMs));
      for (;;) {
        const { atMs: timeMs, turn: session } = queue.take();
        let parent = -1;
        for (const key of session.blocks) {
          yield { key, timeMs, group: session.group, parent, size: traits.sizeOf(key), cost: traits.costOf(key) };
          parent = key;
        }
        const nextAtMs = timeMs + exponential(thinking, thinkMs / seasons.season(timeMs));
        session.turnsLeft -= 1;
        for (let count = geometric(lengths, grow); count > 0; count -= 1) session.blocks.push(nextBlock++);
        if (session.turnsLeft > 0 && session.blocks.length <= BLOCKS_MAX) queue.add(nextAtMs, session);
        else begin(nextAtMs);
      }
    },
  };
};

/** A whole number from 1 on with this mean. */
function geometric(random: Random, mean: number): number {
  if (mean === 1) return 1;
  return 1 + Math.floor(Math.log(1 - random.float()) / Math.log(1 - 1 / mean));
}
