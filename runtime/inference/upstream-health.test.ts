import { describe, expect, it } from 'vitest';
import { UpstreamHealth } from './upstream-health.ts';

function noted(...results: readonly string[]): UpstreamHealth {
  const health = new UpstreamHealth();
  for (const [at, result] of results.entries()) health.note('one', result, at);
  return health;
}

describe('UpstreamHealth', () => {
  it('names an upstream after three failures in a row, with the first one’s time and the last one’s code', () => {
    expect(noted('ok', 'model_timeout', 'model_unavailable', 'model_unavailable').failing).toEqual([
      { upstream: 'one', code: 'model_unavailable', failures: 3, sinceMs: 1 },
    ]);
  });

  it.each([
    ['two failures', ['model_timeout', 'model_timeout']],
    ['failures with an answer between them', ['model_timeout', 'model_timeout', 'ok', 'model_timeout']],
    ['refusals of requests', ['model_error', 'model_error', 'model_error']],
    ['callers that left', ['cancelled', 'cancelled', 'cancelled']],
  ])('names none after %s', (_, results) => {
    expect(noted(...results).failing).toEqual([]);
  });

  it('isn’t told well by a caller that left', () => {
    expect(noted('model_timeout', 'model_timeout', 'model_timeout', 'cancelled').failing).toHaveLength(1);
  });

  it('keeps upstreams apart', () => {
    const health = noted('model_timeout', 'model_timeout', 'model_timeout');
    health.note('two', 'ok', 9);
    expect(health.failing.map(({ upstream }) => upstream)).toEqual(['one']);
  });
});
