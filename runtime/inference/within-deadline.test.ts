import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../grid/conformance/manual-clock.ts';
import { withinDeadline } from './within-deadline.ts';

describe('work within a deadline', () => {
  const start = (signal?: AbortSignal) => {
    const clock = new ManualClock();
    let settle: { resolve: (value: string) => void; reject: (error: Error) => void } | undefined;
    const work = new Promise<string>((resolve, reject) => {
      settle = { resolve, reject };
    });
    const options = { deadlineAtMs: clock.monotonicMs() + 50, ...(signal === undefined ? {} : { signal }) };
    return { clock, done: withinDeadline(work, options, clock), settle: settle! };
  };

  it('gives its value, and leaves no timer', async () => {
    const { clock, done, settle } = start();
    settle.resolve('value');
    expect(await done).toBe('value');
    expect(clock.pendingTimers).toBe(0);
  });

  it('is given up at the deadline; what becomes of it later concerns nobody', async () => {
    const { clock, done, settle } = start();
    clock.advance(50);
    expect(await done).toBeUndefined();
    settle.reject(new Error('late'));
    await new Promise(setImmediate);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is given up when the caller leaves', async () => {
    const leaving = new AbortController();
    const { clock, done } = start(leaving.signal);
    leaving.abort();
    expect(await done).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });

  it('fails as it fails', async () => {
    const { done, settle } = start();
    settle.reject(new Error('broken'));
    await expect(done).rejects.toThrow('broken');
  });
});
