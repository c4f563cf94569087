import { MemoryGrid } from '../../grid/memory/memory-grid.ts';
import { DEMO_UPSTREAM, isLoopback, type Config } from '../config/index.ts';
import { DEFAULT_IDENTITY_OPTIONS, IdentityResolver } from '../inference/identity.ts';
import { configuredModels } from '../models/configured-models.ts';
import type { ModelRouter } from '../models/model-router.ts';
import { createNode, LOCAL_EMBEDDER, type NodePorts, type RepriseNode } from '../node/node.ts';
import type { Clock } from '../ports/clock.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Model, Operation } from '../ports/model.ts';
import type { ModelRule } from '../ports/options.ts';
import type { Role } from '../ports/service.ts';
import { openEmbedder } from './embedding/open-embedder.ts';
import { FileStorage } from './file-storage.ts';
import { NodeHash } from './node-hash.ts';
import { SystemClock } from './system-clock.ts';
import { SystemRandom } from './system-random.ts';
import type { HostTelemetry } from './telemetry.ts';

/** A node with its real adapters. */
export interface Assembly {
  readonly node: RepriseNode;
  readonly identity: IdentityResolver;
  /** Stops the node, its upstreams and its embedder. */
  stop(): Promise<void>;
}

export interface AssemblyOverrides {
  /** Instead of the configured embedding model. */
  readonly embedder?: Embedder | { readonly missing: string };
  /** Further upstreams by name; they win over configured ones. */
  readonly upstreams?: ReadonlyMap<string, Model>;
  /** Instead of the configured default upstream. */
  readonly defaultUpstream?: string;
  readonly clock?: Clock;
}

/** Puts a node together as the configuration says. The embedding model loads before this resolves. */
export async function assemble(
  config: Config,
  telemetry: HostTelemetry,
  overrides: AssemblyOverrides = {},
): Promise<Assembly> {
  const clock = overrides.clock ?? new SystemClock();
  const hash = new NodeHash();
  const { memory } = config.grid;
  const grid = new MemoryGrid(
    { clock },
    {
      roles: { entries: { bytesMax: memory.entriesBytesMax }, vectors: { bytesMax: memory.vectorsBytesMax } },
      policy: config.node.cache.policy,
    },
  );
  const embedder = await embedderOf(config, clock, telemetry, overrides);
  const identity = new IdentityResolver(
    { hash, clock },
    {
      ...DEFAULT_IDENTITY_OPTIONS,
      mode: config.identity.mode,
      tenant: config.identity.tenant,
      localRole: localRole(config),
      keys: config.identity.keys,
      verifiedMs: config.identity.verifiedMs,
      verifiedMax: config.identity.verifiedMax,
      adminTokenSha256: config.identity.adminTokenSha256,
    },
  );
  let router: ModelRouter | undefined;
  const ports: NodePorts = {
    clock,
    random: new SystemRandom(),
    hash,
    telemetry,
    grid,
    localGrid: grid,
    storage: new FileStorage(config.dataDir),
    credentials: identity,
    models: (local) => {
      const upstreams = new Map(overrides.upstreams);
      if (local !== undefined) upstreams.set(LOCAL_EMBEDDER, local);
      const { defaultUpstream } = overrides;
      const rules = localRules(config, defaultUpstream ?? config.defaultUpstream, local !== undefined);
      const further = defaultUpstream === undefined ? { upstreams, rules } : { upstreams, rules, defaultUpstream };
      router = configuredModels(config, { clock, telemetry }, further);
      return router;
    },
    ...('missing' in embedder ? { embedderMissing: embedder.missing } : { embedder }),
  };
  const node = createNode(ports, config.node);
  telemetry.onScrape(() => node.sample());
  return {
    node,
    identity,
    async stop() {
      await node.stop();
      await router?.close();
      if (!('missing' in embedder)) await embedder.close();
    },
  };
}

/** Anyone on this machine may do everything, unless an admin token says who; anyone on the network may only ask. */
function localRole(config: Config): Role {
  if (!isLoopback(config.server.host)) return 'read';
  return config.identity.adminTokenSha256 === '' ? 'admin' : 'write';
}

/** The node's own embedder answers to its name on `/v1/embeddings`, after every configured rule. */
function localRules(config: Config, defaultUpstream: string, isThere: boolean): ModelRule[] {
  if (!isThere) return [];
  const operations: readonly Operation[] = ['embeddings'];
  const rule: Omit<ModelRule, 'match'> = {
    upstream: LOCAL_EMBEDDER,
    as: '',
    version: '',
    operations,
    defaults: {},
    overrides: {},
    price: { promptPerMillion: 0, completionPerMillion: 0 },
  };
  const named = [{ ...rule, match: config.embedder.name }];
  return defaultUpstream === DEMO_UPSTREAM ? [...named, { ...rule, match: '*' }] : named;
}

function embedderOf(
  config: Config,
  clock: Clock,
  telemetry: HostTelemetry,
  overrides: AssemblyOverrides,
): Promise<Embedder | { readonly missing: string }> {
  if (overrides.embedder !== undefined) return Promise.resolve(overrides.embedder);
  return openEmbedder(config.embedder, { clock, telemetry });
}
