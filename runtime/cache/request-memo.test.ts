import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestFacts } from './canonical-request.ts';
import { RequestMemo } from './request-memo.ts';

function facts(askedText: string): RequestFacts {
  return {
    operation: 'chat.completions',
    askedModel: 'm',
    model: 'm',
    bodyHash: 'b'.repeat(64),
    scopeBodyHash: '',
    askedText,
    stream: false,
    includeUsage: false,
    unseededSampling: true,
    bypassField: '',
    bodyControls: {},
    choices: 1,
  };
}

describe('RequestMemo', () => {
  it('gives back the facts of the same body, operation and namespace', () => {
    const memo = new RequestMemo({ bytesMax: 64 * 1024 });
    memo.put('h', 'completions', 'ns', facts('hello'));
    expect(memo.get('h', 'completions', 'ns')?.facts).toEqual(facts('hello'));
  });

  it.each([
    ['h2', 'completions', 'ns'],
    ['h', 'chat.completions', 'ns'],
    ['h', 'completions', 'other'],
    ['h', 'completions', ''],
  ])('knows nothing of (%s, %s, %s)', (hash, operation, namespace) => {
    const memo = new RequestMemo({ bytesMax: 64 * 1024 });
    memo.put('h', 'completions', 'ns', facts('hello'));
    expect(memo.get(hash, operation, namespace)).toBeUndefined();
  });

  it('forgets the oldest first, but for those that were asked for again', () => {
    const memo = new RequestMemo({ bytesMax: 16 * 1024 });
    memo.put('1', 'completions', '', facts(''));
    const fitting = Math.floor((16 * 1024) / memo.bytes);
    for (let i = 2; i <= fitting; i++) memo.put(String(i), 'completions', '', facts(''));
    memo.get('1', 'completions', '');
    memo.put('new', 'completions', '', facts(''));
    expect(memo.get('1', 'completions', '')).toBeDefined();
    expect(memo.get('2', 'completions', '')).toBeUndefined();
  });

  it('makes room where all were asked for again', () => {
    const memo = new RequestMemo({ bytesMax: 16 * 1024 });
    memo.put('1', 'completions', '', facts(''));
    const fitting = Math.floor((16 * 1024) / memo.bytes);
    for (let i = 2; i <= fitting; i++) memo.put(String(i), 'completions', '', facts(''));
    for (let i = 1; i <= fitting; i++) memo.get(String(i), 'completions', '');
    memo.put('new', 'completions', '', facts(''));
    expect(memo.get('new', 'completions', '')).toBeDefined();
    expect(memo.size).toBe(fitting);
  });

  it('does not keep facts that would fill it', () => {
    const memo = new RequestMemo({ bytesMax: 16 * 1024 });
    memo.put('h', 'completions', '', facts('x'.repeat(8_000)));
    expect(memo.size).toBe(0);
  });

  it('keeps nothing when its bound is 0', () => {
    const memo = new RequestMemo({ bytesMax: 0 });
    memo.put('h', 'completions', '', facts(''));
    expect(memo.get('h', 'completions', '')).toBeUndefined();
  });

  it('is empty after clear', () => {
    const memo = new RequestMemo({ bytesMax: 16 * 1024 });
    memo.put('h', 'completions', '', facts(''));
    memo.clear();
    expect({ size: memo.size, bytes: memo.bytes, found: memo.get('h', 'completions', '') }).toEqual({
      size: 0,
      bytes: 0,
      found: undefined,
    });
  });

  it('never exceeds its bound and charges what it holds', () => {
    const put = fc.record({
      key: fc.integer({ min: 0, max: 12 }).map(String),
      length: fc.integer({ max: 900, min: 0 }),
    });
    fc.assert(
      fc.property(fc.array(put, { maxLength: 60 }), (puts) => {
        const memo = new RequestMemo({ bytesMax: 16 * 1024 });
        for (const { key, length } of puts) {
          memo.put(key, 'completions', '', facts('x'.repeat(length)));
          expect(memo.bytes).toBeLessThanOrEqual(16 * 1024);
          expect(memo.get(key, 'completions', '')?.facts.askedText.length ?? length).toBe(length);
        }
        expect(memo.bytes > 0).toBe(memo.size > 0);
      }),
    );
  });
});
