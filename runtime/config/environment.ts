import { createHash } from 'node:crypto';
import { RepriseError } from '../errors.ts';
import type { Layer, RawObject } from './layers.ts';
import { nearestName } from './suggest.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

type Read = (text: string) => unknown;

interface Variable {
  readonly path: string;
  readonly read: Read;
  readonly doc: string;
}

const asText: Read = (text) => text;
/** Digits are a number; all else goes to the schema as it is, to be parsed as a text with a unit or refused. */
const asNumber: Read = (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text);
const asList: Read = (text) => text.split(',').map((item) => item.trim());

function asFlag(text: string): unknown {
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : text;
}

/** Variables that set one setting each. */
export const SETTING_VARIABLES: Readonly<Record<string, Variable>> = {
  REPRISE_HOST: { path: 'server.host', read: asText, doc: 'Address to bind.' },
  REPRISE_HTTP_PORT: { path: 'server.httpPort', read: asNumber, doc: 'Port of the HTTP server.' },
  REPRISE_GRPC_PORT: { path: 'server.grpcPort', read: asNumber, doc: 'Port of the gRPC server.' },
  REPRISE_ALLOW_OPEN: { path: 'server.allowOpen', read: asFlag, doc: 'Bind beyond loopback without credentials.' },
  REPRISE_BODY_BYTES_MAX: { path: 'server.bodyBytesMax', read: asNumber, doc: 'Largest request body.' },
  REPRISE_DRAIN_MS: { path: 'server.drainMs', read: asNumber, doc: 'Time for running requests at a stop.' },
  REPRISE_REQUEST_LOG: { path: 'server.requestLog', read: asFlag, doc: 'One log line a request.' },
  REPRISE_IDENTITY: { path: 'identity.mode', read: asText, doc: 'auto, local, keys or forward.' },
  REPRISE_DATA_DIR: { path: 'dataDir', read: asText, doc: 'Folder for what the node keeps; the set-up obeys it too.' },
  REPRISE_NODE_ID: { path: 'nodeId', read: asText, doc: 'Name of this node.' },
  REPRISE_DEMO: { path: 'demo.enabled', read: asFlag, doc: 'The demo model.' },
  REPRISE_DEMO_FIRST_TOKEN_MS: { path: 'demo.firstTokenMs', read: asNumber, doc: 'Latency of its first token.' },
  REPRISE_DEMO_PER_TOKEN_MS: { path: 'demo.perTokenMs', read: asNumber, doc: 'Latency of each further token.' },
  REPRISE_GRID: { path: 'grid.kind', read: asText, doc: 'memory or hazelcast.' },
  REPRISE_GRID_TOPOLOGY: { path: 'grid.topology', read: asText, doc: 'auto, sidecar, centralised or hybrid.' },
  REPRISE_GRID_CLUSTER: { path: 'grid.hazelcast.clusterName', read: asText, doc: 'Name of the Hazelcast cluster.' },
  REPRISE_GRID_MEMBERS_EXPECTED: {
    path: 'grid.hazelcast.membersExpected',
    read: asNumber,
    doc: 'Members that the cluster has when it is whole.',
  },
  REPRISE_GRID_ALLOW_UNSEALED: {
    path: 'grid.hazelcast.allowUnsealed',
    read: asFlag,
    doc: 'Send values in clear to members beyond loopback.',
  },
  REPRISE_ENTRIES_BYTES_MAX: { path: 'grid.memory.entriesBytesMax', read: asNumber, doc: 'Bound of the entries.' },
  REPRISE_VECTORS_BYTES_MAX: { path: 'grid.memory.vectorsBytesMax', read: asNumber, doc: 'Bound of the vectors.' },
  REPRISE_L1: { path: 'cache.l1', read: asText, doc: 'auto, on or off.' },
  REPRISE_BODY_MEMO_BYTES: { path: 'cache.bodyMemoBytesMax', read: asNumber, doc: 'Bound of the body memo; 0: off.' },
  REPRISE_LOOKUP_BUDGET_MS: { path: 'cache.lookupBudgetMs', read: asNumber, doc: 'Deadline of all look-ups.' },
  REPRISE_JOIN_DEADLINE_MS: { path: 'cache.joinDeadlineMs', read: asNumber, doc: 'Deadline of joining a flight.' },
  REPRISE_EMBEDDER_THREADS: { path: 'semantic.embedder.threads', read: asNumber, doc: 'Worker threads.' },
  REPRISE_EXECUTION_PROVIDERS: {
    path: 'semantic.embedder.executionProviders',
    read: asList,
    doc: 'Execution providers, separated by commas.',
  },
  REPRISE_LOG_LEVEL: { path: 'telemetry.logLevel', read: asText, doc: 'debug, info, warn or error.' },
};

