import { GUARD_NAMES } from '../semantic/guards/guards.ts';
import type { DomainOptions, NamespaceOptions, NodeOptions } from '../ports/options.ts';

const MIB = 1024 * 1024;

/** Every guard there is. */
export const DEFAULT_GUARDS: readonly string[] = GUARD_NAMES;

export const DEFAULT_NAMESPACE: NamespaceOptions = {
  ttlMs: 24 * 3_600_000,
  graceMs: 0,
  strict: false,
  semantic: 'observe',
  sampling: { kind: 'reuse' },
  domain: 'default',
  blank: [],
  isolateUser: false,
};

export const DEFAULT_DOMAIN: DomainOptions = { similarityMin: 0.91, probabilityMin: 0, guards: DEFAULT_GUARDS };

/** Every default of a node, in one place. */
export const DEFAULT_NODE_OPTIONS: NodeOptions = {
  nodeId: 'node-1',
  cache: {
    l1: 'auto',
    l1BytesMax: 256 * MIB,
    policy: 'lru',
    entryBytesMax: 4 * MIB,
    storeQueueBytesMax: 64 * MIB,
    bodyMemoBytesMax: 32 * MIB,
    lookupBudgetMs: 50,
    joinDeadlineMs: 100,
    stalenessBoundMs: 2_000,
    unconfirmedMs: 60_000,
    confirmIntervalMs: 500,
    abandonedFlight: 'abort',
    storeDeadlineMs: 5_000,
    explainEntriesMax: 4_096,
    explainBytesMax: 16 * MIB,
  },
  semantic: {
    candidatesMax: 8,
    similarityFloor: 0.5,
    embedQueueMax: 256,
    embedBatchMax: 16,
    embedTimeoutMs: 2_000,
    vectorCacheBytesMax: 32 * MIB,
    cellsMax: 4_096,
    cellVectorsMax: 20_000,
    codeBits: 16,
    probesMax: 8,
    verifier: { timeoutMs: 0, candidatesMax: 2 },
    nearMiss: { margin: 0.05, rememberedMax: 4_096 },
  },
  flight: { flightsMax: 10_000, streamWindowBytes: MIB },
  namespaces: { default: DEFAULT_NAMESPACE },
  defaultNamespace: 'default',
  domains: { default: DEFAULT_DOMAIN },
  domainRules: [],
  models: [],
  recording: { texts: false },
  modelTimeoutMs: 600_000,
  bodyBytesMax: 8 * MIB,
  jsonDepthMax: 256,
};

/** Small rings, queues and windows, so that tests reach every edge. */
export const TEST_MIN_NODE_OPTIONS: NodeOptions = {
  ...DEFAULT_NODE_OPTIONS,
  cache: {
    ...DEFAULT_NODE_OPTIONS.cache,
    l1BytesMax: 64 * 1024,
    entryBytesMax: 16 * 1024,
    storeQueueBytesMax: 32 * 1024,
    bodyMemoBytesMax: 16 * 1024,
    explainEntriesMax: 16,
    explainBytesMax: 64 * 1024,
  },
  semantic: {
    ...DEFAULT_NODE_OPTIONS.semantic,
    embedQueueMax: 8,
    embedBatchMax: 4,
    cellsMax: 4,
    cellVectorsMax: 32,
    codeBits: 4,
  },
  flight: { flightsMax: 16, streamWindowBytes: 4_096 },
};
