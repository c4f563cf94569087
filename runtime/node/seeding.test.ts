import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { RepriseError } from '../errors.ts';
import { Seeding } from './seeding.ts';

const AWAY = new RepriseError('grid_unavailable', 'away');

describe('Seeding', () => {
  it('tries again, later each time, while the grid is away', async () => {
    const clock = new ManualClock();
    const triesAtMs: number[] = [];
    const seeding = new Seeding(clock, () => {
      triesAtMs.push(clock.monotonicMs());
      return triesAtMs.length < 4 ? Promise.reject(AWAY) : Promise.resolve();
    });
    const run = seeding.run();
    await clock.advanceAsync(60_000);
    await run;
    const gaps = triesAtMs.slice(1).map((at, index) => at - (triesAtMs[index] ?? 0));
    expect(gaps).toEqual([500, 1_000, 2_000]);
  });

  it('gives up after so many tries', async () => {
    const clock = new ManualClock();
    let tries = 0;
    const seeding = new Seeding(clock, () => {
      tries += 1;
      return Promise.reject(AWAY);
    });
    const run = seeding.run().catch((error: unknown) => error);
    await clock.advanceAsync(600_000);
    expect(await run).toBe(AWAY);
    expect(tries).toBe(10);
  });

  it('runs once more for what began during a run, and never two at a time', async () => {
    const clock = new ManualClock();
    let running = 0;
    let most = 0;
    let runs = 0;
    const seeding = new Seeding(clock, async () => {
      running += 1;
      runs += 1;
      most = Math.max(most, running);
      await clock.sleep(100);
      running -= 1;
    });
    const first = seeding.run();
    const others = [seeding.run(), seeding.run()];
    await clock.advanceAsync(1_000);
    await Promise.all([first, ...others]);
    expect([runs, most]).toEqual([2, 1]);
  });

  it('ends at a stop, without a failure', async () => {
    const clock = new ManualClock();
    const seeding = new Seeding(clock, () => Promise.reject(AWAY));
    const run = seeding.run();
    seeding.stop();
    await clock.advanceAsync(10_000);
    await expect(run).resolves.toBeUndefined();
  });
});
