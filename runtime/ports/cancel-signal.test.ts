import { describe, expect, it } from 'vitest';
import { CancelSignal, NEVER_CANCELLED } from './cancel-signal.ts';

/** The same scenes on the platform's own signal and on ours. */
const KINDS: readonly [string, () => { signal: AbortSignal; abort: (reason?: unknown) => void }][] = [
  [
    'AbortSignal',
    () => {
      const controller = new AbortController();
      return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
    },
  ],
  [
    'CancelSignal',
    () => {
      const signal = new CancelSignal();
      return { signal, abort: (reason) => signal.cancel(reason) };
    },
  ],
];

describe.each(KINDS)('%s', (_name, make) => {
  it('is not aborted until it is, then says why', () => {
    const { signal, abort } = make();
    expect([signal.aborted, signal.reason]).toEqual([false, undefined]);
    signal.throwIfAborted();
    const reason = new Error('Enough.');
    abort(reason);
    expect([signal.aborted, signal.reason]).toEqual([true, reason]);
    expect(() => signal.throwIfAborted()).toThrow(reason);
  });

  it('has an AbortError of its own when told no reason', () => {
    const { signal, abort } = make();
    abort();
    expect((signal.reason as DOMException).name).toBe('AbortError');
  });

  it('tells each listener once, in order, and keeps the first reason', () => {
    const { signal, abort } = make();
    const told: string[] = [];
    const first = (): void => void told.push('first');
    signal.onabort = () => void told.push('onabort');
    signal.addEventListener('abort', first);
    signal.addEventListener('abort', first);
    signal.addEventListener('abort', { handleEvent: ({ type }) => void told.push(type) });
    signal.addEventListener('other', () => void told.push('other'));
    abort('one');
    abort('two');
    expect([told.toSorted(), signal.reason]).toEqual([['abort', 'first', 'onabort'], 'one']);
  });

  it('tells nobody who left, or came too late', () => {
    const { signal, abort } = make();
    const told: string[] = [];
    const leaver = (): void => void told.push('leaver');
    const leaving = new AbortController();
    signal.addEventListener('abort', leaver);
    signal.addEventListener('abort', () => void told.push('left by its signal'), { signal: leaving.signal });
    signal.addEventListener('abort', () => void told.push('stays'));
    signal.removeEventListener('abort', leaver);
    leaving.abort();
    abort();
    signal.addEventListener('abort', () => void told.push('late'));
    expect(told).toEqual(['stays']);
  });

  it('shows itself as the target of its event', () => {
    const { signal, abort } = make();
    let reason: unknown;
    signal.addEventListener('abort', ({ target }) => (reason = (target as AbortSignal).reason));
    abort('why');
    expect(reason).toBe('why');
  });

  it('takes no listener whose own signal is aborted already, and leaves that signal when it is over', () => {
    const { signal, abort } = make();
    let told = 0;
    const gone = new AbortController();
    gone.abort();
    signal.addEventListener('abort', () => (told += 1), { signal: gone.signal });
    abort();
    expect(told).toBe(0);
  });

  it('does not tell a listener that another one removed meanwhile', () => {
    const { signal, abort } = make();
    let told = 0;
    const second = (): void => void (told += 1);
    signal.addEventListener('abort', () => signal.removeEventListener('abort', second));
    signal.addEventListener('abort', second);
    abort();
    expect(told).toBe(0);
  });
});

describe('CancelSignal', () => {
  it('leaves nothing behind on the signals that would have removed its listeners', () => {
    const outer = new CancelSignal();
    let added = 0;
    const add = outer.addEventListener.bind(outer);
    const remove = outer.removeEventListener.bind(outer);
    outer.addEventListener = (...args) => {
      added += 1;
      add(...args);
    };
    outer.removeEventListener = (...args) => {
      added -= 1;
      remove(...args);
    };
    const cancelled = new CancelSignal();
    cancelled.addEventListener('abort', () => undefined, { signal: outer });
    cancelled.cancel();
    const left = new CancelSignal();
    const listener = (): void => undefined;
    left.addEventListener('abort', listener, { signal: outer });
    left.removeEventListener('abort', listener);
    expect(added).toBe(0);
  });
});

describe('NEVER_CANCELLED', () => {
  it('cannot be aborted and keeps no listeners', () => {
    let told = 0;
    NEVER_CANCELLED.addEventListener('abort', () => (told += 1));
    (NEVER_CANCELLED as CancelSignal).cancel();
    NEVER_CANCELLED.dispatchEvent(new Event('abort'));
    expect([NEVER_CANCELLED.aborted, told]).toEqual([false, 0]);
  });
});
