import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { hasCode } from '../errors.ts';
import { DEFAULT_GUARDS, DEFAULT_NODE_OPTIONS } from '../node/defaults.ts';
import { POLICY_NAMES } from '../ports/options.ts';
import { GUARD_NAMES } from '../semantic/guards/guards.ts';
import { ROOT } from '../../scripts/lib/setup.mjs';
import { describeConfig, loadConfig, type Config, type SettingsInput } from './index.ts';

const BASE = mkdtempSync(join(tmpdir(), 'reprise-config-'));

afterAll(() => rmSync(BASE, { recursive: true, force: true }));

/** Loads from a file of this content (none when empty) in a folder of its own. */
function load(yaml: string, env: Record<string, string> = {}, overrides: SettingsInput = {}): Config {
  const cwd = mkdtempSync(join(BASE, 'case-'));
  if (yaml !== '') writeFileSync(join(cwd, 'reprise.yaml'), yaml);
  return loadConfig({ env, cwd, overrides });
}

/** The message with which a configuration is refused. */
function refusal(yaml: string, env: Record<string, string> = {}, overrides: SettingsInput = {}): string {
  try {
    load(yaml, env, overrides);
  } catch (error) {
    if (hasCode(error, 'config_invalid')) return error.message;
    throw error;
  }
  throw new Error('The configuration was accepted.');
}

function settingOf(config: Config, path: string) {
  return describeConfig(config).settings.find((setting) => setting.path === path);
}

describe('defaults', () => {
  it('are those of the node', () => {
    const { node } = load('');
    expect(node).toEqual({
      ...DEFAULT_NODE_OPTIONS,
      namespaces: { default: { ...DEFAULT_NODE_OPTIONS.namespaces['default'], semantic: 'serve' } },
    });
  });

  it('serve the demo model on loopback to everybody there', () => {
    const config = load('');
    expect(config.server.host).toBe('127.0.0.1');
    expect(config.identity.mode).toBe('local');
    expect(config.defaultUpstream).toBe('demo');
    expect(config.demo.enabled).toBe(true);
  });

  it('observe semantically and leave the demo model off once an upstream is configured', () => {
    const config = load('upstreams: {main: {url: "http://localhost:1"}}');
    expect(config.demo.enabled).toBe(false);
    expect(config.defaultUpstream).toBe('main');
    expect(config.node.namespaces['default']?.semantic).toBe('observe');
  });

  it('are filled in for a namespace and a domain of which the file says little', () => {
    const { node } = load('namespaces: {a: {ttlMs: 1h}, b: }\ndomains: {strict: {similarityMin: 0.95}}');
    expect(node.namespaces['a']).toMatchObject({ ttlMs: 3_600_000, graceMs: 0, domain: 'default' });
    expect(node.namespaces['b']).toMatchObject({ ttlMs: 86_400_000 });
    expect(node.domains['strict']).toMatchObject({ similarityMin: 0.95, guards: [...DEFAULT_GUARDS] });
  });
});

describe('the eviction policy', () => {
  it.each(POLICY_NAMES)('may be %s', (policy) => {
    expect(load(`cache: {policy: ${policy}}`).node.cache.policy).toBe(policy);
  });
});

