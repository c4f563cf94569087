import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InferRequest, InferResponse } from '../../proto/gen/reprise/v1/inference_cache.ts';
import { bodyOf, controlsOf, encodeReply } from './grpc-messages.ts';

function message(changes: Partial<InferRequest>): InferRequest {
  return { ...InferRequest.decode(new Uint8Array(0)), ...changes };
}

function bodyWith(body: string, model: string): string {
  return Buffer.from(bodyOf(message({ body: Buffer.from(body), model }))).toString();
}

describe('bodyOf', () => {
  it('gives the bytes as sent when the message names no model', () => {
    const body = Buffer.from('{ "seed": 12345678901234567890 }');
    expect(bodyOf(message({ body }))).toBe(body);
  });

  it.each([
    ['{"model":"a","n":1}', '{"model":"b","n":1}'],
    ['{ "n":1, "model" : "a" }', '{ "n":1, "model" : "b" }'],
    ['{"seed":12345678901234567890}', '{"model":"b","seed":12345678901234567890}'],
    ['{}', '{"model":"b"}'],
    [' { } ', ' {"model":"b" } '],
    ['{"deep":{"model":"a"}}', '{"model":"b","deep":{"model":"a"}}'],
  ])('puts the model into %s', (body, expected) => {
    expect(bodyWith(body, 'b')).toBe(expected);
  });

  it('leaves what is no object to the cache to refuse', () => {
    expect(bodyWith('', 'b')).toBe('');
    expect(bodyWith('"text"', 'b')).toBe('"text"');
  });

  it('changes nothing but the model', () => {
    const member = fc.string({ minLength: 1 }).filter((name) => name !== '__proto__');
    fc.assert(
      fc.property(fc.dictionary(member, fc.jsonValue()), fc.string({ minLength: 1 }), (request, model) => {
        const changed = JSON.parse(bodyWith(JSON.stringify(request), model)) as object;
        expect(changed).toEqual({ ...(JSON.parse(JSON.stringify(request)) as object), model });
      }),
    );
  });
});

describe('controlsOf', () => {
  it('asks for nothing when the message says nothing', () => {
    expect(controlsOf(message({}))).toEqual({});
  });

  it('tells zero from absent', () => {
    expect(controlsOf(message({ bucket: 0, maxAgeMs: 0, threshold: 0 }))).toEqual({
      bucket: 0,
      maxAgeMs: 0,
      threshold: 0,
    });
  });
});

describe('encodeReply', () => {
  it.each([0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152])(
    'is read back whole with a body of %i bytes',
    (length) => {
      const body = Buffer.alloc(length, 'x');
      const encoded = encodeReply({
        body,
        contentType: 'application/json',
        usage: { served: { promptTokens: 3, completionTokens: 4 }, billed: { promptTokens: 0, completionTokens: 0 } },
        status: {
          outcome: 'hit',
          detail: 'exact-l1',
          stored: false,
          ageMs: 1.4,
          ttlMs: Infinity,
          entryId: 'ab',
          unconfirmed: false,
          stale: false,
          model: 'demo',
        },
      });
      const read = InferResponse.decode(encoded);
      expect(Buffer.compare(read.body, body)).toBe(0);
      expect([read.contentType, read.status?.detail, read.status?.ageMs, read.status?.ttlMs]).toEqual([
        'application/json',
        'exact-l1',
        1,
        undefined,
      ]);
      expect(read.usage?.served).toEqual({ promptTokens: 3, completionTokens: 4 });
    },
  );
});
