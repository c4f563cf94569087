import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RepriseError } from '../errors.ts';
import { DEFAULT_NAMESPACE } from '../node/defaults.ts';
import type { DomainOptions, NamespaceOptions, NodeOptions, SemanticMode } from '../ports/options.ts';
import { automaticMode, compileDomain } from './calibrated.ts';
import { DEMO_UPSTREAM } from './config.ts';
import type { Config, GridConfig, IdentityConfig, Origin, SemanticConfig, UpstreamConfig } from './config.ts';
import { credentialHash, required, variable, type Environment } from './environment.ts';
import { compileGrid } from './grid-config.ts';
import { domainSettings, presetOf } from './presets.ts';
import type { Settings } from './schema.ts';
import { Secret } from './secret.ts';

interface Surroundings {
  readonly env: Environment;
  readonly cwd: string;
  readonly file: string;
  readonly origins: Readonly<Record<string, Origin>>;
}

/** Valid settings made into what the parts of a process take; not yet cross-checked. */
export function compile(settings: Settings, { env, cwd, file, origins }: Surroundings): Config {
  const identity = compileIdentity(settings, env);
  const grid = compileGrid(settings, env);
  const defaultUpstream = defaultUpstreamOf(settings);
  const upstreams: Record<string, UpstreamConfig> = {};
  for (const name of Object.keys(settings.upstreams)) {
    upstreams[name] = compileUpstream(settings, name, identity.mode, name === defaultUpstream, env);
  }
  const { bodyBytesMax: _bodyBytesMax, jsonDepthMax: _jsonDepthMax, ...server } = settings.server;
  const dataDir = resolve(cwd, settings.dataDir);
  const setUpDir = variable(env, 'REPRISE_DATA_DIR') ?? join(packageRoot(), '.reprise');
  const modelDir = settings.semantic.embedder.modelDir || join(setUpDir, 'models');
  return {
    node: compileNode(settings, defaultUpstream, variable(env, 'REPRISE_SEMANTIC'), grid.topology),
    server,
    identity,
    upstreams,
    defaultUpstream,
    demo: { ...settings.demo, enabled: isDemoEnabled(settings) },
    grid,
    embedder: { ...settings.semantic.embedder, modelDir: resolve(cwd, modelDir) },
    semantic: compileSemantic(settings, {
      base: file === '' ? cwd : dirname(file),
      dataDir,
      modelDir: resolve(cwd, modelDir),
      forcedMode: variable(env, 'REPRISE_SEMANTIC'),
    }),
    telemetry: settings.telemetry,
    dataDir,
    file,
    warnings: [],
    settings,
    origins,
  };
}

/** Folder of the package that this file belongs to, built or not: where the set-up keeps the embedding model. */
function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

function isDemoEnabled({ demo, upstreams }: Settings): boolean {
  return demo.enabled === 'auto' ? Object.keys(upstreams).length === 0 : demo.enabled;
}

/** Name of the default upstream; empty where several are configured and none is named. */
export function defaultUpstreamOf(settings: Settings): string {
  if (settings.defaultUpstream !== '') return settings.defaultUpstream;
  const [only, ...others] = Object.keys(settings.upstreams);
  if (only !== undefined) return others.length === 0 ? only : '';
  return isDemoEnabled(settings) ? DEMO_UPSTREAM : '';
}

function compileNode(
  settings: Settings,
  defaultUpstream: string,
  forcedMode: string | undefined,
  topology: GridConfig['topology'],
): NodeOptions {
  const { flightsMax, streamWindowBytes, ...cache } = settings.cache;
  const { verifier, nearMissLog, ...semantic } = settings.semantic;
  const { mode: _mode, embedder: _embedder, calibration: _calibration, preset: _preset, ...rest } = semantic;
  return {
    nodeId: settings.nodeId,
    cache: topology === 'centralised' && cache.l1 === 'auto' ? { ...cache, l1: 'off' } : cache,
    semantic: {
      ...rest,
      verifier: { timeoutMs: verifier.timeoutMs, candidatesMax: verifier.candidatesMax },
      nearMiss: { margin: nearMissLog.margin, rememberedMax: nearMissLog.rememberedMax },
    },
    flight: { flightsMax, streamWindowBytes },
    namespaces: compileNamespaces(settings, forcedMode),
    defaultNamespace: settings.defaultNamespace,
    domains: compileDomains(settings),
    domainRules: [...settings.domainRules, ...presetOf(settings).rules],
    models: settings.models.map((rule) => ({ ...rule, upstream: rule.upstream || defaultUpstream })),
    recording: settings.recording,
    modelTimeoutMs: settings.modelTimeoutMs,
    bodyBytesMax: settings.server.bodyBytesMax,
    jsonDepthMax: settings.server.jsonDepthMax,
  };
}

/** As they are without a calibration. */
function compileDomains(settings: Settings): Record<string, DomainOptions> {
  return Object.fromEntries(
    Object.entries(domainSettings(settings)).map(([name, domain]) => [name, compileDomain(name, domain)]),
  );
}

