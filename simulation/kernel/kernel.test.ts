import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drainMicrotasks } from '../bin/drain.ts';
import { kernelDigest } from '../bin/kernel-digest.ts';
import { Digest } from './digest.ts';
import { EventQueue } from './event-queue.ts';
import { Kernel } from './kernel.ts';
import { SeededRandom } from './seeded-random.ts';

const WALL_START_MS = 1_700_000_000_000;
const PRINTER = fileURLToPath(new URL('../bin/print-kernel-digest.ts', import.meta.url));

function makeKernel(seed = 'seed'): Kernel {
  return new Kernel({ seed, wallStartMs: WALL_START_MS, drain: drainMicrotasks });
}

async function digestOfAnotherProcess(seed: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', PRINTER, seed]);
  return stdout.trim();
}

function digestOf(write: (digest: Digest) => void): string {
  const digest = new Digest();
  write(digest);
  return digest.hex();
}

describe('Kernel', () => {
  it('gives the same digest for the same seed in two processes', async () => {
    const other = await digestOfAnotherProcess('seed 1');
    expect(await kernelDigest('seed 1')).toBe(other);
    expect(await kernelDigest('seed 1')).toBe(other);
  });

  it('gives another digest for another seed', async () => {
    expect(await kernelDigest('seed 1')).not.toBe(await kernelDigest('seed 2'));
  });

  it('lets all promises settle between two events of the same time', async () => {
    const kernel = makeKernel();
    const order: string[] = [];
    kernel.plan(5, 'first', () => {
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => order.push('promise of the first'));
    });
    kernel.plan(5, 'second', () => order.push('second'));

    await kernel.run({ eventsMax: 10 });

    expect(order).toEqual(['promise of the first', 'second']);
  });

  it('starts what was begun before the run before its first event', async () => {
    const kernel = makeKernel();
    const order: string[] = [];
    void Promise.resolve().then(() => kernel.plan(0, 'planned by a promise', () => order.push('planned by a promise')));
    kernel.plan(1, 'later', () => order.push('later'));

    await kernel.run({ eventsMax: 10 });

    expect(order).toEqual(['planned by a promise', 'later']);
  });

  it('stops at the time limit with the clock there, and goes on from it', async () => {
    const kernel = makeKernel();
    const seen: number[] = [];
    for (const atMs of [10, 20, 30]) kernel.plan(atMs, 'tick', () => seen.push(kernel.clock.monotonicMs()));

    expect(await kernel.run({ untilMs: 25, eventsMax: 10 })).toBe('time');
    expect(seen).toEqual([10, 20]);
    expect(kernel.clock.monotonicMs()).toBe(25);
    expect(kernel.clock.wallMs()).toBe(WALL_START_MS + 25);
    expect(await kernel.run({ eventsMax: 10 })).toBe('idle');
    expect(seen).toEqual([10, 20, 30]);
  });

  it('stops when it is told that the work is done', async () => {
    const kernel = makeKernel();
    let ticks = 0;
    const tick = (): void => {
      ticks++;
      kernel.plan(1, 'tick', tick);
    };
    kernel.plan(1, 'tick', tick);

    expect(await kernel.run({ isDone: () => ticks === 7, eventsMax: 100 })).toBe('done');
    expect(kernel.events).toBe(7);
  });

  it('stops at the bound of events when the world never comes to rest', async () => {
    const kernel = makeKernel();
    const tick = (): void => void kernel.plan(0, 'tick', tick);
    tick();

    expect(await kernel.run({ eventsMax: 50 })).toBe('events');
  });

  it('ends with the error of an event that throws', async () => {
    const kernel = makeKernel();
    kernel.plan(1, 'broken', () => {
      throw new Error('broken');
    });

    await expect(kernel.run({ eventsMax: 10 })).rejects.toThrow('broken');
  });
});

