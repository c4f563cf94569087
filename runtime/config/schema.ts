import { z } from 'zod';
import { DEFAULT_NAMESPACE, DEFAULT_NODE_OPTIONS } from '../node/defaults.ts';
import { POLICY_NAMES } from '../ports/options.ts';
import { bytes, choice, count, durationMs, flag, name, text } from './fields.ts';
import { grid } from './schema-grid.ts';
import { MODES, domain, domainRule, semantic } from './schema-semantic.ts';

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
const CACHE = DEFAULT_NODE_OPTIONS.cache;
const FLIGHT = DEFAULT_NODE_OPTIONS.flight;
const ENV_NAME = /^([A-Za-z_][A-Za-z0-9_]{0,127})?$/;

const envName = (doc: string) =>
  z.string().regex(ENV_NAME, 'must be the name of an environment variable').default('').describe(doc);

const server = z.strictObject({
  host: text('Address to bind.', '127.0.0.1', 255),
  httpPort: count('Port of the HTTP server; 0: any free one.', 8080, { max: 65_535 }),
  grpcPort: count('Port of the gRPC server; 0: any free one.', 50_051, { max: 65_535 }),
  allowOpen: flag('Allow binding beyond loopback although no credential is asked for.', false),
  allowedHosts: z
    .array(z.string().min(1).max(255))
    .max(64)
    .default([])
    .describe(
      'Names in the Host header accepted beside loopback ones, where the node is on loopback and asks no credential; *: any.',
    ),
  bodyBytesMax: bytes('Largest request body.', DEFAULT_NODE_OPTIONS.bodyBytesMax, { min: 1_024, max: 1_024 * MIB }),
  jsonDepthMax: count('Deepest nesting of a request body.', DEFAULT_NODE_OPTIONS.jsonDepthMax, { min: 8, max: 1_024 }),
  drainMs: durationMs('Time that running requests get at a stop.', 10_000, { max: 600_000 }),
  requestLog: flag('One log line a request, without its text.', true),
});

const key = z.strictObject({
  name: text('Name of the key, for people.', '', 128),
  sha256: z
    .string()
    .regex(/^([0-9a-f]{64})?$/i, 'must be a SHA-256 in hex')
    .default('')
    .describe('SHA-256 of the key, hex; this or `env`.'),
  env: envName('Environment variable that holds the key; this or `sha256`.'),
  tenant: name.describe('Tenant that the key speaks for.'),
  role: choice('What the key may do.', ['read', 'write', 'admin'], 'read'),
});

const identity = z.strictObject({
  mode: choice(
    'How callers are known; auto: keys where there are any, else local.',
    ['auto', 'local', 'keys', 'forward'],
    'auto',
  ),
  tenant: name.default('local').describe('Tenant of every caller in mode local.'),
  keys: z.array(key).max(10_000).default([]).describe('Keys of mode keys.'),
  verifiedMs: durationMs("How long an upstream's acceptance of a credential counts, in mode forward.", 300_000, {
    min: 1_000,
    max: DAY_MS,
  }),
  verifiedMax: count('Credentials remembered as accepted, in mode forward.', 100_000, { min: 1, max: 10_000_000 }),
  adminTokenEnv: envName('Environment variable that holds the admin token.').default('REPRISE_ADMIN_TOKEN'),
});

const upstream = z.strictObject({
  url: z.string().max(2_048).describe('Base URL of an OpenAI-compatible server, with or without /v1.'),
  auth: choice(
    "Whose credential the upstream gets: the configured one or the caller's; auto: by identity mode.",
    ['auto', 'service', 'forward'],
    'auto',
  ),
  apiKeyEnv: envName("Environment variable that holds the upstream's key."),
  header: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header')
    .default('authorization')
    .describe('Header that carries the credential; `authorization` carries it as a bearer token.'),
  concurrencyMax: count('Calls under way at once.', 64, { min: 1, max: 10_000 }),
  queueMax: count('Calls that wait for a slot.', 256, { max: 100_000 }),
  timeoutMs: durationMs('Deadline of one call; 0: `modelTimeoutMs`.', 0),
  connectTimeoutMs: durationMs('Deadline of a connection.', 10_000, { min: 1 }),
  retriesMax: count('Retries of calls that never reached the model.', 2, { max: 10 }),
  answerBytesMax: bytes('Largest whole answer.', 64 * MIB, { min: 1_024, max: 1_024 * MIB }),
});

