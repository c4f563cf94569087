import { DEMO_UPSTREAM, isLoopback, withCalibration } from '../config/index.ts';
import type { CalibratedNode, Config, DomainPromise } from '../config/index.ts';
import { assert } from '../errors.ts';
import { DEFAULT_IDENTITY_OPTIONS, IdentityResolver } from '../inference/identity.ts';
import { configuredModels } from '../models/configured-models.ts';
import type { ModelRouter } from '../models/model-router.ts';
import { createNode, LOCAL_EMBEDDER, type NodePorts, type RepriseNode } from '../node/node.ts';
import type { Clock } from '../ports/clock.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Grid } from '../ports/grid.ts';
import type { Model, Operation } from '../ports/model.ts';
import type { ModelDirectory } from '../ports/model-directory.ts';
import type { ModelRule } from '../ports/options.ts';
import type { Random } from '../ports/random.ts';
import type { Role } from '../ports/service.ts';
import type { Verifier } from '../ports/verifier.ts';
import { loadCalibration } from './calibration.ts';
import { openEmbedder } from './embedding/open-embedder.ts';
import { FileStorage } from './file-storage.ts';
import { NearMissFile } from './near-miss-file.ts';
import { NodeHash } from './node-hash.ts';
import { openGrid } from './open-grid.ts';
import { SystemClock } from './system-clock.ts';
import { SystemRandom } from './system-random.ts';
import type { HostTelemetry } from './telemetry.ts';
import { openVerifier } from './verifier/open-verifier.ts';

/** A node with its real adapters. */
export interface Assembly {
  readonly node: RepriseNode;
  readonly identity: IdentityResolver;
  /** What each domain can be relied on for. */
  readonly promises: readonly DomainPromise[];
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
  /** Instead of the configured verifier. */
  readonly verifier?: Verifier;
  readonly clock?: Clock;
  /** What the node sees of its grid; for tests that come between. */
  readonly wrapGrid?: (grid: Grid) => Grid;
}

/** Puts a node together as the configuration says. The embedding model loads before this resolves. */
export async function assemble(
  config: Config,
  telemetry: HostTelemetry,
  overrides: AssemblyOverrides = {},
): Promise<Assembly> {
  const clock = overrides.clock ?? new SystemClock();
  const hash = new NodeHash();
  const random: Random = new SystemRandom();
  const opened = openGrid(config, { clock, random: random.fork('grid'), telemetry });
  const grid = overrides.wrapGrid === undefined ? opened : { ...opened, grid: overrides.wrapGrid(opened.grid) };
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
  const semantic = await openSemantic(config, { clock, telemetry, overrides }, () => {
    assert(router !== undefined, 'nothing is verified before the node is made');
    return router;
  });
  const ports: NodePorts = {
    clock,
    random,
    hash,
    telemetry,
    ...grid,
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
    ...semantic.ports,
  };
  const node = createNode(ports, semantic.policy.node);
  telemetry.onScrape(() => node.sample());
  return {
    node,
    identity,
    promises: semantic.policy.promises,
    async stop() {
      await node.stop();
      await router?.close();
      await semantic.close();
    },
  };
}

type SemanticPorts = Pick<NodePorts, 'embedder' | 'embedderMissing' | 'calibrationDetail' | 'verifier' | 'nearMissLog'>;

/** What semantic matching needs of the world, with the node's options that follow from it. */
interface OpenSemantic {
  readonly ports: SemanticPorts;
  readonly policy: CalibratedNode;
  close(): Promise<void>;
}

async function openSemantic(
  config: Config,
  deps: { readonly clock: Clock; readonly telemetry: HostTelemetry; readonly overrides: AssemblyOverrides },
  models: () => ModelDirectory,
): Promise<OpenSemantic> {
  const { clock, telemetry, overrides } = deps;
  const embedder = await embedderOf(config, clock, telemetry, overrides);
  const closeEmbedder = async (): Promise<void> => {
    if (!('missing' in embedder)) await embedder.close();
  };
  try {
    const policy = await openPolicy(config, 'missing' in embedder ? undefined : embedder.id, telemetry);
    const verifier = overrides.verifier ?? (await openVerifier(config.semantic.verifier, { clock, telemetry, models }));
    if ('missing' in verifier && verifier.missing !== '') telemetry.log('warn', `no verifier: ${verifier.missing}`);
    const nearMissLog = nearMissLogOf(config, telemetry);
    return {
      policy,
      ports: {
        ...('missing' in embedder
          ? { embedderMissing: embedder.missing }
          : { embedder, calibrationDetail: policy.detail }),
        ...('missing' in verifier ? {} : { verifier }),
        ...(nearMissLog === undefined ? {} : { nearMissLog }),
      },
      async close() {
        await nearMissLog?.close();
        if (!('missing' in verifier)) await verifier.close();
        await closeEmbedder();
      },
    };
  } catch (error) {
    await closeEmbedder();
    throw error;
  }
}

/** The node's options on the calibration for its embedder; says once what is promised, where anything is. */
async function openPolicy(
  config: Config,
  embedderId: string | undefined,
  telemetry: HostTelemetry,
): Promise<CalibratedNode & { readonly detail: string }> {
  if (embedderId === undefined) return { ...withCalibration(config, undefined), detail: '' };
  const { calibration, detail, isUnfit } = await loadCalibration(config.semantic, embedderId);
  if (isUnfit) telemetry.log('warn', detail);
  const policy = withCalibration(config, calibration);
  for (const { text } of policy.promises) telemetry.log('info', `semantic domain ${text}`);
  return { ...policy, detail };
}

function nearMissLogOf(config: Config, telemetry: HostTelemetry): NearMissFile | undefined {
  const { nearMissLog } = config.semantic;
  if (nearMissLog.path === '') return undefined;
  telemetry.log('warn', 'texts of near misses are written to disk', { path: nearMissLog.path });
  return new NearMissFile(nearMissLog, telemetry);
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