describe('layers', () => {
  const yaml = 'server: {httpPort: 1001, grpcPort: 1002}';

  it('lay the environment over the file and overrides over both', () => {
    const config = load(
      yaml,
      { REPRISE_HTTP_PORT: '2001', REPRISE_GRPC_PORT: '2002' },
      { server: { grpcPort: 3_002 } },
    );
    expect(config.server).toMatchObject({ httpPort: 2_001, grpcPort: 3_002 });
  });

  it('tell where each value comes from', () => {
    const config = load(yaml, { REPRISE_GRPC_PORT: '2002' }, { server: { drainMs: '1s' } });
    expect(settingOf(config, 'server.httpPort')).toEqual({
      path: 'server.httpPort',
      value: 1_001,
      origin: 'reprise.yaml',
    });
    expect(settingOf(config, 'server.grpcPort')?.origin).toBe('REPRISE_GRPC_PORT');
    expect(settingOf(config, 'server.drainMs')?.origin).toBe('override');
    expect(settingOf(config, 'server.host')?.origin).toBe('default');
  });

  it('read the file that REPRISE_CONFIG names', () => {
    const folder = mkdtempSync(join(BASE, 'case-'));
    writeFileSync(join(folder, 'other.yaml'), yaml);
    const config = loadConfig({ cwd: folder, env: { REPRISE_CONFIG: 'other.yaml' } });
    expect(config.server.httpPort).toBe(1_001);
    expect(config.file).toBe(join(folder, 'other.yaml'));
  });

  it('take an empty variable for one that is not set', () => {
    expect(load('', { REPRISE_HTTP_PORT: '' }).server.httpPort).toBe(8_080);
  });

  it('take durations and sizes with units from variables', () => {
    const { node } = load('', { REPRISE_LOOKUP_BUDGET_MS: '2s', REPRISE_BODY_MEMO_BYTES: '0' });
    expect(node.cache).toMatchObject({ lookupBudgetMs: 2_000, bodyMemoBytesMax: 0 });
  });

  it('let REPRISE_SEMANTIC win over what a namespace says', () => {
    const config = load('namespaces: {a: {semantic: serve}}', { REPRISE_SEMANTIC: 'off' });
    expect(config.node.namespaces['a']?.semantic).toBe('off');
    expect(settingOf(config, 'namespaces.a.semantic')?.origin).toBe('REPRISE_SEMANTIC');
  });

  it('let a namespace win over semantic.mode', () => {
    const { node } = load('semantic: {mode: off}\nnamespaces: {a: {semantic: observe}, b: {}}');
    expect([node.namespaces['a']?.semantic, node.namespaces['b']?.semantic]).toEqual(['observe', 'off']);
  });

  it('make a default upstream of REPRISE_UPSTREAM_URL', () => {
    const config = load('', { REPRISE_UPSTREAM_URL: 'http://localhost:9/v1/', REPRISE_UPSTREAM_KEY: 'k' });
    expect(config.defaultUpstream).toBe('default');
    expect(config.upstreams['default']?.url).toBe('http://localhost:9/v1');
    expect(config.upstreams['default']?.apiKey?.reveal()).toBe('k');
  });

  it.each([
    ['no upstream', ''],
    ['several and none chosen', 'upstreams: {a: {url: "http://a"}, b: {url: "http://b"}}'],
  ])('refuse a REPRISE_UPSTREAM_KEY with %s', (_what, file) => {
    expect(() => load(file, { REPRISE_UPSTREAM_KEY: 'k' })).toThrow('REPRISE_UPSTREAM_URL');
  });

  it('let REPRISE_UPSTREAM_URL move the only upstream and keep its other settings', () => {
    const config = load('upstreams: {main: {url: "http://a", concurrencyMax: 3}}', {
      REPRISE_UPSTREAM_URL: 'http://b',
    });
    expect(config.upstreams).toMatchObject({ main: { url: 'http://b', concurrencyMax: 3 } });
  });

  it('put model rules without an upstream on the default one', () => {
    const { node } = load('upstreams: {main: {url: "http://a"}}\nmodels: [{match: "gpt-*"}]');
    expect(node.models[0]?.upstream).toBe('main');
  });

  it('keep a null among the fields of a model rule', () => {
    const { node } = load('models: [{match: m, overrides: {seed: null}}]');
    expect(node.models[0]?.overrides).toEqual({ seed: null });
  });
});

describe('refusals', () => {
  it.each([
    [
      'cache: {l1BytesMx: 1}',
      'cache.l1BytesMx (from reprise.yaml) is not a known setting; did you mean cache.l1BytesMax?',
    ],
    ['httpPort: 1', 'httpPort (from reprise.yaml) is not a known setting; did you mean server.httpPort?'],
    ['namespaces: {a: {ttl: 1h}}', 'did you mean namespaces.a.ttlMs?'],
    ['models: [{match: m, versoin: "2"}]', 'did you mean models[0].version?'],
    ['server: {port: 1}', 'did you mean server.httpPort?'],
    ['serverr: {httpPort: 1}', 'serverr (from reprise.yaml) is not a known setting; did you mean server?'],
    ['cach: {}', 'cach (from reprise.yaml) is not a known setting; did you mean cache?'],
    ['__proto__: {l1: on}', '__proto__ (from reprise.yaml) is not a known setting.'],
    ['__proto__: 5', '__proto__ (from reprise.yaml) is not a known setting.'],
    ['cache: {constructor: 5}', 'cache.constructor (from reprise.yaml) is not a known setting.'],
  ])('name the setting, its source and the nearest name: %s', (yaml, expected) => {
    const message = refusal(yaml);
    expect(message).toContain(expected);
    expect(message).not.toContain('?.');
  });

  it('name the nearest variable', () => {
    expect(refusal('', { REPRISE_HTP_PORT: '1' })).toContain(
      'REPRISE_HTP_PORT is not known; did you mean REPRISE_HTTP_PORT?',
    );
  });

  it.each([
    ['REPRISE_PORT', 'REPRISE_HTTP_PORT'],
    ['REPRISE_MEMBERS', 'REPRISE_GRID_MEMBERS'],
    ['REPRISE_LOGLEVEL', 'REPRISE_LOG_LEVEL'],
  ])('know %s for %s', (wrong, meant) => {
    expect(refusal('', { [wrong]: '1' })).toContain(`did you mean ${meant}?`);
  });

  it('name the variable that holds a wrong value', () => {
    expect(refusal('', { REPRISE_HTTP_PORT: '99999' })).toContain('server.httpPort (from REPRISE_HTTP_PORT) must be');
  });

  it('list several faults at once', () => {
    expect(refusal('cache: {policy: mru}\nserver: {httpPort: x}')).toMatch(/^2 settings are wrong:\n- .*\n- /);
  });

  it.each([
    ['lookup budget without a unit in a text', 'cache: {lookupBudgetMs: "50"}', 'a text such as "500ms"'],
    ['negative duration', 'cache: {lookupBudgetMs: -1}', 'from 1 to 60000'],
    ['threshold above 1', 'domains: {default: {similarityMin: 1.5}}', 'a number from 0 to 1'],
    ['name with a slash', 'namespaces: {a/b: {}}', 'must be a name'],
    ['whole number that a double rounds', 'models: [{match: m, overrides: {seed: 9007199254740993}}]', 'held exactly'],
    ['member named twice', 'server: {}\nserver: {}', 'unique'],
    ['broken YAML', 'server: {', 'reprise.yaml'],
    ['list instead of a mapping', '- a', 'must be a mapping'],
    ['file of two documents', 'server: {}\n---\ncache: {}', 'reprise.yaml: the file holds several YAML documents'],
  ])('of a %s', (_, yaml, expected) => {
    expect(refusal(yaml)).toContain(expected);
  });

  it('of a named file that is not there', () => {
    expect(refusal('', { REPRISE_CONFIG: 'nowhere.yaml' })).toContain('nowhere.yaml');
  });

  it('of a folder in the place of the file, as it was named', () => {
    expect(refusal('', { REPRISE_CONFIG: BASE })).toBe(
      `The configuration file ${BASE} can't be read (it is a folder).`,
    );
  });
});