function compileSemantic(
  settings: Settings,
  places: { base: string; dataDir: string; modelDir: string; forcedMode: string | undefined },
): SemanticConfig {
  const { calibration, verifier, nearMissLog } = settings.semantic;
  const { timeoutMs: _timeoutMs, candidatesMax: _candidatesMax, ...verifierRest } = verifier;
  const { base, dataDir, modelDir, forcedMode } = places;
  return {
    calibration: calibration === 'auto' || calibration === 'off' ? calibration : resolve(base, calibration),
    shippedDir: join(packageRoot(), 'calibration'),
    verifier: { ...verifierRest, modelDir: verifier.modelDir === '' ? modelDir : resolve(base, verifier.modelDir) },
    nearMissLog: {
      path: nearMissLog.path === '' ? '' : resolve(dataDir, nearMissLog.path),
      bytesMax: nearMissLog.bytesMax,
      filesMax: nearMissLog.filesMax,
    },
    automaticNamespaces: automaticNamespaces(settings, forcedMode),
  };
}

/** Namespaces whose mode nobody has set. */
function automaticNamespaces(settings: Settings, forcedMode: string | undefined): string[] {
  if (forcedMode !== undefined) return forcedMode === 'auto' ? ['default', ...Object.keys(settings.namespaces)] : [];
  if (settings.semantic.mode !== 'auto') return [];
  const named = Object.entries(settings.namespaces).filter(([, { semantic }]) => semantic === 'auto');
  return ['default', ...named.map(([name]) => name)].filter(
    (name, at, all) => all.indexOf(name) === at && (settings.namespaces[name]?.semantic ?? 'auto') === 'auto',
  );
}

function compileNamespaces(settings: Settings, forcedMode: string | undefined): Record<string, NamespaceOptions> {
  const unset = automaticMode(settings);
  const common = settings.semantic.mode === 'auto' ? unset : settings.semantic.mode;
  const forced = forcedMode === undefined ? undefined : modeOf(forcedMode, unset);
  const namespaces: Record<string, NamespaceOptions> = {
    default: { ...DEFAULT_NAMESPACE, semantic: forced ?? common },
  };
  for (const [name, { semantic, ...options }] of Object.entries(settings.namespaces)) {
    namespaces[name] = { ...options, semantic: forced ?? (semantic === 'auto' ? common : semantic) };
  }
  return namespaces;
}

function modeOf(text: string, automatic: SemanticMode): SemanticMode {
  if (text === 'auto') return automatic;
  if (text === 'off' || text === 'observe' || text === 'serve') return text;
  throw new RepriseError('config_invalid', `REPRISE_SEMANTIC must be one of auto, off, observe, serve, not "${text}".`);
}

function compileIdentity({ identity }: Settings, env: Environment): IdentityConfig {
  const { keys, adminTokenEnv, mode, ...rest } = identity;
  const adminToken = adminTokenEnv === '' ? undefined : variable(env, adminTokenEnv);
  return {
    ...rest,
    mode: mode === 'auto' ? (keys.length > 0 ? 'keys' : 'local') : mode,
    keys: keys.map(({ name, sha256, env: from, tenant, role }, index) => {
      const at = `identity.keys[${index}]`;
      if ((sha256 === '') === (from === '')) {
        throw new RepriseError('config_invalid', `${at} needs either sha256 or env.`);
      }
      const hash = sha256 === '' ? credentialHash(required(env, from, `${at}.env`)) : sha256.toLowerCase();
      return { name: name || `key-${index + 1}`, sha256: hash, tenant, role };
    }),
    adminTokenSha256: adminToken === undefined ? '' : credentialHash(adminToken),
  };
}

function compileUpstream(
  settings: Settings,
  name: string,
  mode: IdentityConfig['mode'],
  isDefault: boolean,
  env: Environment,
): UpstreamConfig {
  const settingsOfIt = settings.upstreams[name];
  if (settingsOfIt === undefined) throw new RepriseError('config_invalid', `upstreams.${name} is not configured.`);
  const { apiKeyEnv, auth, url, header, timeoutMs, ...rest } = settingsOfIt;
  const fromEnvironment = isDefault ? variable(env, 'REPRISE_UPSTREAM_KEY') : undefined;
  const apiKey =
    fromEnvironment ?? (apiKeyEnv === '' ? undefined : required(env, apiKeyEnv, `upstreams.${name}.apiKeyEnv`));
  return {
    ...rest,
    name,
    url: url.replace(/\/+$/, ''),
    auth: auth === 'auto' ? (mode === 'forward' ? 'forward' : 'service') : auth,
    header: header.toLowerCase(),
    timeoutMs: timeoutMs || settings.modelTimeoutMs,
    ...(apiKey === undefined ? {} : { apiKey: new Secret(apiKey) }),
  };
}
