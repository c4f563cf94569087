import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasCode } from '../../runtime/errors.ts';
import { TTL_MS_MAX } from '../../runtime/ports/names.ts';
import { CONTROL_FIELDS, NO_CONTROLS, checkedControls, controlsFromHeaders } from './controls.ts';

function refusedParam(action: () => unknown): string | undefined {
  try {
    action();
  } catch (error) {
    if (hasCode(error, 'invalid_control')) return error.param;
    throw error;
  }
  return undefined;
}

describe('controlsFromHeaders', () => {
  it('asks for nothing without a control header', () => {
    expect(controlsFromHeaders({ 'content-type': 'application/json' })).toBe(NO_CONTROLS);
  });

  it('reads every control', () => {
    const controls = controlsFromHeaders({
      'cache-control': 'no-cache, no-store, max-age=60, only-if-cached',
      'x-reprise-ttl': '90',
      'x-reprise-namespace': 'triage',
      'x-reprise-domain': 'medication',
      'x-reprise-threshold': '0.95',
      'x-reprise-tags': 'b, a,b',
      'x-reprise-bucket': '3',
    });

    expect(controls).toEqual({
      namespace: 'triage',
      domain: 'medication',
      bucket: 3,
      tags: ['a', 'b'],
      ttlMs: 90_000,
      maxAgeMs: 60_000,
      threshold: 0.95,
      noCache: true,
      noStore: true,
      onlyIfCached: true,
    });
  });

  it.each([
    ['max-age="60"', { maxAgeMs: 60_000 }],
    ['MAX-AGE = 5 ,, No-Cache', { maxAgeMs: 5_000, noCache: true }],
    ['max-age=0', { maxAgeMs: 0 }],
    ['max-age=60, max-age=5', { maxAgeMs: 5_000 }],
    ['max-age=99999999999999999999', { maxAgeMs: TTL_MS_MAX }],
    ['no-cache="a, b", x="max-age=1, no-store"', { noCache: true }],
    ['private="\\"no-store", only-if-cached', { onlyIfCached: true }],
    ['min-fresh=abc, stale-if-error', {}],
    ['x="never closed, no-store', {}],
    ['', {}],
  ])('obeys cache-control: %s', (header, expected) => {
    expect(controlsFromHeaders({ 'cache-control': header })).toEqual(expected);
  });

  it.each(['max-age', 'max-age=', 'max-age=abc', 'max-age=-1', 'max-age=1.5', 'max-age=1s', 'max-age="6'])(
    'refuses cache-control: %s',
    (header) => {
      expect(refusedParam(() => controlsFromHeaders({ 'cache-control': header }))).toBe('cache-control');
    },
  );

  it.each([
    ['1', 1_000],
    ['500ms', 500],
    ['30s', 30_000],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
  ])('takes x-reprise-ttl: %s', (text, ttlMs) => {
    expect(controlsFromHeaders({ 'x-reprise-ttl': text })).toEqual({ ttlMs });
  });

  it.each(['0', '0ms', '-1', '1.5', '5 parsecs', '', '1e3', '999999999999999d', '10, 20'])(
    'refuses x-reprise-ttl: %s',
    (text) => {
      expect(refusedParam(() => controlsFromHeaders({ 'x-reprise-ttl': text }))).toBe('x-reprise-ttl');
    },
  );

  it.each([
    ['x-reprise-namespace', 'a b'],
    ['x-reprise-namespace', ''],
    ['x-reprise-namespace', 'a/b'],
    ['x-reprise-domain', 'x'.repeat(129)],
    ['x-reprise-threshold', '1.01'],
    ['x-reprise-threshold', '-0.5'],
    ['x-reprise-threshold', 'NaN'],
    ['x-reprise-threshold', '0x1'],
    ['x-reprise-threshold', ''],
    ['x-reprise-bucket', '-1'],
    ['x-reprise-bucket', '1.5'],
    ['x-reprise-bucket', '70000'],
    ['x-reprise-tags', 'ok,not ok'],
    ['x-reprise-tags', Array.from({ length: 17 }, (_, index) => `t${index}`).join(',')],
  ])('refuses %s: %s', (name, value) => {
    expect(refusedParam(() => controlsFromHeaders({ [name]: value }))).toBe(name);
  });

  it('refuses a control that is sent twice', () => {
    expect(refusedParam(() => controlsFromHeaders({ 'x-reprise-namespace': ['a', 'b'] }))).toBe('x-reprise-namespace');
  });

  it('gives checked controls or invalid_control for any header text', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[a-z0-9=", .;\\-]{0,40}$/));
    const names = ['cache-control', 'x-reprise-ttl', 'x-reprise-tags', 'x-reprise-threshold', 'x-reprise-bucket'];
    fc.assert(
      fc.property(fc.constantFrom(...names), text, (name, value) => {
        let controls;
        try {
          controls = controlsFromHeaders({ [name]: value });
        } catch (error) {
          return hasCode(error, 'invalid_control');
        }
        const { ttlMs, maxAgeMs, threshold, bucket } = controls;
        return (
          (ttlMs === undefined || ttlMs > 0) &&
          (maxAgeMs === undefined || maxAgeMs >= 0) &&
          (threshold === undefined || (threshold >= 0 && threshold <= 1)) &&
          (bucket === undefined || Number.isInteger(bucket))
        );
      }),
    );
  });
});

describe('checkedControls', () => {
  it('names the field as its caller spells it', () => {
    expect(refusedParam(() => checkedControls({ ttlMs: 0 }, CONTROL_FIELDS))).toBe('ttl_ms');
  });

  it.each([{ ttlMs: NaN }, { ttlMs: -1 }, { maxAgeMs: -1 }, { threshold: NaN }, { bucket: 1.5 }, { tags: ['a b'] }])(
    'refuses %o',
    (fields) => {
      expect(refusedParam(() => checkedControls(fields))).toBeDefined();
    },
  );

  it('leaves out what is absent or false', () => {
    expect(checkedControls({ noCache: false, tags: [], namespace: undefined })).toEqual({});
  });
});
