import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { valueForSchema } from './demo-schema.ts';

const FILLER = { text: 'text', number: 5 };

describe('valueForSchema', () => {
  it.each([
    [{ type: 'string' }, 'text'],
    [{ type: 'string', minLength: 6 }, 'text..'],
    [{ type: 'string', maxLength: 2 }, 'te'],
    [{ type: 'string', format: 'date' }, '2024-01-01'],
    [{ type: 'integer', minimum: 7 }, 7],
    [{ type: 'number', exclusiveMaximum: 3 }, 2],
    [{ type: 'boolean' }, true],
    [{ type: 'null' }, null],
    [{ type: ['null', 'string'] }, 'text'],
    [{ const: 3 }, 3],
    [{ enum: ['a', 'b'] }, 'a'],
    [{ default: 'd', type: 'string' }, 'd'],
    [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [5, 5]],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, 5],
    [{ properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['b'] }, { b: 'text' }],
    [{ type: 'object', properties: { a: { type: 'string' } } }, { a: 'text' }],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'integer' } } }, 5],
    [{ type: 'object', allOf: [{ properties: { a: { type: 'integer' } }, required: ['a'] }] }, { a: 5 }],
  ])('fills %j', (schema, value) => {
    expect(valueForSchema(schema, FILLER)).toEqual(value);
  });

  it('ends on a schema that contains itself', () => {
    const schema = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] };
    expect(JSON.stringify(valueForSchema(schema, FILLER)).length).toBeLessThan(1_000);
  });

  it('gives something that JSON holds for any schema', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (schema) => {
        expect(JSON.stringify(valueForSchema(schema, FILLER))).toBeTypeOf('string');
      }),
    );
  });
});
