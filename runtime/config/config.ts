import type { NodeOptions } from '../ports/options.ts';
import type { Role } from '../ports/service.ts';
import type { Settings } from './schema.ts';
import type { Secret } from './secret.ts';

/** A key that callers may present; the key itself is not kept. */
export interface KeyConfig {
  readonly name: string;
  /** SHA-256 of the key's UTF-8, lower-case hex. */
  readonly sha256: string;
  readonly tenant: string;
  readonly role: Role;
}

/** How callers are known. */
export interface IdentityConfig {
  readonly mode: 'local' | 'keys' | 'forward';
  /** Tenant of every caller in mode `local`. */
  readonly tenant: string;
  readonly keys: readonly KeyConfig[];
  readonly verifiedMs: number;
  readonly verifiedMax: number;
  /** SHA-256 of the admin token, lower-case hex; empty: there is none. */
  readonly adminTokenSha256: string;
}

/** One OpenAI-compatible server. */
export interface UpstreamConfig {
  readonly name: string;
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly auth: 'service' | 'forward';
  /** The configured credential; absent: none is sent but the caller's. */
  readonly apiKey?: Secret;
  /** Lower-case name of the header that carries the credential; `authorization` takes a bearer token. */
  readonly header: string;
  readonly concurrencyMax: number;
  readonly queueMax: number;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly retriesMax: number;
  readonly answerBytesMax: number;
}

/** The embedding model; `modelDir` is absolute. */
export type EmbedderConfig = Readonly<Settings['semantic']['embedder']>;

/** What semantic matching needs of the world; paths are absolute. */
export interface SemanticConfig {
  /** `auto`, `off`, or a path. */
  readonly calibration: string;
  /** Folder of the calibrations that come with Reprise. */
  readonly shippedDir: string;
  readonly verifier: Readonly<Omit<Settings['semantic']['verifier'], 'timeoutMs' | 'candidatesMax'>>;
  /** An empty path: no log is written. */
  readonly nearMissLog: { readonly path: string; readonly bytesMax: number; readonly filesMax: number };
  /** Namespaces whose mode nobody has set: it follows from the calibration. */
  readonly automaticNamespaces: readonly string[];
}

/** A key that seals what goes to the members. */
export interface SealKeyConfig {
  readonly id: string;
  /** 32 bytes in base64. */
  readonly key: Secret;
}

/** Where cached data is held. */
export interface GridConfig {
  readonly kind: 'memory' | 'hazelcast';
  /** Which tiers there are: `sidecar` only those of this process. */
  readonly topology: 'sidecar' | 'centralised' | 'hybrid';
  readonly memory: Readonly<Settings['grid']['memory']>;
  /** Members with their ports; the first key seals. */
  readonly hazelcast: Readonly<Omit<Settings['grid']['hazelcast'], 'keys'>> & {
    readonly keys: readonly SealKeyConfig[];
  };
}

/** Where a setting's value comes from: `default`, `override`, the file's name, or the environment variable's. */
export type Origin = string;

/** Everything that a process is told at its start; frozen to its leaves. */
export interface Config {
  readonly node: NodeOptions;
  readonly server: Readonly<Omit<Settings['server'], 'bodyBytesMax' | 'jsonDepthMax'>>;
  readonly identity: IdentityConfig;
  readonly upstreams: Readonly<Record<string, UpstreamConfig>>;
  /** Name of an upstream, `demo`, or empty: a model name that no rule claims is not found. */
  readonly defaultUpstream: string;
  readonly demo: { readonly enabled: boolean; readonly firstTokenMs: number; readonly perTokenMs: number };
  readonly grid: GridConfig;
  readonly embedder: EmbedderConfig;
  readonly semantic: SemanticConfig;
  readonly telemetry: Readonly<Settings['telemetry']>;
  /** Absolute. */
  readonly dataDir: string;
  /** Absolute path of the file that was read; empty: none. */
  readonly file: string;
  /** What was asked for and can't be had; to be logged at the start. */
  readonly warnings: readonly string[];
  /** The effective settings in the file's shape. */
  readonly settings: Settings;
  /** Origin by path (`cache.l1BytesMax`, `models[0].match`) of what isn't a default. */
  readonly origins: Readonly<Record<string, Origin>>;
}

/** Name of the built-in demo model among the upstreams. */
export const DEMO_UPSTREAM = 'demo';
