import { integerIn } from '../kernel/seeded-random.ts';
import { Kernel } from '../kernel/kernel.ts';
import { drainMicrotasks } from './drain.ts';

const EVENTS_MAX = 5_000;
const WALKERS = 20;

/**
 * Digest of a small world made of everything that could go out of order: timers, sleeps, aborts, chains of promises and forked
 * randomness. For the kernel's own test, which compares two processes.
 */
export async function kernelDigest(seed: string): Promise<string> {
  const kernel = new Kernel({ seed, wallStartMs: 1_700_000_000_000, drain: drainMicrotasks });
  const walks = Array.from({ length: WALKERS }, (_, index) => walk(kernel, `walker ${index}`));
  const end = await kernel.run({ eventsMax: EVENTS_MAX });
  await Promise.all(walks);
  kernel.record('end', end, kernel.events, kernel.clock.wallMs());
  return kernel.digest;
}

async function walk(kernel: Kernel, name: string): Promise<void> {
  const random = kernel.random.fork(name);
  for (let step = 0; step < 20; step++) {
    const abort = new AbortController();
    const timer = kernel.clock.setTimer(integerIn(random, 0, 20), () => abort.abort(new Error('late')));
    try {
      await kernel.clock.sleep(integerIn(random, 0, 20), abort.signal);
      timer.cancel();
      for (let hop = integerIn(random, 0, 5); hop > 0; hop--) await Promise.resolve();
      kernel.record('arrived', name, step, kernel.clock.monotonicMs());
    } catch {
      kernel.record('late', name, step, kernel.clock.monotonicMs());
    }
  }
}
