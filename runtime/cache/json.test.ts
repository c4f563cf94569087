import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RepriseError } from '../errors.ts';
import { canonicalJson, fromPlain, JsonNumber, type JsonValue, parseJson, stringifyJson } from './json.ts';

const encoder = new TextEncoder();

function parse(text: string, depthMax = 256): JsonValue {
  return parseJson(encoder.encode(text), { depthMax });
}

function failure(run: () => unknown): { code: string; param: string | undefined } {
  try {
    run();
  } catch (error) {
    if (error instanceof RepriseError) return { code: error.code, param: error.param };
    throw error;
  }
  return { code: 'none', param: undefined };
}

function canonical(text: string): string {
  return canonicalJson(parse(text));
}

describe('parseJson', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const expected: unknown = JSON.parse(text);
        expect(canonicalJson(parse(text))).toBe(canonicalJson(fromPlain(expected)));
      }),
    );
  });

  it('accepts and refuses the same texts as JSON.parse, but for its own stricter rules', () => {
    const tokens = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      'b',
      '1',
      '-',
      '0',
      '.',
      'e',
      '+',
      'true',
      ' ',
      '\n',
    ];
    const token = fc.constantFrom(...tokens);
    fc.assert(
      fc.property(fc.array(token, { minLength: 1, maxLength: 12 }), (drawn) => {
        const text = drawn.join('');
        const { code } = failure(() => parse(text));
        let native = true;
        try {
          JSON.parse(text);
        } catch {
          native = false;
        }
        if (code === 'duplicate_member') expect(native).toBe(true);
        else expect({ text, ok: code === 'none' }).toEqual({ text, ok: native });
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ['', 'empty_body'],
    ['   ', 'invalid_json'],
    ['\ufeff{}', 'invalid_json'],
    ['{"a":1,}', 'invalid_json'],
    ['[1,]', 'invalid_json'],
    ['{"a" 1}', 'invalid_json'],
    ['"abc', 'invalid_json'],
    ['"\\', 'invalid_json'],
    ['"\\x"', 'invalid_json'],
    ['"\\u12g4"', 'invalid_json'],
    ['01', 'invalid_json'],
    ['1.', 'invalid_json'],
    ['.5', 'invalid_json'],
    ['+1', 'invalid_json'],
    ['1e', 'invalid_json'],
    ['NaN', 'invalid_json'],
    ['{} {}', 'invalid_json'],
    ['"a\tb"', 'invalid_json'],
    ['"a\\n\tb"', 'invalid_json'],
    ['{"a\nb":1}', 'invalid_json'],
    ['"\\ud800"', 'invalid_unicode'],
    ['"\\udc00"', 'invalid_unicode'],
    ['"\\ud800\\u0041"', 'invalid_unicode'],
    ['"\\ud800\\ud800"', 'invalid_unicode'],
    ['1e9999999999999999999', 'invalid_json'],
  ])('refuses %j with %s', (text, code) => {
    expect(failure(() => parse(text)).code).toBe(code);
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(failure(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22), { depthMax: 8 })).code).toBe('invalid_unicode');
  });

  it('refuses a surrogate in raw bytes', () => {
    const raw = Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22);
    expect(failure(() => parseJson(raw, { depthMax: 8 })).code).toBe('invalid_unicode');
  });

  it('keeps escaped halves of surrogate pairs when told to', () => {
    const value = parseJson(encoder.encode('"x\\ud83d"'), { depthMax: 8, loneSurrogates: 'keep' });
    expect(value).toBe('x\ud83d');
  });

  it('joins an escaped surrogate pair', () => {
    expect(parse('"\\ud83d\\ude00\\u0041\\/"')).toBe('😀A/');
  });

  it.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"m":[{"x":1},{"c":{"d":1,"d":2}}]}', 'm[1].c.d'],
    ['[{"a":1,"\\u0061":2}]', '[0].a'],
  ])('names the member that appears twice in %s', (text, param) => {
    expect(failure(() => parse(text))).toEqual({ code: 'duplicate_member', param });
  });

  it('reads up to the depth bound and not beyond', () => {
    expect(failure(() => parse('['.repeat(16) + ']'.repeat(16), 16)).code).toBe('none');
    expect(failure(() => parse('['.repeat(17) + ']'.repeat(17), 16)).code).toBe('json_too_deep');
  });

  it('refuses more than its ceiling, whatever the bound', () => {
    expect(failure(() => parse('['.repeat(1_025) + ']'.repeat(1_025), 1_000_000)).code).toBe('json_too_deep');
  });

  it('refuses a text nested a million deep without exhausting the stack', () => {
    expect(failure(() => parse('[{"a":'.repeat(500_000), 256)).code).toBe('json_too_deep');
  });

  it('reads, writes and canonicalises the deepest nesting that it admits', () => {
    const text = '[{"a":'.repeat(512) + '1' + '}]'.repeat(512);
    const value = parse(text, 1_024);
    expect(stringifyJson(value)).toBe(text);
    expect(canonicalJson(value).length).toBeGreaterThan(2_000);
  });

  it('treats __proto__ as an ordinary member', () => {
    const value = parse('{"__proto__":{"polluted":true}}');
    expect(value instanceof Map && value.get('__proto__')).toEqual(new Map([['polluted', true]]));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('checks every byte for control characters at any alignment', () => {
    for (let offset = 0; offset < 4; offset++) {
      for (let at = 1; at < 12; at++) {
        const bytes = new Uint8Array(offset + 13).fill(0x78).subarray(offset);
        bytes[0] = 0x22;
        bytes[12] = 0x22;
        bytes[at] = 0x1f;
        expect(failure(() => parseJson(bytes, { depthMax: 4 })).code).toBe('invalid_json');
      }
    }
  });
});

