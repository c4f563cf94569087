import { describe, expect, it } from 'vitest';
import { ModelError } from '../errors.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { UpstreamCall, neverSent } from './upstream-call.ts';

function failed(code: string, syscall?: string): Error {
  return Object.assign(new Error(code), { code }, syscall === undefined ? {} : { syscall });
}

describe('neverSent', () => {
  it.each([
    failed('ECONNREFUSED', 'connect'),
    failed('ECONNRESET', 'connect'),
    failed('ETIMEDOUT', 'connect'),
    failed('ENOTFOUND', 'getaddrinfo'),
    failed('UND_ERR_CONNECT_TIMEOUT'),
    Object.assign(new AggregateError([failed('ECONNREFUSED', 'connect'), failed('ENETUNREACH', 'connect')])),
  ])('is true for a failure to connect: $message', (error) => {
    expect(neverSent(error)).toBe(true);
  });

  it.each([
    failed('ECONNRESET', 'read'),
    failed('EPIPE', 'write'),
    failed('EHOSTUNREACH', 'read'),
    failed('UND_ERR_SOCKET'),
    failed('UND_ERR_ABORTED'),
    new AggregateError([failed('ECONNREFUSED', 'connect'), failed('ECONNRESET', 'read')]),
    new AggregateError([]),
    'a string',
  ])('is false where bytes may have left: %s', (error) => {
    expect(neverSent(error)).toBe(false);
  });
});

describe('UpstreamCall', () => {
  function setUp(signal = new AbortController().signal) {
    const clock = new ManualClock();
    let released = 0;
    const call = new UpstreamCall(
      clock,
      'test',
      { signal, deadlineAtMs: clock.monotonicMs() + 100 },
      () => (released += 1),
    );
    return { clock, call, released: () => released };
  }

  it('is stopped by its deadline', () => {
    const { call, clock } = setUp();
    clock.advance(100);
    expect([call.stopped, call.signal.aborted]).toEqual([true, true]);
    expect(call.failure(new Error('aborted')).code).toBe('model_timeout');
  });

  it('is stopped from the start by a signal that is aborted already', () => {
    const { call, clock } = setUp(AbortSignal.abort(new Error('why')));
    expect(call.failure(undefined)).toMatchObject({
      code: 'cancelled',
      cause: expect.objectContaining({ message: 'why' }) as Error,
    });
    expect(clock.timers).toBe(0);
  });

  it('keeps an error of ours', () => {
    const error = new ModelError('model_error', 'said so', { status: 400 });
    expect(setUp().call.failure(error)).toBe(error);
  });

  it('leaves neither timer nor listener behind', () => {
    const { call, clock, released } = setUp();
    call.finish();
    clock.advance(200);
    expect([clock.timers, call.stopped, released()]).toEqual([0, false, 1]);
  });
});