describe('cross-checks', () => {
  it.each(['0.0.0.0', '::', '192.168.1.5', 'example.com', '127.0.0.1.example.com'])(
    'refuse to bind %s while nobody is asked for a key',
    (host) => {
      expect(refusal('', { REPRISE_HOST: host })).toContain('server.allowOpen: true');
    },
  );

  it('allow to bind wider by name, or with keys', () => {
    expect(load('', { REPRISE_HOST: '0.0.0.0', REPRISE_ALLOW_OPEN: 'true' }).server.host).toBe('0.0.0.0');
    expect(load('', { REPRISE_HOST: '0.0.0.0', REPRISE_API_KEYS: 'k:acme' }).identity.mode).toBe('keys');
  });

  const upstream = 'upstreams: {main: {url: "http://a"}}\n';

  it.each([
    ['entry above the near cache', 'cache: {entryBytesMax: 2MiB, l1BytesMax: 1MiB}', 'cache.l1BytesMax'],
    ['entry above the store queue', 'cache: {entryBytesMax: 2MiB, storeQueueBytesMax: 1MiB}', 'storeQueueBytesMax'],
    ['entry above the grid', 'grid: {memory: {entriesBytesMax: 1MiB}}', 'grid.memory.entriesBytesMax'],
    ['confirmation slower than the bound', 'cache: {confirmIntervalMs: 2s}', 'cache.stalenessBoundMs'],
    ['budget above the model deadline', 'modelTimeoutMs: 40ms', 'cache.lookupBudgetMs'],
    ['unknown domain', 'namespaces: {a: {domain: medical}}\ndomains: {medicl: {}}', 'did you mean medicl?'],
    ['unknown guard', 'domains: {default: {guards: [number]}}', 'did you mean numbers?'],
    ['unknown upstream in a rule', `${upstream}models: [{match: m, upstream: mian}]`, 'did you mean main?'],
    ['unknown default upstream', `${upstream}defaultUpstream: other`, 'there is main'],
    ['unknown default namespace', 'defaultNamespace: a', 'there is default'],
    ['rule that is never reached', 'models: [{match: m}, {match: m, version: "2"}]', 'never reached'],
    ['rule that sets the stream', 'models: [{match: m, overrides: {stream: true}}]', 'models[0].overrides.stream'],
    ['threshold below the floor', 'domains: {default: {similarityMin: 0.4}}', 'semantic.similarityFloor'],
    ['batch above the queue', 'semantic: {embedQueueMax: 2}', 'semantic.embedBatchMax'],
    ['same port twice', 'server: {httpPort: 5000, grpcPort: 5000}', 'both 5000'],
    ['upstream named demo', 'upstreams: {demo: {url: "http://a"}}', 'belongs to the demo model'],
    ['credential in a URL', 'upstreams: {main: {url: "http://u:p@a"}}', 'must not hold a credential'],
    ['URL of another protocol', 'upstreams: {main: {url: "ftp://a"}}', 'http://'],
    ['bad blank pattern', 'namespaces: {a: {blank: [{pattern: "("}]}}', 'not a regular expression'],
    ['blank pattern of nothing', 'namespaces: {a: {blank: [{pattern: "x*"}]}}', 'empty text'],
    ['keys mode without keys', 'identity: {mode: keys}', 'REPRISE_API_KEYS'],
    ['own key to an upstream', 'upstreams: {main: {url: "http://a", auth: forward}}', 'identity.mode forward'],
    [
      'forward mode that trusts anything',
      `${upstream.replace('}', ', auth: service}')}identity: {mode: forward}`,
      'any credential',
    ],
    ['forward mode on the demo model', 'identity: {mode: forward}', 'demo'],
  ])('refuse: %s', (_, yaml, expected) => {
    expect(refusal(yaml)).toContain(expected);
  });

  it('know the guards that there are', () => {
    expect(DEFAULT_GUARDS.filter((guard) => !GUARD_NAMES.includes(guard))).toEqual([]);
    const domains = { all: { guards: [...GUARD_NAMES] } };
    expect(load('', {}, { domains }).node.domains['all']?.guards).toEqual(GUARD_NAMES);
  });

  it('refuse keys that nobody would be asked for', () => {
    expect(refusal('identity: {mode: local}', { REPRISE_API_KEYS: 'k:acme' })).toContain('would not ask');
  });

  it('refuse one key twice', () => {
    expect(refusal('', { REPRISE_API_KEYS: 'k:acme,k:other' })).toContain('the same key');
  });

  it('leave the near cache out of it when it is off', () => {
    expect(load('cache: {l1: off, l1BytesMax: 4KiB}').node.cache.l1).toBe('off');
  });
});

