import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  controlName,
  entryName,
  modelName,
  namespaceName,
  parseLedgerName,
  tagName,
  tenantName,
} from './ledger-names.ts';

const part = fc.oneof(
  fc.constantFrom('tenant', 'model', 'namespace', 'tag', 'entry', 'control', 'a/b', '%2F', '%', '/', '', '%25'),
  fc.string(),
);

describe('ledger names', () => {
  it('come apart into the parts that they were made of, whatever these hold', () => {
    fc.assert(
      fc.property(part, part, (tenant, other) => {
        expect(parseLedgerName(tenantName(tenant))).toEqual({ kind: 'tenant', tenant });
        expect(parseLedgerName(namespaceName(tenant, other))).toEqual({ kind: 'namespace', tenant, namespace: other });
        expect(parseLedgerName(tagName(tenant, other))).toEqual({ kind: 'tag', tenant, tag: other });
        expect(parseLedgerName(modelName(other))).toEqual({ kind: 'model', model: other });
        expect(parseLedgerName(entryName(other))).toEqual({ kind: 'entry', key: other });
        expect(parseLedgerName(controlName(other))).toEqual({ kind: 'other' });
      }),
    );
  });

  it('are readable where nothing has to be escaped', () => {
    expect(tenantName('acme')).toBe('tenant/acme');
    expect(namespaceName('acme', 'chat')).toBe('acme/namespace/chat');
    expect(tagName('acme', 'v1')).toBe('acme/tag/v1');
    expect(modelName('meta/llama')).toBe('model/meta%2Fllama');
    expect(entryName('00ff')).toBe('entry/00ff');
    expect(controlName('aliases')).toBe('control/aliases');
  });

  it('of an unknown kind belong to no entry', () => {
    expect(parseLedgerName('something/quite/new/and/long')).toEqual({ kind: 'other' });
    expect(parseLedgerName('plain')).toEqual({ kind: 'other' });
  });
});
