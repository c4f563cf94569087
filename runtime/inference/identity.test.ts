import { createHash, createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../models/testing/manual-clock.ts';
import type { Hash } from '../ports/hash.ts';
import { hmacHex, readCredential } from './identity-credential.ts';
import { DEFAULT_IDENTITY_OPTIONS, IdentityResolver } from './identity.ts';
import type { IdentityOptions } from './identity.ts';

const HASH: Hash = {
  sha256Hex: (data) => createHash('sha256').update(data).digest('hex'),
  sha256: (data) => createHash('sha256').update(data).digest(),
};

function setUp(options: Partial<IdentityOptions>, hash: Hash = HASH) {
  const clock = new ManualClock();
  return { clock, resolver: new IdentityResolver({ hash, clock }, { ...DEFAULT_IDENTITY_OPTIONS, ...options }) };
}

const KEYS = [
  { name: 'one', sha256: HASH.sha256Hex('key-1'), tenant: 'clinic', role: 'read' },
  { name: 'two', sha256: HASH.sha256Hex('key-2').toUpperCase(), tenant: 'lab', role: 'write' },
] as const;
const ADMIN = HASH.sha256Hex('root');

describe('IdentityResolver in mode local', () => {
  it('takes everybody for the one tenant, with any key, a broken one or none', () => {
    const { resolver } = setUp({ tenant: 'home' });
    const everybody = [undefined, '', 'Bearer sk-any', 'Basic x', 'Bearer a b\n'].map((value) =>
      resolver.resolve(value, undefined),
    );
    for (const identity of everybody) expect(identity).toEqual({ tenant: 'home', role: 'admin', verified: true });
  });

  it('raises the holder of the admin token only', () => {
    const { resolver } = setUp({ localRole: 'read', adminTokenSha256: ADMIN });
    expect(resolver.resolve('Bearer root', undefined)).toEqual({ tenant: 'local', role: 'admin', verified: true });
    expect(resolver.resolve('Bearer other', undefined).role).toBe('read');
    expect(resolver.resolve('Basic x', undefined).role).toBe('read');
  });
});

describe('IdentityResolver in mode keys', () => {
  it('knows a key’s tenant and role', () => {
    const { resolver } = setUp({ mode: 'keys', keys: KEYS });
    expect(resolver.resolve('Bearer key-1', undefined)).toEqual({ tenant: 'clinic', role: 'read', verified: true });
    expect(resolver.resolve(undefined, 'key-2')).toEqual({ tenant: 'lab', role: 'write', verified: true });
  });

  it('refuses a request without a key, and one with an unknown key', () => {
    const { resolver } = setUp({ mode: 'keys', keys: KEYS });
    expect(() => resolver.resolve(undefined, undefined)).toThrow(
      expect.objectContaining({ code: 'missing_credential' }),
    );
    expect(() => resolver.resolve('Bearer ', '')).toThrow(expect.objectContaining({ code: 'missing_credential' }));
    expect(() => resolver.resolve('Bearer key-3', undefined)).toThrow(
      expect.objectContaining({ code: 'invalid_credential' }),
    );
  });

  it('does not take the hash of a key for the key', () => {
    const { resolver } = setUp({ mode: 'keys', keys: KEYS });
    expect(() => resolver.resolve(`Bearer ${HASH.sha256Hex('key-1')}`, undefined)).toThrow(/not known/);
  });

  it('stops knowing a revoked key at once', () => {
    const { resolver } = setUp({ mode: 'keys', keys: KEYS });
    expect(resolver.revoke('one')).toBe(true);
    expect(() => resolver.resolve('Bearer key-1', undefined)).toThrow(
      expect.objectContaining({ code: 'invalid_credential' }),
    );
    expect(resolver.resolve('Bearer key-2', undefined).tenant).toBe('lab');
    expect(resolver.revoke('one')).toBe(false);
  });

  it('gives the admin token a tenant of its own', () => {
    const { resolver } = setUp({ mode: 'keys', keys: KEYS, adminTokenSha256: ADMIN });
    expect(resolver.resolve('Bearer root', undefined)).toEqual({ tenant: 'admin', role: 'admin', verified: true });
    expect(resolver.revoke('')).toBe(false);
  });

  it('refuses hashes that are none, and keys given twice', () => {
    const [one, two] = KEYS;
    for (const keys of [
      [{ ...one, sha256: 'key-1' }],
      [one, { ...two, name: 'one' }],
      [one, { ...two, sha256: one.sha256 }],
    ]) {
      expect(() => setUp({ mode: 'keys', keys })).toThrow(expect.objectContaining({ code: 'config_invalid' }));
    }
  });
});

describe('IdentityResolver in mode forward', () => {
  const forward = { mode: 'forward', salt: 'salt', verifiedMs: 1_000, verifiedMax: 2 } as const;

  it('remembers a credential only while an upstream takes it', () => {
    let hashed = 0;
    const counting: Hash = { ...HASH, sha256Hex: (data) => ((hashed += 1), HASH.sha256Hex(data)) };
    const { clock, resolver } = setUp({ mode: 'forward' }, counting);
    const hashesOf = (act: () => unknown): number => {
      const before = hashed;
      act();
      return hashed - before;
    };
    const resolve = () => resolver.resolve('Bearer sk-1', undefined);

    resolve();
    expect(hashesOf(resolve)).toBeGreaterThan(0);
    resolver.accepted('sk-1');
    resolve();
    expect(hashesOf(resolve)).toBe(0);
    clock.advance(1);
    resolver.rejected('sk-1');
    expect(hashesOf(resolve)).toBeGreaterThan(0);
  });

  it('makes a tenant of a credential, not verified at first', () => {
    const { resolver } = setUp(forward);
    const identity = resolver.resolve('Bearer sk-1', undefined);
    expect(identity).toMatchObject({ role: 'read', credential: 'sk-1', verified: false });
    expect(identity.tenant).toMatch(/^fwd-[0-9a-f]{32}$/);
    expect(identity.tenant).not.toContain(HASH.sha256Hex('sk-1').slice(0, 32));
  });

  it('gives one credential the same tenant always, and another under another salt', () => {
    const tenant = setUp(forward).resolver.resolve('Bearer sk-1', undefined).tenant;
    expect(setUp(forward).resolver.resolve(undefined, 'sk-1').tenant).toBe(tenant);
    expect(setUp({ ...forward, salt: 'other' }).resolver.resolve(undefined, 'sk-1').tenant).not.toBe(tenant);
  });

  it('never gives two credentials one tenant', () => {
    const { resolver } = setUp(forward);
    const credential = fc.stringMatching(/^[!-~]{1,40}$/);
    fc.assert(
      fc.property(credential, credential, (one, other) => {
        fc.pre(one !== other);
        expect(resolver.resolve(undefined, one).tenant).not.toBe(resolver.resolve(undefined, other).tenant);
      }),
    );
  });

  it('verifies a credential for a while after an upstream accepted it', () => {
    const { resolver, clock } = setUp(forward);
    resolver.accepted('sk-1');
    expect(resolver.resolve('Bearer sk-1', undefined)).toMatchObject({ verified: true, role: 'write' });
    expect(resolver.resolve('Bearer sk-2', undefined).verified).toBe(false);
    clock.advance(999);
    expect(resolver.resolve('Bearer sk-1', undefined).verified).toBe(true);
    clock.advance(1);
    expect(resolver.resolve('Bearer sk-1', undefined)).toMatchObject({ verified: false, role: 'read' });
  });

  it('is not prolonged by being used', () => {
    const { resolver, clock } = setUp(forward);
    resolver.accepted('sk-1');
    for (let step = 0; step < 10; step += 1) {
      resolver.resolve('Bearer sk-1', undefined);
      clock.advance(100);
    }
    expect(resolver.resolve('Bearer sk-1', undefined).verified).toBe(false);
  });

  it('stops at once when an upstream refuses the credential', () => {
    const { resolver } = setUp(forward);
    resolver.accepted('sk-1');
    resolver.rejected('sk-1');
    expect(resolver.resolve('Bearer sk-1', undefined).verified).toBe(false);
  });

  it('is not verified again by a call that began before the refusal', () => {
    const { resolver, clock } = setUp(forward);
    const calledAtMs = clock.monotonicMs();
    clock.advance(10);
    resolver.rejected('sk-1');
    clock.advance(10);
    resolver.accepted('sk-1', calledAtMs);
    expect(resolver.resolve('Bearer sk-1', undefined).verified).toBe(false);
    resolver.accepted('sk-1');
    expect(resolver.resolve('Bearer sk-1', undefined).verified).toBe(true);
  });

  it('remembers no more credentials than it may', () => {
    const { resolver } = setUp(forward);
    for (const credential of ['sk-1', 'sk-2', 'sk-3']) resolver.accepted(credential);
    const verified = ['sk-1', 'sk-2', 'sk-3'].map((credential) => resolver.resolve(undefined, credential).verified);
    expect(verified).toEqual([false, true, true]);
  });

  it('refuses a request without a credential', () => {
    const { resolver } = setUp(forward);
    expect(() => resolver.resolve(undefined, undefined)).toThrow(
      expect.objectContaining({ code: 'missing_credential' }),
    );
  });

  it('keeps the admin token from upstreams', () => {
    const { resolver } = setUp({ ...forward, adminTokenSha256: ADMIN });
    expect(resolver.resolve('Bearer root', undefined)).toEqual({ tenant: 'admin', role: 'admin', verified: true });
  });
});

describe('readCredential', () => {
  it.each([
    ['Bearer abc', undefined, 'abc'],
    ['bearer   abc ', undefined, 'abc'],
    [undefined, 'abc', 'abc'],
    ['Bearer abc', 'other', 'abc'],
    ['Basic dXNlcg==', 'abc', 'abc'],
    [undefined, undefined, undefined],
    ['Bearer', undefined, undefined],
  ])('reads %s and %s as %s', (authorization, apiKey, credential) => {
    expect(readCredential(authorization, apiKey)).toBe(credential);
  });

  it.each(['Basic dXNlcg==', 'Bearerabc', 'Bearer a b', 'Bearer ä', `Bearer ${'x'.repeat(9_000)}`])(
    'refuses "%s"',
    (value) => {
      expect(() => readCredential(value, undefined)).toThrow(expect.objectContaining({ code: 'invalid_credential' }));
    },
  );

  it('names no credential in its refusals', () => {
    expect(() => readCredential('Bearer sécret', undefined)).toThrow(/^(?!.*cret)/);
  });
});

describe('hmacHex', () => {
  it('is HMAC-SHA-256', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.string({ maxLength: 200 }), (secret, message) => {
        const expected = createHmac('sha256', Buffer.from(new TextEncoder().encode(secret)));
        expect(hmacHex(HASH, secret, message)).toBe(expected.update(new TextEncoder().encode(message)).digest('hex'));
      }),
    );
  });
});
