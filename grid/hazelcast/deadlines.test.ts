import { beforeEach, describe, expect, it } from 'vitest';
import { type ErrorCode, RepriseError } from '../../runtime/errors.ts';
import type { CallOptions } from '../../runtime/ports/call-options.ts';
import { ManualClock } from '../conformance/manual-clock.ts';
import { Deadlines, type LiveCall } from './deadlines.ts';

let clock: ManualClock;
let deadlines: Deadlines;

beforeEach(() => {
  clock = new ManualClock();
  deadlines = new Deadlines(clock);
});

function within(ms: number, signal?: AbortSignal): CallOptions {
  const deadlineAtMs = clock.monotonicMs() + ms;
  return signal === undefined ? { deadlineAtMs } : { deadlineAtMs, signal };
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

async function codeOf(call: Promise<unknown>): Promise<ErrorCode | 'none' | 'bug'> {
  try {
    await call;
    return 'none';
  } catch (error) {
    return error instanceof RepriseError ? error.code : 'bug';
  }
}

describe('Deadlines', () => {
  it('end calls that are never answered, each at its time, by one timer', async () => {
    const ended: number[] = [];
    const startMs = clock.monotonicMs();
    for (const ms of [300, 100, 200, 100])
      void codeOf(deadlines.run(within(ms), never)).then(() => ended.push(clock.monotonicMs() - startMs));
    expect(clock.pendingTimers).toBe(1);
    await clock.advanceAsync(400);
    expect(ended).toEqual([100, 100, 200, 300]);
    expect([deadlines.size, clock.pendingTimers]).toEqual([0, 0]);
  });

  it('arm no new timer for calls that follow each other', async () => {
    for (let at = 0; at < 5; at += 1) await deadlines.run(within(100 + at), () => Promise.resolve());
    expect(clock.pendingTimers).toBe(1);
  });

  it('tell the work that nobody waits for it any more', async () => {
    let seen: LiveCall | undefined;
    const code = codeOf(
      deadlines.run(within(50), (call) => {
        seen = call;
        return never();
      }),
    );
    expect(seen?.live).toBe(true);
    await clock.advanceAsync(50);
    expect([await code, seen?.live]).toEqual(['grid_timeout', false]);
  });

  it('end a call by its signal, and let go of it', async () => {
    const controller = new AbortController();
    const code = codeOf(deadlines.run(within(50, controller.signal), never));
    controller.abort();
    expect(await code).toBe('cancelled');
    expect(deadlines.size).toBe(0);
  });

  it('do not begin what is past, cancelled or closed', async () => {
    let begun = 0;
    const work = (): Promise<void> => {
      begun += 1;
      return Promise.resolve();
    };
    expect(await codeOf(deadlines.run(within(0), work))).toBe('grid_timeout');
    expect(await codeOf(deadlines.run(within(50, AbortSignal.abort()), work))).toBe('cancelled');
    deadlines.close();
    expect(await codeOf(deadlines.run(within(50), work))).toBe('grid_unavailable');
    expect(begun).toBe(0);
  });

  it('fail calls under way when they are closed', async () => {
    const code = codeOf(deadlines.run(within(50), never));
    deadlines.close();
    expect(await code).toBe('grid_unavailable');
    expect(clock.pendingTimers).toBe(0);
  });

  it('make failures of the client ours, and leave bugs as they are', async () => {
    class TargetDisconnectedError extends Error {}
    class OperationTimeoutError extends Error {}
    const fail = (error: Error): Promise<unknown> => codeOf(deadlines.run(within(50), () => Promise.reject(error)));
    expect(await fail(new TargetDisconnectedError('gone'))).toBe('grid_unavailable');
    expect(await fail(new OperationTimeoutError('late'))).toBe('grid_timeout');
    expect(await fail(new TypeError('a bug'))).toBe('bug');
    expect(
      await codeOf(
        deadlines.run(within(50), () => {
          throw new TypeError('a bug');
        }),
      ),
    ).toBe('bug');
  });
});
