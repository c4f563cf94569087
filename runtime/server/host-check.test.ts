import { describe, expect, it } from 'vitest';
import { HostCheck } from './host-check.ts';

describe('HostCheck', () => {
  it.each([
    'localhost',
    'localhost:8080',
    '127.0.0.1:8080',
    '[::1]:8080',
    'LOCALHOST:1',
    'api.localhost:8080',
    undefined,
  ])('accepts %s', (header) => {
    expect(new HostCheck([]).accepts(header)).toBe(true);
  });

  it.each([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '',
    'localhost:8080:1',
  ])('refuses %j, also when asked again', (header) => {
    const check = new HostCheck(['cache.internal']);
    expect([check.accepts(header), check.accepts(header)]).toEqual([false, false]);
  });

  it('accepts configured names in any case and with any port', () => {
    const check = new HostCheck(['Cache.internal']);
    expect([check.accepts('cache.INTERNAL:80'), check.accepts('cache.internal')]).toEqual([true, true]);
  });

  it('accepts anything where told so', () => {
    expect(new HostCheck(['*']).accepts('evil.example')).toBe(true);
  });
});