describe('numbers', () => {
  it.each([
    ['1', '1.0'],
    ['1', '1e0'],
    ['1', '10e-1'],
    ['0.1', '0.10'],
    ['0', '-0'],
    ['0', '0e999999999'],
    ['0', '-0.000E5'],
    ['100', '1E+2'],
    ['1e21', '1000000000000000000000'],
    ['9007199254740993', '9007199254740993.0'],
    ['9007199254740993', '9007199254740.993e3'],
    ['1e999999999', '10e999999998'],
    ['0.1000000000000000055', '1000000000000000055e-19'],
  ])('%s and %s are one value', (a, b) => {
    expect(canonical(a)).toBe(canonical(b));
  });

  it.each([
    ['9007199254740993', '9007199254740992'],
    ['0.1', '0.1000000000000000055'],
    ['1e999999999', '1e999999998'],
    ['1e400', '1e401'],
    ['1e-400', '0'],
    ['1e-400', '1e-401'],
    ['1', '-1'],
    ['18446744073709551615', '18446744073709551616'],
  ])('%s and %s are two values', (a, b) => {
    expect(canonical(a)).not.toBe(canonical(b));
  });

  it('is a double where that says the same, and keeps its spelling where it does not', () => {
    expect(parse('[1.50,1e2]')).toEqual([1.5, 100]);
    expect(parse('12345678901234567890')).toEqual(new JsonNumber('12345678901234567890'));
    expect(stringifyJson(parse('[12345678901234567890, 1e400]'))).toBe('[12345678901234567890,1e400]');
  });

  it('canonical texts are equal exactly when exact values are', () => {
    const spelled = fc.tuple(fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }), fc.integer({ min: -6, max: 6 }));
    const exact = ([digits, exponent]: readonly [bigint, number]): bigint => digits * 10n ** BigInt(exponent + 6);
    const near = spelled.chain(([digits, exponent]) =>
      fc.tuple(fc.constant([digits, exponent] as const), fc.constantFrom(0n, 1n, -1n), fc.integer({ min: 0, max: 3 })),
    );
    fc.assert(
      fc.property(near, ([[digits, exponent], step, shift]) => {
        const a = [digits, exponent] as const;
        const b = [(digits + step) * 10n ** BigInt(shift), exponent - shift] as const;
        fc.pre(b[1] >= -6);
        const same = canonical(`${a[0]}e${a[1]}`) === canonical(`${b[0]}e${b[1]}`);
        expect(same).toBe(exact(a) === exact(b));
      }),
      { numRuns: 2_000 },
    );
  });

  it('every finite double survives writing and reading', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(parse(stringifyJson(value))).toBe(value === 0 ? 0 : value);
      }),
    );
  });
});

describe('stringifyJson', () => {
  it('is undone by parseJson, member order included', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (plain) => {
        const text = JSON.stringify(plain);
        expect(stringifyJson(parse(text))).toBe(stringifyJson(fromPlain(JSON.parse(text))));
        expect(JSON.parse(stringifyJson(parse(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('escapes member names', () => {
    expect(stringifyJson(parse('{"a\\"\\n\\\\":1,"é":2}'))).toBe('{"a\\"\\n\\\\":1,"é":2}');
  });
});

describe('canonicalJson', () => {
  it('sorts members by UTF-16 code units', () => {
    expect(canonical('{"b":1,"a":2,"é":3,"😀":4,"":5}')).toBe('{0:5,1:a2,1:b1,1:é3,2:😀4}');
  });

  it('is as docs/keys.md says', () => {
    expect(canonical('{"b":[1.0,"x"],"a":null}')).toBe('{1:anull,1:b[1,1:x]}');
  });

  it('cannot be forged by text that looks like structure', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (a, b) => {
        expect(canonicalJson(a) === canonicalJson(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
    expect(canonical('["a","b"]')).not.toBe(canonical('["a,1:b"]'));
    expect(canonical('"1"')).not.toBe(canonical('1'));
  });

  it('maps string values and leaves member names alone', () => {
    expect(canonicalJson(parse('{"a":["a",1]}'), () => 'X')).toBe('{1:a[1:X,1]}');
  });
});

describe('fromPlain', () => {
  it.each([[undefined], [Number.NaN], [1n], [() => 1], [new Date(0)], [new Map()], ['\ud800'], [{ '\udc00': 1 }]])(
    'refuses %s',
    (value) => {
      expect(failure(() => fromPlain(value)).code).toBe('config_invalid');
    },
  );

  it('refuses a value that contains itself', () => {
    const loop: unknown[] = [];
    loop.push(loop);
    expect(failure(() => fromPlain(loop)).code).toBe('config_invalid');
  });

  it('leaves out members that are undefined', () => {
    expect(fromPlain({ a: undefined, b: null })).toEqual(new Map([['b', null]]));
  });
});