describe('VirtualClock', () => {
  it('rejects a sleep with the reason of its signal and forgets its event', async () => {
    const kernel = makeKernel();
    const abort = new AbortController();
    const slept = expect(kernel.clock.sleep(1_000, abort.signal)).rejects.toThrow('enough');
    kernel.plan(3, 'abort', () => abort.abort(new Error('enough')));

    expect(await kernel.run({ eventsMax: 10 })).toBe('idle');

    await slept;
    expect(kernel.clock.monotonicMs()).toBe(3);
  });

  it('never fires a timer that was cancelled', async () => {
    const kernel = makeKernel();
    let fired = 0;
    const timer = kernel.clock.setTimer(5, () => fired++);
    kernel.clock.setTimer(1, () => timer.cancel());

    await kernel.run({ eventsMax: 10 });

    expect(fired).toBe(0);
  });

  it('gives a skewed wall clock of the same instant', async () => {
    const kernel = makeKernel();
    const skewed = kernel.clock.skewed(-250);
    kernel.plan(40, 'tick', () => undefined);

    await kernel.run({ eventsMax: 10 });

    expect(skewed.monotonicMs()).toBe(40);
    expect(skewed.wallMs()).toBe(WALL_START_MS + 40 - 250);
  });
});

describe('EventQueue', () => {
  it('hands out what was not cancelled by time, then by order of planning', () => {
    const step = fc.record({ atMs: fc.nat(9), isCancelled: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new EventQueue();
        const events = steps.map(({ atMs }, index) => queue.plan(atMs, String(index), () => undefined));
        for (const [index, { isCancelled }] of steps.entries()) if (isCancelled) events[index]?.cancel();
        const expected = steps
          .map(({ atMs, isCancelled }, index) => ({ atMs, isCancelled, label: String(index) }))
          .filter(({ isCancelled }) => !isCancelled)
          .sort((left, right) => left.atMs - right.atMs);

        expect(queue.size).toBe(expected.length);
        const popped: string[] = [];
        for (let event = queue.pop(); event !== undefined; event = queue.pop()) popped.push(event.label);

        expect(popped).toEqual(expected.map(({ label }) => label));
      }),
    );
  });

  it('keeps its count when an event is cancelled after it ran', () => {
    const queue = new EventQueue();
    const first = queue.plan(1, 'first', () => undefined);
    queue.plan(2, 'second', () => undefined);
    queue.pop();

    first.cancel();

    expect(queue.size).toBe(1);
    expect(queue.pop()?.label).toBe('second');
  });
});

describe('Digest', () => {
  it('is FNV-1a of 64 bits over the written bytes', () => {
    const reference = (bytes: Uint8Array): string => {
      let hash = 0xcbf29ce484222325n;
      for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
      return hash.toString(16).padStart(16, '0');
    };
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        const bytes = new Uint8Array(8);
        new DataView(bytes.buffer).setFloat64(0, value);
        expect(digestOf((digest) => digest.number(value))).toBe(reference(bytes));
      }),
    );
  });

  it('tells the order and the borders of what was written', () => {
    const ab = digestOf((digest) => (digest.text('a'), digest.text('b')));
    expect(digestOf((digest) => (digest.text('b'), digest.text('a')))).not.toBe(ab);
    expect(digestOf((digest) => (digest.text('ab'), digest.text('')))).not.toBe(ab);
  });
});

describe('SeededRandom', () => {
  it('gives the same draws for the same seed and others for another', () => {
    const draws = (seed: string): number[] => {
      const random = new SeededRandom(seed);
      return Array.from({ length: 20 }, () => random.uint32());
    };
    expect(draws('one')).toEqual(draws('one'));
    expect(draws('one')).not.toEqual(draws('two'));
  });

  it('forks by name alone, whatever was drawn before', () => {
    const untouched = new SeededRandom('seed').fork('eviction');
    const random = new SeededRandom('seed');
    random.uint32();
    random.fork('other').uint32();
    const forked = random.fork('eviction');

    expect(Array.from({ length: 5 }, () => forked.uint32())).toEqual(
      Array.from({ length: 5 }, () => untouched.uint32()),
    );
  });

  it('tells a fork of a fork from a fork whose name holds a slash', () => {
    const random = new SeededRandom('seed');
    expect(random.fork('a').fork('b').uint32()).not.toBe(random.fork('a/b').uint32());
  });

  it('spreads its draws evenly', () => {
    const random = new SeededRandom('even');
    const counts = new Array<number>(16).fill(0);
    for (let draw = 0; draw < 16_000; draw++) {
      const bucket = Math.floor(random.float() * 16);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    // Five standard deviations around 1,000.
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(155);
  });
});
