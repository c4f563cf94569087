import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { callAfter } from './call-after.ts';

const DAY_MS = 24 * 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('callAfter', () => {
  it.each([1, 50, DAY_MS, 30 * DAY_MS, 400 * DAY_MS])('calls back once after %s ms, not before', (ms) => {
    const callback = vi.fn();
    callAfter(ms, callback);
    vi.advanceTimersByTime(ms - 1);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is called off in any of its steps', () => {
    const callback = vi.fn();
    const callOff = callAfter(60 * DAY_MS, callback);
    vi.advanceTimersByTime(40 * DAY_MS);
    callOff();
    vi.advanceTimersByTime(40 * DAY_MS);
    expect(callback).not.toHaveBeenCalled();
  });
});