describe('credentials', () => {
  const secrets = ['sk-upstream-secret', 'admin-secret', 'alice-secret', 'bob:secret'];
  const yaml = `
upstreams: {main: {url: "http://a", apiKeyEnv: MAIN_KEY}}
identity: {keys: [{env: REPRISE_KEY_ALICE, tenant: alice, role: admin}]}`;
  const env = {
    MAIN_KEY: 'sk-upstream-secret',
    REPRISE_ADMIN_TOKEN: 'admin-secret',
    REPRISE_KEY_ALICE: 'alice-secret',
    REPRISE_API_KEYS: 'bob:secret:bob:write',
  };

  it('are read from the variables that the file names', () => {
    const { upstreams, identity } = load(yaml, env);
    expect(upstreams['main']?.apiKey?.reveal()).toBe('sk-upstream-secret');
    expect(identity.keys).toMatchObject([
      { tenant: 'alice', role: 'admin' },
      { tenant: 'bob', role: 'write' },
    ]);
    expect(identity.adminTokenSha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('never appear in what describes, prints or serialises the configuration', () => {
    const config = load(yaml, env);
    const shown = JSON.stringify(describeConfig(config)) + JSON.stringify(config) + inspect(config, { depth: 20 });
    for (const secret of secrets) expect(shown).not.toContain(secret);
    expect(JSON.stringify(describeConfig(config))).not.toContain(config.identity.adminTokenSha256);
  });

  it('never appear in the refusal of a malformed list', () => {
    const message = refusal('', { REPRISE_API_KEYS: 'good-secret:acme,lonely-secret' });
    expect(message).toContain('item 2');
    expect(message).not.toContain('secret');
  });

  it.each(['ka:acme:Admin', 'ka:acme:', 'good:acme,ka:kb:acme:writer', 'ka:acme: admin x'])(
    'are refused where a third part is no role: %s',
    (listed) => {
      const message = refusal('', { REPRISE_API_KEYS: listed });
      expect(message).toMatch(/item [12] .*read, write, admin\..*sha256/u);
      expect(message).not.toContain('acme');
    },
  );

  it('are missed by the names of setting and variable', () => {
    expect(refusal(yaml, { REPRISE_KEY_ALICE: 'k' })).toContain(
      'upstreams.main.apiKeyEnv names the environment variable MAIN_KEY',
    );
  });
});

describe('the result', () => {
  it('is frozen to its leaves', () => {
    const config = load('models: [{match: m, overrides: {a: {b: [1]}}}]');
    const inner = config.node.models[0]?.overrides['a'] as { b: number[] };
    expect(() => inner.b.push(2)).toThrow(TypeError);
    expect(Object.isFrozen(config.server)).toBe(true);
  });

  it('finds the model of the set-up in the data folder that the set-up used', () => {
    expect(load('', { REPRISE_DATA_DIR: '/data' }).embedder.modelDir).toBe('/data/models');
  });

  it('finds the model of the set-up in the clone, wherever it is started', () => {
    expect(load('dataDir: elsewhere').embedder.modelDir).toBe(join(ROOT, '.reprise', 'models'));
  });
});
