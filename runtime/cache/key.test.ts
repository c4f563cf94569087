import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Hash } from '../ports/hash.ts';
import { deriveKey, deriveScope, type KeyParts } from './key.ts';

const hash: Hash = {
  sha256Hex: (data) => createHash('sha256').update(data).digest('hex'),
  sha256: (data) => createHash('sha256').update(data).digest(),
};

const PARTS: KeyParts = {
  tenant: 'acme',
  namespace: 'default',
  tags: ['a', 'b'],
  operation: 'chat.completions',
  model: 'm',
  modelVersion: '1',
  bucket: -1,
};
const BODY = 'f'.repeat(64);

const short = fc.string({ maxLength: 4, unit: fc.constantFrom('a', 'b', ';', ':', '1', '2') });
const parts: fc.Arbitrary<KeyParts> = fc.record({
  tenant: short,
  namespace: short,
  tags: fc.array(short, { maxLength: 3 }),
  operation: short,
  model: short,
  modelVersion: short,
  bucket: fc.integer({ min: -1, max: 12 }),
});

function meaning(of: KeyParts): string {
  return JSON.stringify([
    of.tenant,
    of.namespace,
    [...new Set(of.tags)].sort(),
    of.operation,
    of.model,
    of.modelVersion,
    of.bucket,
  ]);
}

describe('deriveKey', () => {
  it('is 64 hex characters', () => {
    expect(deriveKey(hash, PARTS, BODY)).toMatch(/^[0-9a-f]{64}$/);
  });

  it('stays what it is: a change of derivation needs a new version', () => {
    expect(deriveKey(hash, PARTS, BODY)).toBe('50b5b0e9bd70499bdbdc9d0a60c5341794070e835800b9eeee217d47a9f93f11');
    expect(deriveScope(hash, PARTS, BODY)).toBe('bae62329059fa2c9ac8e6cc8174dbd25c8a4a763ffbc09b37b6d7436db2e72ff');
  });

  it('is equal exactly for parts that mean the same', () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        expect(deriveKey(hash, a, BODY) === deriveKey(hash, b, BODY)).toBe(meaning(a) === meaning(b));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['tenant', { tenant: 'other' }],
    ['namespace', { namespace: 'other' }],
    ['tags', { tags: ['a'] }],
    ['operation', { operation: 'completions' }],
    ['model', { model: 'm2' }],
    ['version', { modelVersion: '2' }],
    ['bucket', { bucket: 0 }],
  ])('changes with the %s', (_name, change) => {
    expect(deriveKey(hash, { ...PARTS, ...change }, BODY)).not.toBe(deriveKey(hash, PARTS, BODY));
    expect(deriveScope(hash, { ...PARTS, ...change }, BODY)).not.toBe(deriveScope(hash, PARTS, BODY));
  });

  it('does not change with the order of tags or with repeats', () => {
    expect(deriveKey(hash, { ...PARTS, tags: ['b', 'a', 'b'] }, BODY)).toBe(deriveKey(hash, PARTS, BODY));
  });

  it('changes with the body', () => {
    expect(deriveKey(hash, PARTS, 'e'.repeat(64))).not.toBe(deriveKey(hash, PARTS, BODY));
  });

  it('is never a scope', () => {
    expect(deriveKey(hash, PARTS, BODY)).not.toBe(deriveScope(hash, PARTS, BODY));
  });

  it('refuses names that UTF-8 would make equal', () => {
    expect(() => deriveKey(hash, { ...PARTS, tenant: '\ud800' }, BODY)).toThrow(/surrogate/);
  });
});
