import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asksForStream, repeatedMember, topLevelMember } from './member-scan.ts';

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

describe('repeatedMember', () => {
  it.each([
    ['{"tag":"a","tag":"b"}', 'tag'],
    ['{"tag" : {} , "t\\u0061g": 1}', 'tag'],
    ['{"a":[1,{"b":{"c":1,"d":"c","c":2}}]}', 'a[1].b.c'],
    ['[{"a":1},{"a":1,"b":[{}],"a":1}]', '[1].a'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"a":{"b":1},"b":{"a":1},"c":["a","a"],"d":"\\",\\"a\\":1"}', undefined],
    ['"a"', undefined],
  ])('%s: %s', (text, expected) => {
    expect(repeatedMember(bytesOf(text))).toBe(expected);
  });

  it('finds none in what was written from an object', () => {
    fc.assert(
      fc.property(document, indent, (parsed, space) => {
        expect(repeatedMember(bytesOf(JSON.stringify(parsed, null, space)))).toBeUndefined();
      }),
    );
  });

  it('finds a member that is put in a second time, anywhere', () => {
    fc.assert(
      fc.property(document, indent, fc.nat(), (parsed, space, pick) => {
        const text = JSON.stringify({ outer: [parsed, { a: 1 }] }, null, space);
        const opened = [...text.matchAll(/\{(?=\s*"(?:a|outer)"\s*:)/gu)];
        const at = opened[pick % opened.length]?.index ?? 0;
        const name = /"(a|outer)"/u.exec(text.slice(at))?.[1] ?? '';
        const doubled = `${text.slice(0, at + 1)}"${name}":0,${text.slice(at + 1)}`;
        // Where the place lies within a string, nothing was doubled.
        let isJson = true;
        try {
          JSON.parse(doubled);
        } catch {
          isJson = false;
        }
        if (isJson) expect(repeatedMember(bytesOf(doubled))?.endsWith(name)).toBe(true);
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