const modelRule = z.strictObject({
  match: z.string().min(1).max(256).describe('Model name as asked; `*` stands for any run of characters.'),
  upstream: text('Name of the upstream; empty: the default one.', '', 64),
  as: text('Name to ask the upstream for; empty: as asked.', '', 256),
  version: text('Effective version, part of the key; empty: not versioned.', '', 256),
  operations: z
    .array(z.enum(['chat.completions', 'completions', 'embeddings']))
    .min(1)
    .default(['chat.completions', 'completions', 'embeddings'])
    .describe('Operations that the rule serves.'),
  defaults: z.record(z.string(), z.unknown()).default({}).describe('Body fields to add where the request has none.'),
  overrides: z.record(z.string(), z.unknown()).default({}).describe('Body fields to set whatever the request has.'),
  price: z
    .strictObject({
      promptPerMillion: z.number().min(0).default(0).describe('Price of a million prompt tokens.'),
      completionPerMillion: z.number().min(0).default(0).describe('Price of a million completion tokens.'),
    })
    .prefault({})
    .describe('Prices, for the cost figures.'),
});

const demo = z.strictObject({
  enabled: z
    .union([z.literal('auto'), z.boolean()], 'must be true, false or auto')
    .default('auto')
    .describe('The built-in demo model; auto: on where no upstream is configured.'),
  firstTokenMs: durationMs("Declared latency of the demo model's first token.", 120, { max: 60_000 }),
  perTokenMs: durationMs('Declared latency of each further token.', 4, { max: 60_000 }),
});

const cache = z.strictObject({
  l1: choice(
    'Near cache; auto: at most 32 MiB above the in-process grid, whose answers it would hold twice.',
    ['auto', 'on', 'off'],
    CACHE.l1,
  ),
  l1BytesMax: bytes('Bound of the near cache.', CACHE.l1BytesMax, { min: 4_096 }),
  policy: choice('Eviction policy of the near cache and of the in-process grid.', POLICY_NAMES, CACHE.policy),
  entryBytesMax: bytes('Larger answers are passed on, never stored.', CACHE.entryBytesMax, { min: 1_024 }),
  storeQueueBytesMax: bytes('Bound of the answers that wait to be stored.', CACHE.storeQueueBytesMax, { min: 4_096 }),
  bodyMemoBytesMax: bytes('Bound of the memo of canonical bodies; 0: off.', CACHE.bodyMemoBytesMax),
  lookupBudgetMs: durationMs('Deadline of all look-ups of a request.', CACHE.lookupBudgetMs, { min: 1, max: 60_000 }),
  joinDeadlineMs: durationMs('Deadline of joining a flight.', CACHE.joinDeadlineMs, { min: 1, max: 60_000 }),
  stalenessBoundMs: durationMs('Every node obeys an invalidation within this time.', CACHE.stalenessBoundMs, {
    min: 10,
    max: 3_600_000,
  }),
  unconfirmedMs: durationMs(
    "How long namespaces that aren't strict serve hits without a confirmed ledger.",
    CACHE.unconfirmedMs,
    { max: DAY_MS },
  ),
  confirmIntervalMs: durationMs('Time between confirmations of the ledger.', CACHE.confirmIntervalMs, {
    min: 1,
    max: 3_600_000,
  }),
  abandonedFlight: choice(
    'What becomes of a model call whose last participant left.',
    ['abort', 'finish'],
    CACHE.abandonedFlight,
  ),
  storeDeadlineMs: durationMs('Deadline of a write to the grid, off the reply path.', CACHE.storeDeadlineMs, {
    min: 1,
    max: 600_000,
  }),
  explainEntriesMax: count('Stored requests that Explain remembers by field.', CACHE.explainEntriesMax, {
    max: 1_000_000,
  }),
  explainBytesMax: bytes('Bound of what Explain remembers of them; 0: nothing.', CACHE.explainBytesMax),
  flightsMax: count('Flights under way at once.', FLIGHT.flightsMax, { min: 1, max: 1_000_000 }),
  streamWindowBytes: bytes(
    'Bytes by which a leader may run ahead of its slowest reader once an answer is past `entryBytesMax`.',
    FLIGHT.streamWindowBytes,
    { min: 1_024 },
  ),
});

const sampling = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('reuse') }),
  z.strictObject({ kind: z.literal('buckets'), count: z.int().min(2).max(1_024) }),
  z.strictObject({ kind: z.literal('bypass') }),
]);

