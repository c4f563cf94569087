import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromPlain, type JsonObject } from '../cache/json.ts';
import type { Hash } from '../ports/hash.ts';
import { ExplainMemory } from './explain-memory.ts';
import type { Prepared } from './prepare.ts';

/** Counts its calls: what a search reads is seen by them. */
class CountingHash implements Hash {
  calls = 0;

  sha256(data: Uint8Array | string): Uint8Array {
    this.calls += 1;
    return createHash('sha256').update(data).digest();
  }

  sha256Hex(data: Uint8Array | string): string {
    return Buffer.from(this.sha256(data)).toString('hex');
  }
}

const MIB = 1_024 * 1_024;
const PARTS = { tenant: 't', namespace: 'n', operation: 'chat.completions', tags: [], modelVersion: '', bucket: -1 };

function asked(key: string, body: object, parts: Partial<typeof PARTS> = {}): Prepared {
  const tree = fromPlain(body) as JsonObject;
  return {
    key,
    parts: { ...PARTS, ...parts },
    canonical: () => ({ tree }),
    namespace: { isolateUser: false },
  } as unknown as Prepared;
}

function memoryOf(options: { entriesMax?: number; bytesMax?: number } = {}): ExplainMemory {
  return new ExplainMemory(new CountingHash(), { entriesMax: 4_096, bytesMax: 16 * MIB, ...options });
}

function conversation(id: number | string, messages: number): object {
  return {
    model: 'm',
    messages: Array.from({ length: messages }, (_, at) => ({ role: 'user', content: `${id} ${at}` })),
  };
}

describe('ExplainMemory: which key is nearest', () => {
  const value = fc.constantFrom(1, 2, 'x');
  const body = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', '(tags)'), value, { maxKeys: 5 });
  const request = fc.record({ body, tenant: fc.constantFrom('t', 'u'), namespace: fc.constantFrom('n', 'o') });

  it('is the one that a comparison with each finds, the latest of equals', () => {
    fc.assert(
      fc.property(fc.array(request, { maxLength: 12 }), request, (stored, question) => {
        const memory = memoryOf();
        let expected: { entryId: string; differingFields: string[] } | undefined;
        for (const [at, one] of stored.entries()) {
          memory.remember(asked(`k${at}`, one.body, one));
          if (one.tenant !== question.tenant) continue;
          const differingFields = differing(one, question);
          if (expected === undefined || differingFields.length <= expected.differingFields.length)
            expected = { entryId: `k${at}`, differingFields };
        }
        expect(memory.nearest(asked('q', question.body, question))).toEqual(expected);
      }),
    );
  });

  function differing(a: { body: object; namespace: string }, b: { body: object; namespace: string }): string[] {
    const [x, y] = [a, b].map((one) => fieldsOf(one));
    return [...new Set([...x!.keys(), ...y!.keys()])].filter((name) => x!.get(name) !== y!.get(name)).sort();
  }

  /** A body's field that is called as a part of the key is one of the further fields. */
  function fieldsOf({ body: fields, namespace }: { body: object; namespace: string }): Map<string, unknown> {
    const entries: (readonly [string, unknown])[] = Object.entries(fields).map(([name, mark]) =>
      name === '(tags)' ? ['(further fields)', mark] : [name, mark],
    );
    return new Map([...entries, ['(namespace)', namespace]]);
  }

  it('is not the asked one itself, which is remembered once', () => {
    const memory = memoryOf();
    memory.remember(asked('a', { x: 1 }));
    memory.remember(asked('a', { x: 1 }));
    expect(memory.size).toBe(1);
    expect(memory.nearest(asked('a', { x: 1 }))).toBeUndefined();
  });
});

describe('ExplainMemory: its bounds', () => {
  it('holds a number of requests, and forgets the oldest', () => {
    const memory = memoryOf({ entriesMax: 2 });
    for (const key of ['a', 'b', 'c']) memory.remember(asked(key, { [key]: 1 }));
    expect(memory.size).toBe(2);
    expect(memory.nearest(asked('q', { a: 1 }))?.entryId).not.toBe('a');
  });

  it('holds a number of bytes, whatever the requests are', () => {
    const bytesMax = 64 * 1_024;
    const memory = memoryOf({ bytesMax });
    const sizes: number[] = [];
    for (let at = 0; at < 300; at += 1) {
      const names = Array.from({ length: 40 }, (_, field) => [`f${at}_${field}_${'x'.repeat(60)}`, 1]);
      memory.remember(asked(`k${at}`, Object.fromEntries(names) as object));
      expect(memory.bytes).toBeLessThanOrEqual(bytesMax);
      sizes.push(memory.size);
    }
    expect(sizes.at(-1)).toBeGreaterThan(1);
    expect(sizes.at(-1)).toBeLessThan(10);
  });

  it('gives back what it charged', () => {
    const memory = memoryOf({ entriesMax: 1 });
    const request = asked('last', { a: 1 });
    memory.remember(request);
    const { bytes } = memory;
    memory.remember(asked('other', conversation('o', 100)));
    expect(memory.bytes).toBeGreaterThan(bytes);
    memory.remember(request);
    expect(memory.bytes).toBe(bytes);
  });

  it('leaves out a request that is past the bound alone, and keeps the others', () => {
    const memory = memoryOf({ bytesMax: 4_096 });
    memory.remember(asked('small', { a: 1 }));
    memory.remember(asked('large', conversation('l', 200)));
    expect(memory.nearest(asked('q', { a: 2 }))).toEqual({ entryId: 'small', differingFields: ['a'] });
    expect(memory.size).toBe(1);
  });

  it('remembers nothing where either bound is 0', () => {
    for (const memory of [memoryOf({ entriesMax: 0 }), memoryOf({ bytesMax: 0 })]) {
      memory.remember(asked('a', { a: 1 }));
      expect(memory.size).toBe(0);
    }
  });

  it('tells of fields past the bound together', () => {
    const memory = memoryOf();
    memory.remember(asked('a', conversation('c', 400)));
    const last = conversation('c', 400) as { messages: { content: string }[] };
    last.messages[399]!.content = 'other';
    expect(memory.nearest(asked('q', last))?.differingFields).toEqual(['(further fields)']);
    const long = 'n'.repeat(201);
    memory.remember(asked('long', { [long]: 1 }));
    expect(memory.nearest(asked('q', { [long]: 2 }))?.differingFields).toEqual(['(further fields)']);
  });

  it('names 64 fields at most', () => {
    const memory = memoryOf();
    memory.remember(asked('a', conversation('a', 100)));
    expect(memory.nearest(asked('q', conversation('q', 100)))?.differingFields).toHaveLength(64);
  });

  it('marks what is asked once, and looks at the latest requests only where there are very many', () => {
    const hash = new CountingHash();
    const memory = new ExplainMemory(hash, { entriesMax: 10_000, bytesMax: 1_024 * MIB });
    const twin = asked('twin', conversation('q', 240));
    memory.remember(twin);
    // Each differs in all but the last fields, so none is given up early by the first one's count.
    for (let at = 0; at < 500; at += 1) memory.remember(asked(`k${at}`, conversation(at, 240)));
    const long = asked('q', { ...conversation('q', 240), extra: 'x'.repeat(200) });
    const before = hash.calls;
    const nearest = memory.nearest(long);
    expect(hash.calls - before).toBe(1);
    expect(nearest?.entryId).not.toBe('twin');
    memory.remember(twin);
    expect(memory.nearest(long)).toEqual({ entryId: 'twin', differingFields: ['extra'] });
  });
});