/** Variables with a meaning of their own. */
export const SPECIAL_VARIABLES: Readonly<Record<string, string>> = {
  REPRISE_CONFIG: 'The configuration file; absent: `reprise.yaml` in the working folder, where there is one.',
  REPRISE_UPSTREAM_URL: 'Base URL of the default upstream, which it makes where the file has none.',
  REPRISE_UPSTREAM_KEY: 'Key of the default upstream.',
  REPRISE_API_KEYS:
    'Keys as `key:tenant` or `key:tenant:role`, separated by commas; added to those of the file. A key that holds `:` needs its role.',
  REPRISE_ADMIN_TOKEN: 'The admin token, unless `identity.adminTokenEnv` names another variable.',
  REPRISE_GRID_MEMBERS:
    'Members of a Hazelcast cluster as `host:port`, separated by commas; the grid is then Hazelcast unless `REPRISE_GRID` says otherwise.',
  REPRISE_GRID_KEYS:
    'Keys that seal what goes to the members, as `id:key` with the 32 bytes of the key in base64, separated by commas; before those of the file, and the first one seals.',
  REPRISE_SEMANTIC: 'off, observe, serve or auto: the mode of every namespace, whatever the file says.',
};

/** Variables that other parts of the project read; a node ignores them. */
export const OUTSIDE_VARIABLES: Readonly<Record<string, string>> = {
  REPRISE_ADDRESS: 'Where the CLI finds the node, `host:port` of its gRPC server.',
  REPRISE_API_KEY: 'The key that the CLI sends; without one it sends `REPRISE_ADMIN_TOKEN`.',
  REPRISE_TEST_DATA: "Folder of the tests' data.",
  REPRISE_TEST_LONG: 'Set to anything: tests that take minutes run at full length.',
  REPRISE_TEST_PYTHON: 'Python with the openai package, for the tests of that client.',
  REPRISE_MODEL_BASE_URL: "Where the set-up fetches the embedding model's files.",
};

const ROLES: readonly string[] = ['read', 'write', 'admin'];

/** SHA-256 of a credential's UTF-8, lower-case hex. */
export function credentialHash(credential: string): string {
  return createHash('sha256').update(credential, 'utf8').digest('hex');
}

/** A variable's value; an empty one counts as not set. */
export function variable(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

/** The value of a variable that a setting at `path` names. */
export function required(env: Environment, name: string, path: string): string {
  const value = variable(env, name);
  if (value === undefined) {
    throw new RepriseError('config_invalid', `${path} names the environment variable ${name}, which isn't set.`);
  }
  return value;
}

/** One layer for each variable that sets a setting. */
export function environmentLayers(env: Environment): Layer[] {
  const members = variable(env, 'REPRISE_GRID_MEMBERS');
  const grid: Layer[] =
    members === undefined
      ? []
      : [
          {
            origin: 'REPRISE_GRID_MEMBERS',
            values: { grid: { kind: 'hazelcast', hazelcast: { members: asList(members) } } },
          },
        ];
  const each = Object.entries(SETTING_VARIABLES).flatMap(([name, { path, read }]) => {
    const value = variable(env, name);
    return value === undefined ? [] : [{ origin: name, values: nest(path.split('.'), read(value)) }];
  });
  return [...grid, ...each];
}

function nest(path: readonly string[], value: unknown): RawObject {
  return path.reduceRight<unknown>((inner, member) => ({ [member]: inner }), value) as RawObject;
}

/** The keys of `REPRISE_API_KEYS`, hashed, in the shape of `identity.keys`. */
export function keysFromEnvironment(env: Environment): RawObject[] {
  const listed = variable(env, 'REPRISE_API_KEYS');
  if (listed === undefined) return [];
  return listed.split(',').map((item, index) => {
    const parts = item.trim().split(':');
    if (parts.length > 2 && !ROLES.includes(parts.at(-1) ?? '')) throw notARole(index + 1);
    const role = parts.length > 2 ? parts.pop() : 'read';
    const tenant = parts.pop() ?? '';
    const key = parts.join(':');
    if (key === '' || tenant === '') {
      throw new RepriseError(
        'config_invalid',
        `REPRISE_API_KEYS: item ${index + 1} is not key:tenant or key:tenant:role.`,
      );
    }
    return { name: `REPRISE_API_KEYS-${index + 1}`, sha256: credentialHash(key), tenant, role };
  });
}

/** Read as a tenant, a mistyped role would make a key that nobody has. */
function notARole(item: number): RepriseError {
  return new RepriseError(
    'config_invalid',
    `REPRISE_API_KEYS: item ${item} has a third part, which must be a role: ${ROLES.join(', ')}. A key that holds ":" is written with its role, or in the file, as identity.keys[].sha256.`,
  );
}

/** Refuses `REPRISE_*` variables that nothing knows; `named` are those that the settings name themselves. */
export function refuseUnknownVariables(env: Environment, named: readonly string[]): void {
  const known = [
    ...Object.keys(SETTING_VARIABLES),
    ...Object.keys(SPECIAL_VARIABLES),
    ...Object.keys(OUTSIDE_VARIABLES),
  ];
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('REPRISE_') && !known.includes(name) && !named.includes(name),
  );
  if (unknown.length === 0) return;
  const lines = unknown.sort().map((name) => {
    const nearest = nearestName(name, known);
    return `environment variable ${name} is not known${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
  });
  throw new RepriseError('config_invalid', `${lines.join('\n')}\nAll variables are listed in docs/configuration.md.`);
}
