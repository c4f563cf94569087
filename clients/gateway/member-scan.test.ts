import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asksForStream, topLevelMember } from './member-scan.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const NAMES = fc.constantFrom('stream', 'a', '"stream', 'stream"', 'stream_options', '\\', 'body', '{', '');
const { document } = fc.letrec((tie) => ({
  document: fc.dictionary(NAMES, tie('value'), { maxKeys: 6, noNullPrototype: true }),
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(true, false, null, 1, -0.5, 'true', '"stream":true}', '\\"', '}', ','),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('document'),
  ),
}));
const indent = fc.constantFrom(0, 1, '\t', '\r\n ');

describe('asksForStream', () => {
  it('says what a parse of the body says', () => {
    fc.assert(
      fc.property(document, indent, (parsed, space) => {
        const text = JSON.stringify(parsed, null, space);
        const { stream } = JSON.parse(text) as { stream?: unknown };
        return asksForStream(bytesOf(text)) === (stream === true);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['{"stream":true}', true],
    ['{"messages":[{"content":"long"}],"stream" : true , "stream_options":{"include_usage":true}}', true],
    ['{"a":{"stream":true}}', false],
    ['{"a":1,"b":{"stream":true}}', false],
    ['{"stream":false,"a":"\\"stream\\":true"}', false],
    ['{"stream":true,"b":[{"stream":false}]}', true],
    ['[{"stream":true}]', false],
    ['"stream"', false],
    ['{"stream"', false],
    ['{"stream":', false],
    ['', false],
  ])('%s: %s', (text, expected) => {
    expect(asksForStream(bytesOf(text))).toBe(expected);
  });

  it('survives any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 40 }), (before, after) => {
        const body = Buffer.concat([before, Buffer.from('"stream":true'), after]);
        return typeof asksForStream(body) === 'boolean';
      }),
    );
  });
});

describe('topLevelMember', () => {
  it('gives the bytes of the value', () => {
    fc.assert(
      fc.property(document, indent, (parsed, space) => {
        const text = JSON.stringify(parsed, null, space);
        const bytes = bytesOf(text);
        const range = topLevelMember(bytes, bytesOf('body'));
        if (range === undefined) return !Object.hasOwn(parsed as object, 'body');
        const value: unknown = JSON.parse(Buffer.from(bytes.subarray(range.start, range.end)).toString());
        return JSON.stringify(value) === JSON.stringify((parsed as { body: unknown }).body);
      }),
    );
  });
});
