import type { Config, Origin } from './config.ts';
import { isRawObject, joinPath, originOf } from './layers.ts';

/** One effective setting; its value is a scalar or a list, never a credential. */
export interface DescribedSetting {
  readonly path: string;
  readonly value: unknown;
  readonly origin: Origin;
}

/** The effective configuration for people: what `reprise config` prints and `/admin/config` answers. */
export interface DescribedConfig {
  readonly file: string;
  readonly settings: readonly DescribedSetting[];
  readonly warnings: readonly string[];
}

const HIDDEN = '[set]';

/** Describes a configuration without its credentials; `auto` settings show what they came to. */
export function describeConfig(config: Config): DescribedConfig {
  const settings: DescribedSetting[] = [];
  collect(effective(config), [], config.origins, settings);
  return { file: config.file, settings, warnings: config.warnings };
}

function effective(config: Config): Record<string, unknown> {
  const { settings, node, identity, embedder } = config;
  const upstreams = Object.entries(settings.upstreams).map(([name, upstream]) => {
    const { apiKey, name: _name, ...rest } = config.upstreams[name] ?? {};
    return [name, { ...upstream, ...rest, ...(apiKey === undefined ? {} : { apiKey: HIDDEN }) }];
  });
  return {
    ...settings,
    dataDir: config.dataDir,
    grid: {
      ...config.grid,
      hazelcast: { ...config.grid.hazelcast, keys: config.grid.hazelcast.keys.map(({ id }) => ({ id, key: HIDDEN })) },
    },
    identity: {
      ...settings.identity,
      mode: identity.mode,
      keys: identity.keys.map((key) => ({ ...key, sha256: HIDDEN })),
      adminToken: identity.adminTokenSha256 === '' ? '' : HIDDEN,
    },
    upstreams: Object.fromEntries(upstreams) as Record<string, unknown>,
    defaultUpstream: config.defaultUpstream,
    models: node.models,
    demo: config.demo,
    semantic: { ...settings.semantic, embedder },
    namespaces: node.namespaces,
    domains: node.domains,
    domainRules: node.domainRules,
  };
}

function collect(
  value: unknown,
  path: readonly PropertyKey[],
  origins: Config['origins'],
  into: DescribedSetting[],
): void {
  if (isRawObject(value) && Object.keys(value).length > 0) {
    for (const [member, inner] of Object.entries(value)) collect(inner, [...path, member], origins, into);
  } else if (Array.isArray(value) && value.some(isRawObject)) {
    value.forEach((item: unknown, index) => collect(item, [...path, index], origins, into));
  } else {
    into.push({ path: joinPath(path), value, origin: originOf(origins, path) });
  }
}
