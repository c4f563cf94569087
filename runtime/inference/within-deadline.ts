import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';

/** `work`'s value, or undefined once the deadline passed or the signal was aborted; a later failure of `work` is swallowed. */
export function withinDeadline<T>(work: Promise<T>, options: CallOptions, clock: Clock): Promise<T | undefined> {
  return new Promise<T | undefined>((resolve, reject) => {
    const giveUp = (): void => {
      timer.cancel();
      options.signal?.removeEventListener('abort', giveUp);
      resolve(undefined);
    };
    const timer = clock.setTimer(Math.max(0, options.deadlineAtMs - clock.monotonicMs()), giveUp);
    options.signal?.addEventListener('abort', giveUp, { once: true });
    const settle = (): void => {
      timer.cancel();
      options.signal?.removeEventListener('abort', giveUp);
    };
    work.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
  });
}
