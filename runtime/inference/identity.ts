import { RepriseError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Hash } from '../ports/hash.ts';
import type { Identity, Role } from '../ports/service.ts';
import type { CredentialWatch } from './credential-watch.ts';
import { hmacHex, readCredential } from './identity-credential.ts';
import { VerifiedCredentials } from './verified-credentials.ts';

/** A configured key: only its hash is known. */
export interface KeyRecord {
  /** For `revoke` and logs; unique. */
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly sha256: string;
  readonly tenant: string;
  readonly role: Role;
}

/** How callers are told apart. */
export interface IdentityOptions {
  /** `local`: everybody is one tenant. `keys`: a configured key names its tenant and role. `forward`: an upstream credential is its own tenant. */
  readonly mode: 'local' | 'keys' | 'forward';
  /** Tenant of every caller in mode `local`. */
  readonly tenant: string;
  /** Role of every caller in mode `local`. */
  readonly localRole: Role;
  /** Only in mode `keys`. */
  readonly keys: readonly KeyRecord[];
  /** How long an upstream's 2xx vouches for a credential, in mode `forward`. */
  readonly verifiedMs: number;
  /** Credentials whose verdict is remembered, in mode `forward`. */
  readonly verifiedMax: number;
  /** Role of a verified credential in its own tenant, in mode `forward`; one that isn't verified may only read. */
  readonly forwardRole: Role;
  /** Goes into tenant names in mode `forward`; the same on all nodes that share a grid. */
  readonly salt: string;
  /** SHA-256 of the administrator's token, hex; empty: there is none. It counts in every mode. */
  readonly adminTokenSha256: string;
}

/** Defaults: loopback, without keys. */
export const DEFAULT_IDENTITY_OPTIONS: IdentityOptions = {
  mode: 'local',
  tenant: 'local',
  localRole: 'admin',
  keys: [],
  verifiedMs: 300_000,
  verifiedMax: 10_000,
  forwardRole: 'write',
  salt: '',
  adminTokenSha256: '',
};

/** The administrator's tenant where callers have tenants of their own. */
const ADMIN_TENANT = 'admin';
const TENANT_HASH_LENGTH = 32;

/** Credentials whose identity or tenant is remembered: several times what a busy gateway sends. */
const REMEMBERED_MAX = 4_096;

/**
 * Who asks, from the credential of a request. It is told hashes of credentials only; a few that were found good are remembered as
 * they came, since hashing one costs as much as a look-up.
 */
export class IdentityResolver implements CredentialWatch {
  readonly #hash: Hash;
  readonly #clock: Clock;
  readonly #options: IdentityOptions;
  readonly #identities = new Map<string, Identity>();
  readonly #hashByName = new Map<string, string>();
  readonly #byCredential = new Map<string, Identity>();
  readonly #tenantOf = new Map<string, string>();
  readonly #verified: VerifiedCredentials | undefined;
  readonly #local: Identity | undefined;

  /** Errors: `config_invalid` (a hash that isn't 64 hex characters, a name or hash given twice). */
  constructor(deps: { readonly hash: Hash; readonly clock: Clock }, options: IdentityOptions) {
    this.#hash = deps.hash;
    this.#clock = deps.clock;
    this.#options = options;
    if (options.mode === 'local') {
      this.#local = Object.freeze({ tenant: options.tenant, role: options.localRole, verified: true });
    }
    if (options.mode === 'keys') for (const key of options.keys) this.#addKey(key);
    if (options.mode === 'forward') this.#verified = new VerifiedCredentials(deps.clock, options);
    if (options.adminTokenSha256 === '') return;
    const tenant = options.mode === 'local' ? options.tenant : ADMIN_TENANT;
    this.#addKey({ name: '', role: 'admin', sha256: options.adminTokenSha256, tenant });
  }

  /**
   * The caller's identity from the `Authorization` header, or from the `api-key` or `x-api-key` header.
   * Errors: `missing_credential`, `invalid_credential`.
   */
  resolve(authorization: string | undefined, apiKey: string | undefined): Identity {
    if (this.#local !== undefined && this.#identities.size === 0) return this.#local;
    const credential =
      this.#local === undefined ? readCredential(authorization, apiKey) : this.#leniently(authorization, apiKey);
    if (credential !== undefined && this.#identities.size > 0) {
      const known = this.#byCredential.get(credential) ?? this.#byHash(credential);
      if (known !== undefined) return known;
    }
    if (this.#local !== undefined) return this.#local;
    if (credential === undefined) {
      throw new RepriseError(
        'missing_credential',
        'Send a key as "Authorization: Bearer <key>" or in the api-key header.',
      );
    }
    if (this.#options.mode === 'forward') return this.#forwarded(credential);
    throw new RepriseError('invalid_credential', 'The key is not known here, or was revoked.');
  }

  /** An upstream answered a call that began at `calledAtMs` (monotonic) and carried this credential with 2xx. */
  accepted(credential: string, calledAtMs: number = this.#clock.monotonicMs()): void {
    this.#verified?.accept(this.#forwardTenant(credential), calledAtMs);
  }

  /** An upstream refused this credential with 401 or 403. */
  rejected(credential: string): void {
    this.#verified?.reject(this.#forwardTenant(credential));
    this.#tenantOf.delete(credential);
  }

  /** Takes a configured key away, by its name, from now on. True when it was there. */
  revoke(name: string): boolean {
    const sha256 = this.#hashByName.get(name);
    if (sha256 === undefined || name === '') return false;
    this.#hashByName.delete(name);
    this.#byCredential.clear();
    return this.#identities.delete(sha256);
  }

  #byHash(credential: string): Identity | undefined {
    const known = this.#identities.get(this.#hash.sha256Hex(credential));
    if (known !== undefined) remember(this.#byCredential, credential, known);
    return known;
  }

  #addKey(key: KeyRecord): void {
    const sha256 = key.sha256.toLowerCase();
    const label = key.name === '' ? 'the admin token' : `key "${key.name}"`;
    if (!/^[0-9a-f]{64}$/.test(sha256)) {
      throw new RepriseError('config_invalid', `The SHA-256 of ${label} must be 64 hex characters.`);
    }
    if (this.#identities.has(sha256) || this.#hashByName.has(key.name)) {
      throw new RepriseError('config_invalid', `The name or SHA-256 of ${label} is given twice.`);
    }
    this.#identities.set(sha256, Object.freeze({ tenant: key.tenant, role: key.role, verified: true }));
    this.#hashByName.set(key.name, sha256);
  }

  /** In mode `local` a client may send any key or none; only the admin token means something. */
  #leniently(authorization: string | undefined, apiKey: string | undefined): string | undefined {
    try {
      return readCredential(authorization, apiKey);
    } catch {
      return undefined;
    }
  }

  #forwarded(credential: string): Identity {
    const tenant = this.#forwardTenant(credential);
    const verified = this.#verified?.isVerified(tenant) === true;
    if (verified && !this.#tenantOf.has(credential)) remember(this.#tenantOf, credential, tenant);
    return { tenant, role: verified ? this.#options.forwardRole : 'read', credential, verified };
  }

  #forwardTenant(credential: string): string {
    return (
      this.#tenantOf.get(credential) ??
      `fwd-${hmacHex(this.#hash, this.#options.salt, credential).slice(0, TENANT_HASH_LENGTH)}`
    );
  }
}

function remember<T>(remembered: Map<string, T>, credential: string, value: T): void {
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  remembered.set(credential, value);
}
