import { describe, expect, it } from 'vitest';
import { ManualClock } from './manual-clock.ts';

describe('ManualClock', () => {
  it('moves only when it is told to, both readings alike', () => {
    const clock = new ManualClock({ monotonicMs: 5, wallMs: 100 });
    clock.advance(10);
    expect([clock.monotonicMs(), clock.wallMs()]).toEqual([15, 110]);
  });

  it('steps the wall clock alone', () => {
    const clock = new ManualClock({ monotonicMs: 5, wallMs: 100 });
    clock.stepWall(-50);
    expect([clock.monotonicMs(), clock.wallMs()]).toEqual([5, 50]);
  });

  it('fires timers in the order of their times, each at its time, also those set by others', () => {
    const clock = new ManualClock({ monotonicMs: 0 });
    const fired: string[] = [];
    const note = (name: string): void => void fired.push(`${name}@${clock.monotonicMs()}`);
    clock.setTimer(30, () => note('c'));
    clock.setTimer(10, () => {
      note('a');
      clock.setTimer(10, () => note('b'));
    });
    clock.setTimer(40, () => note('late'));
    clock.advance(35);
    expect(fired).toEqual(['a@10', 'b@20', 'c@30']);
    expect(clock.pendingTimers).toBe(1);
  });

  it('fires no cancelled timer', () => {
    const clock = new ManualClock();
    clock.setTimer(10, () => expect.unreachable()).cancel();
    clock.advance(20);
    expect(clock.pendingTimers).toBe(0);
  });

  it('wakes a loop of sleeps as often as time allows', async () => {
    const clock = new ManualClock();
    let woken = 0;
    const loop = async (): Promise<void> => {
      for (; woken < 3; woken += 1) await clock.sleep(100);
    };
    const looped = loop();
    await clock.advanceAsync(300);
    await looped;
    expect(woken).toBe(3);
  });

  it('rejects a sleep with the reason of its signal, and leaves no timer', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const sleep = clock.sleep(100, controller.signal);
    controller.abort(new Error('enough'));
    await expect(sleep).rejects.toThrow('enough');
    expect(clock.pendingTimers).toBe(0);
  });
});
