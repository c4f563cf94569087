import { blankPatternProblem } from '../cache/canonical-rules.ts';
import { wordsOf } from '../semantic/domain-rules.ts';
import { GUARD_NAMES } from '../semantic/guards/guards.ts';
import { DEMO_UPSTREAM, type Config } from './config.ts';
import { nearestName } from './suggest.ts';

/** Body fields that a model rule may not touch: Reprise sets them itself. */
const RESERVED_FIELDS: readonly string[] = ['model', 'stream', 'stream_options', 'cache'];

/** What is wrong between settings that are each right; one sentence each, naming the paths. */
export function crossCheck(config: Config): string[] {
  return [
    ...exposureFaults(config),
    ...identityFaults(config),
    ...upstreamFaults(config),
    ...modelFaults(config),
    ...cacheFaults(config),
    ...gridFaults(config),
    ...timeFaults(config),
    ...semanticFaults(config),
    ...verifierFaults(config),
    ...namespaceFaults(config),
    ...domainRuleFaults(config),
  ];
}

/** True for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function exposureFaults({ server, identity }: Config): string[] {
  const faults: string[] = [];
  if (identity.mode === 'local' && !isLoopback(server.host) && !server.allowOpen) {
    faults.push(
      `server.host ${server.host} is reachable from other machines, and identity.mode local asks nobody for a key: ` +
        'configure identity.keys (or REPRISE_API_KEYS), or set server.allowOpen: true (REPRISE_ALLOW_OPEN=true) to serve anybody',
    );
  }
  if (server.httpPort !== 0 && server.httpPort === server.grpcPort) {
    faults.push(`server.httpPort and server.grpcPort are both ${server.httpPort}`);
  }
  return faults;
}

function identityFaults({ identity, demo, upstreams }: Config): string[] {
  const faults: string[] = [];
  if (identity.mode === 'keys' && identity.keys.length === 0) {
    faults.push('identity.mode keys needs identity.keys or REPRISE_API_KEYS');
  }
  if (identity.mode !== 'keys' && identity.keys.length > 0) {
    faults.push(`identity.keys are configured, but identity.mode ${identity.mode} would not ask for them`);
  }
  if (identity.mode === 'forward' && demo.enabled) {
    faults.push(
      "identity.mode forward can't use the demo model, which accepts any credential: set demo.enabled: false",
    );
  }
  if (identity.mode === 'forward' && Object.keys(upstreams).length === 0) {
    faults.push('identity.mode forward needs an upstream that verifies credentials: configure upstreams');
  }
  const seen = new Map<string, number>();
  identity.keys.forEach((key, index) => {
    const first = seen.get(key.sha256);
    if (first !== undefined) faults.push(`identity.keys[${first}] and identity.keys[${index}] are the same key`);
    seen.set(key.sha256, index);
    if (key.sha256 === identity.adminTokenSha256) faults.push(`identity.keys[${index}] is the admin token`);
  });
  return faults;
}

function upstreamFaults({ identity, upstreams, defaultUpstream, demo, node }: Config): string[] {
  const faults: string[] = [];
  for (const upstream of Object.values(upstreams)) {
    const at = `upstreams.${upstream.name}`;
    if (upstream.name === DEMO_UPSTREAM) faults.push(`${at}: the name ${DEMO_UPSTREAM} belongs to the demo model`);
    const problem = urlProblem(upstream.url);
    if (problem !== undefined) faults.push(`${at}.url ${problem}`);
    if (identity.mode === 'forward' && upstream.auth === 'service') {
      faults.push(`${at}.auth service would accept any credential in identity.mode forward`);
    }
    if (identity.mode !== 'forward' && upstream.auth === 'forward') {
      faults.push(
        `${at}.auth forward needs identity.mode forward: else it would hand Reprise's own keys to the upstream`,
      );
    }
    if (upstream.timeoutMs > node.modelTimeoutMs) {
      faults.push(`${at}.timeoutMs ${upstream.timeoutMs} is above modelTimeoutMs ${node.modelTimeoutMs}`);
    }
  }
  if (defaultUpstream !== '' && !isUpstream({ upstreams, demo }, defaultUpstream)) {
    faults.push(`defaultUpstream ${unknownName(defaultUpstream, upstreamNames({ upstreams, demo }))}`);
  }
  return faults;
}

function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL such as https://api.example.com/v1';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must begin with http:// or https://';
  if (url.username !== '' || url.password !== '') return 'must not hold a credential: use apiKeyEnv';
  return url.search === '' && url.hash === '' ? undefined : 'must have neither query nor fragment';
}

type Upstreams = Pick<Config, 'upstreams' | 'demo'>;

function upstreamNames({ upstreams, demo }: Upstreams): string[] {
  return [...Object.keys(upstreams), ...(demo.enabled ? [DEMO_UPSTREAM] : [])];
}

function isUpstream(config: Upstreams, name: string): boolean {
  return upstreamNames(config).includes(name);
}

function unknownName(wrong: string, known: readonly string[]): string {
  const nearest = nearestName(wrong, known);
  if (nearest !== undefined) return `names ${wrong}, which isn't configured; did you mean ${nearest}?`;
  return `names ${wrong}, which isn't configured; there is ${known.length === 0 ? 'none' : known.slice(0, 10).join(', ')}`;
}

function modelFaults(config: Config): string[] {
  const faults: string[] = [];
  const seen = new Map<string, number>();
  config.node.models.forEach((rule, index) => {
    const at = `models[${index}]`;
    if (rule.upstream === '') faults.push(`${at}.upstream is empty, and there is no default upstream`);
    else if (!isUpstream(config, rule.upstream)) {
      faults.push(`${at}.upstream ${unknownName(rule.upstream, upstreamNames(config))}`);
    }
    const identityOfRule = `${rule.match}\n${[...rule.operations].sort().join()}`;
    const first = seen.get(identityOfRule);
    if (first === undefined) seen.set(identityOfRule, index);
    else faults.push(`${at}.match ${rule.match} is never reached: models[${first}] is the same`);
    for (const part of ['defaults', 'overrides'] as const) {
      for (const field of Object.keys(rule[part])) {
        if (RESERVED_FIELDS.includes(field)) faults.push(`${at}.${part}.${field} can't be set by a rule`);
      }
    }
  });
  return faults;
}

function cacheFaults({ node: { cache }, grid }: Config): string[] {
  const faults: string[] = [];
  const within = (path: string, bound: number): void => {
    if (cache.entryBytesMax > bound)
      faults.push(`cache.entryBytesMax ${cache.entryBytesMax} is above ${path} ${bound}`);
  };
  if (cache.l1 !== 'off') within('cache.l1BytesMax', cache.l1BytesMax);
  within('cache.storeQueueBytesMax', cache.storeQueueBytesMax);
  if (grid.kind === 'memory') within('grid.memory.entriesBytesMax', grid.memory.entriesBytesMax);
  return faults;
}

function gridFaults({ grid, node: { cache } }: Config): string[] {
  const faults: string[] = [];
  const { kind, topology, hazelcast } = grid;
  if (kind === 'memory' && topology !== 'sidecar') {
    faults.push(
      `grid.topology ${topology} needs a grid beyond this process: set grid.kind: hazelcast, or REPRISE_GRID_MEMBERS`,
    );
  }
  if (kind !== 'hazelcast') return faults;
  if (topology === 'sidecar') {
    faults.push('grid.topology sidecar keeps everything in this process: set grid.kind: memory');
  }
  if (topology === 'centralised' && cache.l1 === 'on') {
    faults.push('grid.topology centralised has no near cache, but cache.l1 is on');
  }
  if (topology === 'hybrid' && cache.l1 === 'off') {
    faults.push('grid.topology hybrid has a near cache, but cache.l1 is off: set grid.topology: centralised');
  }
  const ids = hazelcast.keys.map(({ id }) => id);
  ids.forEach((id, index) => {
    if (ids.indexOf(id) !== index) faults.push(`grid.hazelcast.keys: two keys have the id ${id}`);
  });
  const outer = hazelcast.members.find((member) => !isLoopback(hostOf(member)));
  if (outer !== undefined && ids.length === 0 && !hazelcast.allowUnsealed) {
    faults.push(
      `grid.hazelcast.members ${outer} is beyond this machine, and members speak plaintext: configure a key in REPRISE_GRID_KEYS ` +
        '(or grid.hazelcast.keys), or set grid.hazelcast.allowUnsealed: true (REPRISE_GRID_ALLOW_UNSEALED=true) to send prompts and answers in clear',
    );
  }
  hazelcast.members.forEach((member, index) => {
    const port = Number(member.slice(member.lastIndexOf(':') + 1));
    if (port < 1 || port > 65_535) faults.push(`grid.hazelcast.members[${index}] ${member} has no possible port`);
  });
  return faults;
}

function hostOf(member: string): string {
  return member.slice(0, member.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1');
}

function timeFaults({ node }: Config): string[] {
  const { cache } = node;
  const faults: string[] = [];
  const below = (low: string, lowMs: number, high: string, highMs: number): void => {
    if (lowMs >= highMs) faults.push(`${low} ${lowMs} must be below ${high} ${highMs}`);
  };
  below('cache.confirmIntervalMs', cache.confirmIntervalMs, 'cache.stalenessBoundMs', cache.stalenessBoundMs);
  below('cache.lookupBudgetMs', cache.lookupBudgetMs, 'modelTimeoutMs', node.modelTimeoutMs);
  below('cache.joinDeadlineMs', cache.joinDeadlineMs, 'modelTimeoutMs', node.modelTimeoutMs);
  return faults;
}

function semanticFaults({ node: { semantic, domains } }: Config): string[] {
  const faults: string[] = [];
  if (semantic.embedBatchMax > semantic.embedQueueMax) {
    faults.push(
      `semantic.embedBatchMax ${semantic.embedBatchMax} is above semantic.embedQueueMax ${semantic.embedQueueMax}`,
    );
  }
  for (const [name, domain] of Object.entries(domains)) {
    if (domain.similarityMin < semantic.similarityFloor) {
      faults.push(
        `domains.${name}.similarityMin ${domain.similarityMin} is below semantic.similarityFloor ${semantic.similarityFloor}`,
      );
    }
    domain.guards.forEach((guard, index) => {
      if (!GUARD_NAMES.includes(guard)) {
        faults.push(`domains.${name}.guards[${index}] ${unknownName(guard, GUARD_NAMES)}`);
      }
    });
  }
  return faults;
}

function verifierFaults(config: Config): string[] {
  const { kind, model, name } = config.semantic.verifier;
  const faults: string[] = [];
  const wanting = Object.entries(config.node.domains).filter(([, domain]) => domain.verifiedMin !== undefined);
  for (const [domain] of kind === 'off' ? wanting : []) {
    faults.push(`domains.${domain}.verifiedMin needs a verifier: set semantic.verifier.kind`);
  }
  if (kind === 'cross-encoder' && name === '')
    faults.push('semantic.verifier.kind cross-encoder needs semantic.verifier.name');
  if (kind === 'model') {
    if (model === '') faults.push('semantic.verifier.kind model needs semantic.verifier.model');
    const keyless = Object.values(config.upstreams).filter((upstream) => upstream.auth === 'forward');
    if (keyless.length > 0 && keyless.every((upstream) => upstream.apiKey === undefined)) {
      faults.push(
        "semantic.verifier.kind model asks with Reprise's own key, but no upstream has one: set upstreams.NAME.apiKeyEnv",
      );
    }
  }
  return faults;
}

function domainRuleFaults({ node: { domains, domainRules } }: Config): string[] {
  return domainRules.flatMap(({ domain, words }, index) => {
    const at = `domainRules[${index}]`;
    const faults = Object.hasOwn(domains, domain) ? [] : [`${at}.domain ${unknownName(domain, Object.keys(domains))}`];
    const empty = words.findIndex((word) => wordsOf(word).length === 0);
    if (empty >= 0) faults.push(`${at}.words[${empty}] has no letter and no digit`);
    return faults;
  });
}

function namespaceFaults({ node }: Config): string[] {
  const faults: string[] = [];
  if (!Object.hasOwn(node.namespaces, node.defaultNamespace)) {
    faults.push(`defaultNamespace ${unknownName(node.defaultNamespace, Object.keys(node.namespaces))}`);
  }
  for (const [name, namespace] of Object.entries(node.namespaces)) {
    if (!Object.hasOwn(node.domains, namespace.domain)) {
      faults.push(`namespaces.${name}.domain ${unknownName(namespace.domain, Object.keys(node.domains))}`);
    }
    namespace.blank.forEach((rule, index) => {
      const problem = blankPatternProblem(rule.pattern);
      if (problem !== undefined) faults.push(`namespaces.${name}.blank[${index}].pattern ${problem}`);
    });
  }
  return faults;
}
