import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Hash } from '../ports/hash.ts';
import { fieldMarks } from './field-marks.ts';
import { canonicalJson, fromPlain, parseJson, type JsonObject } from './json.ts';

const hash: Hash = {
  sha256Hex: (data) => createHash('sha256').update(data).digest('hex'),
  sha256: (data) => createHash('sha256').update(data).digest(),
};
const CHAT = {
  model: 'demo',
  temperature: 0.2,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What?' },
  ],
};

function marksOf(body: unknown, isolateUser = false): ReadonlyMap<string, number> {
  const tree = parseJson(new TextEncoder().encode(JSON.stringify(body)), { depthMax: 64 }) as JsonObject;
  const { names, marks } = fieldMarks(tree, hash, isolateUser);
  return new Map(names.map((name, at) => [name, marks[at]!]));
}

function differing(a: unknown, b: unknown, isolateUser = false): string[] {
  const [x, y] = [marksOf(a, isolateUser), marksOf(b, isolateUser)];
  return [...new Set([...x.keys(), ...y.keys()])].filter((name) => x.get(name) !== y.get(name));
}

describe('fieldMarks', () => {
  it('name the fields in which two requests differ', () => {
    const other = {
      ...CHAT,
      temperature: 0,
      messages: [CHAT.messages[0], { role: 'user', content: 'Else?' }],
      extra: 1,
    };
    expect(differing(CHAT, other)).toEqual(['temperature', 'messages[1].content', 'extra']);
  });

  it('say nothing of inert fields', () => {
    expect(differing(CHAT, { ...CHAT, stream: true, user: 'u', metadata: {} })).toEqual([]);
  });

  it('tell users apart where they are isolated', () => {
    expect(differing({ ...CHAT, user: 'a' }, { ...CHAT, user: 'b' }, true)).toEqual(['user']);
  });

  it.each([
    ['a number and its text', 1, '1'],
    ['null and its text', null, 'null'],
    ['long texts with one other letter', 'x'.repeat(5_000), `${'x'.repeat(4_999)}y`],
    ['texts around the length at which another hash takes over', 'x'.repeat(128), 'x'.repeat(129)],
    ['a list and its text', [1], '[1]'],
  ])('tell apart %s', (_what, a, b) => {
    expect(differing({ v: a }, { v: b })).toEqual(['v']);
  });

  it('are equal exactly where values are the same in canonical form', () => {
    const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.string({ maxLength: 300 }));
    fc.assert(
      fc.property(value, value, (a, b) => {
        const isSame = canonicalJson(fromPlain(a)) === canonicalJson(fromPlain(b));
        expect(differing({ v: a }, { v: b }).length === 0).toBe(isSame);
        expect(differing({ v: a }, { v: structuredClone(a) })).toEqual([]);
      }),
    );
  });

  it('keep no text', () => {
    const secret = 'the launch code is 0000';
    const long = secret.repeat(20);
    expect(JSON.stringify([...marksOf({ a: secret, b: long })])).not.toContain('launch');
  });
});