const namespace = z.strictObject({
  ttlMs: durationMs('Life of an answer.', DEFAULT_NAMESPACE.ttlMs, { min: 1, max: 3_650 * DAY_MS }),
  graceMs: durationMs('How long past expiry an answer may be served stale.', DEFAULT_NAMESPACE.graceMs, {
    max: 3_650 * DAY_MS,
  }),
  strict: flag('Serve nothing while the ledger is unconfirmed for longer than the staleness bound.', false),
  semantic: choice('Semantic matching; auto: `semantic.mode`.', MODES, 'auto'),
  sampling: sampling
    .default({ kind: 'reuse' })
    .describe('Unseeded requests with a temperature: reuse, buckets (with `count`) or bypass.'),
  domain: name
    .default(DEFAULT_NAMESPACE.domain)
    .describe('Domain whose thresholds and guards apply where no rule of `domainRules` fits.'),
  blank: z
    .array(z.strictObject({ pattern: z.string().min(1).max(1_024), replacement: z.string().max(256).default('') }))
    .max(32)
    .default([])
    .describe(
      'Volatile parts of texts that the key must not see: `pattern` (a regular expression in the syntax of RE2: no look-around, no references back), `replacement`. Texts above 16 KiB, or with more than 64 places to blank, are left as they are.',
    ),
  isolateUser: flag("Count the body's `user` into the key.", DEFAULT_NAMESPACE.isolateUser),
});

const telemetry = z.strictObject({
  logLevel: choice('Least level that is logged.', ['debug', 'info', 'warn', 'error'], 'info'),
  metrics: flag('Serve /metrics.', true),
});

const recording = z.strictObject({
  texts: flag(
    'Let an admin record asked texts and their vectors too (`reprise record --texts`); without it recordings hold salted hashes, counts and times.',
    DEFAULT_NODE_OPTIONS.recording.texts,
  ),
});

/** The whole of `reprise.yaml`: strict, every field with its default. */
export const settingsSchema = z.strictObject({
  nodeId: name.default(DEFAULT_NODE_OPTIONS.nodeId).describe('Name of this node.'),
  dataDir: text('Folder for what the node keeps; relative to the working folder.', '.reprise', 4_096),
  server: server.prefault({}).describe('What the node listens on.'),
  identity: identity.prefault({}).describe('Who may ask.'),
  upstreams: z.record(name, upstream).default({}).meta({ description: 'Models upstream, by name.', default: {} }),
  defaultUpstream: text('Upstream of model names that no rule claims; empty: the only one there is.', '', 64),
  modelTimeoutMs: durationMs('Deadline of a model call.', DEFAULT_NODE_OPTIONS.modelTimeoutMs, { min: 1 }),
  models: z.array(modelRule).max(1_000).default([]).describe('How model names are served; the first rule that fits.'),
  demo: demo.prefault({}).describe('The demo model.'),
  grid: grid.prefault({}).describe('The grid.'),
  cache: cache.prefault({}).describe('The cache.'),
  semantic: semantic.prefault({}).describe('Semantic matching.'),
  namespaces: z
    .record(name, namespace)
    .default({})
    .meta({ description: 'Namespaces by name; `default` is always there.', default: {} }),
  defaultNamespace: name.default('default').describe('Namespace of requests that name none.'),
  domains: z
    .record(name, domain)
    .default({})
    .meta({ description: 'Domains by name; `default` is always there.', default: {} }),
  domainRules: z
    .array(domainRule)
    .max(1_000)
    .default([])
    .describe("How requests get their domain: the first rule that fits; where none fits, the namespace's domain."),
  telemetry: telemetry.prefault({}).describe('Logs and metrics.'),
  recording: recording.prefault({}).describe('What recordings of requests may hold.'),
});

/** `reprise.yaml` after parsing: units resolved, defaults filled in. */
export type Settings = z.output<typeof settingsSchema>;

/** A domain as it is configured. */
export type DomainSettings = Settings['domains'][string];

/** A domain of which nothing is configured. */
export const DEFAULT_DOMAIN_SETTINGS: DomainSettings = domain.parse({});

/** `reprise.yaml` as a person may write it. */
export type SettingsInput = z.input<typeof settingsSchema>;

/** JSON Schema of `reprise.yaml`, for editors and the docs. */
export function settingsJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(settingsSchema, {
    io: 'input',
    unrepresentable: 'any',
    // The default of a field that is parsed from a text gets lost on the way to its input form.
    override: ({ zodSchema, jsonSchema }) => {
      const fallback = z.globalRegistry.get(zodSchema)?.['default'];
      if (fallback !== undefined) jsonSchema.default = fallback as never;
    },
  });
  return { ...schema, title: 'reprise.yaml' };
}
