import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig, type Config } from '../../runtime/config/index.ts';
import { METRICS, type MetricDefinition } from '../../runtime/ports/metrics.ts';
import { instructionsNamed, lastNamed, parseDockerfile, userOf, variablesOf, type Stage } from './dockerfile.ts';

/** The files that a deployment is made of, by their paths from the root. */
export const DEPLOYMENT_FILES = [
  'Dockerfile',
  'compose.yaml',
  'deploy/reprise.yaml',
  'deploy/reprise.env.example',
  'deploy/prometheus/prometheus.yml',
  'deploy/prometheus/alerts.yml',
  'grid/hazelcast/member/hazelcast.yaml',
] as const;

export type DeploymentFile = (typeof DEPLOYMENT_FILES)[number];
export type DeploymentTexts = Readonly<Record<DeploymentFile, string>>;

export function readDeployment(root: string): DeploymentTexts {
  return Object.fromEntries(
    DEPLOYMENT_FILES.map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  ) as DeploymentTexts;
}

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly target: string; readonly args?: Record<string, string> };
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly networks?: readonly string[] | Readonly<Record<string, { readonly aliases?: readonly string[] }>>;
  readonly restart?: string;
  readonly mem_limit?: string;
  readonly stop_grace_period?: string;
  readonly healthcheck?: unknown;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** Everything that the checks look at. */
class Deployment {
  readonly root: string;
  readonly texts: DeploymentTexts;
  readonly stages: readonly Stage[];
  readonly compose: Compose;
  readonly services: readonly (readonly [name: string, service: Service])[];

  constructor(root: string, texts: DeploymentTexts) {
    this.root = root;
    this.texts = texts;
    this.stages = parseDockerfile(texts.Dockerfile);
    this.compose = parse(texts['compose.yaml'], { merge: true }) as Compose;
    this.services = Object.entries(this.compose.services);
  }

  stage(name: string | undefined): Stage | undefined {
    return this.stages.find((stage) => stage.name === name);
  }

  /** Services that are built from a target. */
  built(target: string): (readonly [name: string, service: Service])[] {
    return this.services.filter(([, { build }]) => build?.target === target);
  }
}

/** What is wrong with the deployment's files, one line each; empty when all of them fit each other and the repository. */
export function deploymentFaults(root: string, texts: DeploymentTexts): string[] {
  const deployment = new Deployment(root, texts);
  const faults: string[] = [];
  for (const check of CHECKS) check(deployment, (fault) => faults.push(fault));
  return faults;
}

type Check = (deployment: Deployment, fault: (line: string) => unknown) => void;

const CHECKS: readonly Check[] = [
  checkCopies,
  checkImages,
  checkServices,
  checkVolumes,
  checkNodes,
  checkMembers,
  checkPrometheus,
  checkAlerts,
  checkSecrets,
];

/** What is copied is in the repository, or comes from an earlier stage; commands run files that are copied. */
function checkCopies({ root, stages }: Deployment, fault: (line: string) => unknown): void {
  const known = new Set<string>();
  for (const one of stages) {
    for (const { text, flags, line } of instructionsNamed(one, 'COPY')) {
      const from = flags['from'];
      if (from !== undefined && !known.has(from)) fault(`Dockerfile:${line} copies from ${from}, no stage before it`);
      const sources = text.split(/\s+/).slice(0, -1);
      for (const source of from === undefined ? sources : []) {
        if (!existsSync(join(root, source))) fault(`Dockerfile:${line} copies ${source}, which isn't there`);
      }
    }
    known.add(one.name);
  }
  const node = stages.find(({ name }) => name === 'node');
  const words = node === undefined ? undefined : lastNamed(node, 'CMD')?.words;
  const [program, script = ''] = words ?? [];
  const source = script.replace(/^dist\//, '').replace(/\.js$/, '.ts');
  if (program !== 'node' || !script.startsWith('dist/') || !existsSync(join(root, source))) {
    fault(`Dockerfile: the node's CMD runs ${script || 'nothing'}, which the build doesn't make`);
  }
}

/** Images are of a version, run as somebody else than root, stop at SIGTERM and tell their health. */
function checkImages({ stages }: Deployment, fault: (line: string) => unknown): void {
  const names = stages.map(({ name }) => name);
  for (const { base, name } of stages) {
    if (!names.includes(base) && !/:[\w.-]*\d/.test(base)) fault(`Dockerfile: ${name} is built on ${base}, no version`);
  }
  for (const target of ['node', 'member']) {
    const stage = stages.find(({ name }) => name === target);
    if (stage === undefined) {
      fault(`Dockerfile: there is no target ${target}`);
      continue;
    }
    if (!/^[1-9]\d*(:[1-9]\d*)?$/.test(userOf(stage))) fault(`Dockerfile: ${target} doesn't run as a user by number`);
    if (lastNamed(stage, 'HEALTHCHECK')?.words === undefined) fault(`Dockerfile: ${target} has no health check`);
    if (lastNamed(stage, 'STOPSIGNAL')?.text !== 'SIGTERM') fault(`Dockerfile: ${target} doesn't stop at SIGTERM`);
    const start = lastNamed(stage, 'ENTRYPOINT') ?? lastNamed(stage, 'CMD');
    if (start?.words === undefined)
      fault(`Dockerfile: ${target} isn't started in exec form, so signals don't reach it`);
  }
  if (stages.at(-1)?.name !== 'node') fault('Dockerfile: the last target, which is the default, is not node');
}

/** Each service can be built or fetched, waits for healthy ones, is bounded, and is published on loopback only. */
function checkServices(deployment: Deployment, fault: (line: string) => unknown): void {
  const { compose, services } = deployment;
  for (const [name, service] of services) {
    const { build, image = '' } = service;
    const stage = deployment.stage(build?.target);
    if (build === undefined ? !/:[\w.-]*\d/.test(image) : stage === undefined) {
      fault(`compose.yaml: ${name} has neither an image of a version nor a target of the Dockerfile`);
    }
    for (const arg of Object.keys(build?.args ?? {})) {
      if (!deployment.stages.some((one) => arg in variablesOf(one, 'ARG')))
        fault(`compose.yaml: ${name} builds with ${arg}, which the Dockerfile doesn't take`);
    }
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const needed = compose.services[other];
      if (needed === undefined) fault(`compose.yaml: ${name} waits for ${other}, which isn't there`);
      else if (condition !== 'service_healthy') fault(`compose.yaml: ${name} doesn't wait until ${other} is healthy`);
      else if (needed.healthcheck === undefined && needed.build === undefined)
        fault(`compose.yaml: ${other} has no health check that ${name} could wait for`);
    }
    for (const network of networksOf(service)) {
      if (!(network in compose.networks))
        fault(`compose.yaml: ${name} is in the network ${network}, which isn't there`);
    }
    if (service.restart === undefined) fault(`compose.yaml: ${name} has no restart policy`);
    if (service.mem_limit === undefined) fault(`compose.yaml: ${name} has no memory limit`);
    for (const port of service.ports ?? []) {
      if (!/^127\.0\.0\.1:\d+:\d+$/.test(port)) fault(`compose.yaml: ${name} publishes ${port} beyond loopback`);
    }
  }
}

function networksOf({ networks = [] }: Service): string[] {
  return Array.isArray(networks) ? [...(networks as string[])] : Object.keys(networks);
}

/** Mounted files are there, named volumes declared, and a node's volume is where it keeps its data. */
function checkVolumes({ root, compose, services, stages }: Deployment, fault: (line: string) => unknown): void {
  for (const [name, { volumes = [] }] of services) {
    for (const volume of volumes) {
      const [source = ''] = volume.split(':');
      const isThere = source.startsWith('.') ? existsSync(join(root, source)) : source in compose.volumes;
      if (!isThere) fault(`compose.yaml: ${name} mounts ${source}, which isn't there`);
    }
  }
  const node = stages.find(({ name }) => name === 'node');
  const folder = node === undefined ? undefined : lastNamed(node, 'VOLUME')?.text;
  for (const [name, { volumes = [], build }] of services) {
    if (build?.target === 'node' && !volumes.some((volume) => volume.split(':')[1] === folder))
      fault(`compose.yaml: ${name} keeps nothing at ${folder}, the image's volume`);
  }
}

/** Secrets as a user would have filled them in; made up, and of the right shape. */
const FILLED: Readonly<Record<string, string>> = {
  REPRISE_GRID_KEYS: `a:${Buffer.alloc(32, 7).toString('base64')}`,
  REPRISE_API_KEYS: 'secret:acme:write',
  REPRISE_ADMIN_TOKEN: 'admin-secret',
};

/** The node's configuration as its container would have it: unknown variables and contradictions throw. */
export function nodeConfig(
  root: string,
  texts: DeploymentTexts,
  environment: Readonly<Record<string, string>>,
): Config {
  const stage = parseDockerfile(texts.Dockerfile).find(({ name }) => name === 'node');
  const folder = mkdtempSync(join(tmpdir(), 'reprise-deployment-'));
  try {
    const file = join(folder, 'reprise.yaml');
    writeFileSync(file, texts['deploy/reprise.yaml']);
    const set = stage === undefined ? {} : variablesOf(stage, 'ENV');
    const env = { ...set, ...exampleVariables(texts), ...FILLED, ...environment };
    return loadConfig({ file, env, cwd: root });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function exampleVariables(texts: DeploymentTexts): Record<string, string> {
  const lines = texts['deploy/reprise.env.example'].split('\n').filter((line) => /^\w/.test(line));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** Each node takes its settings, listens where it is published, drains in time, and keeps its data on its volume. */
function checkNodes(deployment: Deployment, fault: (line: string) => unknown): void {
  const { root, texts, stages } = deployment;
  const nodes = deployment.built('node');
  if (nodes.length !== 2) fault(`compose.yaml: there are ${nodes.length} nodes`);
  const node = deployment.stage('node');
  if (node === undefined) return;
  const set = variablesOf(node, 'ENV');
  if (set['NODE_ENV'] !== 'production') fault('Dockerfile: NODE_ENV is not production');
  const copied = instructionsNamed(node, 'COPY').map(({ text }) => text.split(/\s+/));
  if (!copied.some(([from, to]) => from === 'deploy/reprise.yaml' && to === set['REPRISE_CONFIG']))
    fault('Dockerfile: REPRISE_CONFIG names a file that is not copied there');
  const exposed = (lastNamed(node, 'EXPOSE')?.text ?? '').split(' ').map(Number);
  const folder = lastNamed(node, 'VOLUME')?.text;
  for (const [name, service] of nodes) {
    const { environment = {}, env_file: files = [] } = service;
    if (!files.some(({ path, required }) => path === 'deploy/reprise.env' && required))
      fault(`compose.yaml: ${name} starts without deploy/reprise.env`);
    let config: Config;
    try {
      config = nodeConfig(root, texts, environment);
    } catch (error) {
      fault(`compose.yaml: ${name} would not start: ${error instanceof Error ? error.message : String(error)}`);
      continue;
    }
    const { server, dataDir, embedder } = config;
    const inside = (service.ports ?? []).map((port) => Number(port.split(':').at(-1)));
    if (`${inside.join()}` !== `${server.httpPort},${server.grpcPort}` || inside.join() !== exposed.join())
      fault(`compose.yaml: ${name} publishes ${inside.join(', ')}; it serves ${server.httpPort}, ${server.grpcPort}`);
    if (dataDir !== folder) fault(`compose.yaml: ${name} keeps its data at ${dataDir}, not on its volume`);
    if (!stages.some((one) => one.instructions.some(({ text }) => text.includes(`"$MODEL" ${embedder.modelDir}`))))
      fault(`deploy/reprise.yaml: the model is looked for at ${embedder.modelDir}, where the image has none`);
    const graceMs = Number(/^(\d+)s$/.exec(service.stop_grace_period ?? '')?.[1] ?? 0) * 1_000;
    if (graceMs < server.drainMs + 5_000)
      fault(`compose.yaml: ${name} is killed after ${graceMs} ms, and may drain for ${server.drainMs} ms`);
    if (environment['REPRISE_NODE_ID'] !== name) fault(`compose.yaml: ${name} has another name as a node`);
    checkGridOf(deployment, name, config, fault);
  }
}

/** The node finds every member by one name, expects as many as there are, and is in their cluster. */
function checkGridOf(deployment: Deployment, name: string, { grid }: Config, fault: (line: string) => unknown): void {
  const members = deployment.built('member');
  const node = deployment.compose.services[name];
  if (grid.kind !== 'hazelcast' || node === undefined) return void fault(`compose.yaml: ${name} has a grid of its own`);
  const { hazelcast } = grid;
  if (hazelcast.membersExpected !== members.length)
    fault(`compose.yaml: ${name} expects ${hazelcast.membersExpected} members of ${members.length}`);
  for (const [member, service] of members) {
    const properties = propertiesOf(service);
    const { networks = {} } = service;
    const reach = Array.isArray(networks) ? [] : Object.entries(networks as Record<string, { aliases?: string[] }>);
    const isFound = hazelcast.members.some((address) => {
      const [host = '', port] = address.split(':');
      const named = reach.some(([net, { aliases = [] }]) => networksOf(node).includes(net) && aliases.includes(host));
      return named && port === properties['reprise.port'];
    });
    if (!isFound) fault(`compose.yaml: ${name} looks for members at ${hazelcast.members.join()}, not for ${member}`);
    if (properties['reprise.cluster'] !== hazelcast.clusterName)
      fault(`compose.yaml: ${name} is in the cluster ${hazelcast.clusterName}, and ${member} in another`);
  }
}

function propertiesOf({ environment = {} }: Service): Record<string, string> {
  const matches = (environment['JDK_JAVA_OPTIONS'] ?? '').matchAll(/-D([\w.]+)=(\S+)/g);
  return Object.fromEntries([...matches].map(([, name = '', value = '']) => [name, value]));
}

/** Members are told what their configuration asks for, find each other, and know their majority; only nodes reach them. */
function checkMembers(deployment: Deployment, fault: (line: string) => unknown): void {
  const { compose, texts } = deployment;
  const members = deployment.built('member');
  const names = members.map(([name]) => name);
  if (names.length !== 3) fault(`compose.yaml: there are ${names.length} members`);
  const yaml = texts['grid/hazelcast/member/hazelcast.yaml'].replaceAll(/^\s*#.*$/gm, '');
  const asked = new Set([...yaml.matchAll(/\$\{([\w.]+)(?::[^}]*)?\}/g)].map(([, name = '']) => name));
  const stage = deployment.stage('member');
  const exposed = stage === undefined ? '' : (lastNamed(stage, 'EXPOSE')?.text ?? '');
  for (const [name, service] of members) {
    const properties = propertiesOf(service);
    for (const property of Object.keys(properties)) {
      if (!asked.has(property)) fault(`compose.yaml: ${name} sets ${property}, which hazelcast.yaml doesn't use`);
    }
    for (const [, property = '', fallback] of yaml.matchAll(/\$\{([\w.]+)(:[^}]*)?\}/g)) {
      if (fallback === undefined && properties[property] === undefined)
        fault(`compose.yaml: ${name} doesn't set ${property}, which hazelcast.yaml needs`);
    }
    const joined = properties['reprise.members'];
    const all = names.map((one) => `${one}:${properties['reprise.port']}`).join();
    if (joined !== all) fault(`compose.yaml: ${name} joins ${joined}, not ${all}`);
    if (properties['reprise.port'] !== exposed) fault(`compose.yaml: ${name} doesn't listen on ${exposed}`);
    const majority = Math.floor(names.length / 2) + 1;
    if (Number(properties['reprise.majority']) !== majority)
      fault(`compose.yaml: ${name} takes ${properties['reprise.majority']} for a majority of ${names.length}`);
    const open = networksOf(service).filter((network) => compose.networks[network]?.internal !== true);
    if (open.length > 0 || service.ports !== undefined)
      fault(`compose.yaml: ${name} is reached from outside, and members ask nobody who they are`);
  }
}

interface PrometheusConfig {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly metrics_path: string;
    readonly static_configs: readonly { readonly targets: readonly string[] }[];
  }[];
}

/** Prometheus scrapes every node where it serves its metrics, and finds its rules where they are mounted. */
function checkPrometheus(deployment: Deployment, fault: (line: string) => unknown): void {
  const { compose, texts } = deployment;
  const { rule_files: rules, scrape_configs: jobs } = parse(
    texts['deploy/prometheus/prometheus.yml'],
  ) as PrometheusConfig;
  const { prometheus } = compose.services;
  const mounted = (prometheus?.volumes ?? []).map((volume) => volume.split(':')[1]);
  for (const path of rules) if (!mounted.includes(path)) fault(`prometheus.yml: ${path} is not mounted`);
  const flag = /--config\.file=([^\s,\]]+)/.exec(texts['compose.yaml'])?.[1];
  if (!mounted.includes(flag)) fault(`compose.yaml: Prometheus reads ${flag}, which is not mounted`);
  const targets = jobs.flatMap((job) => job.static_configs.flatMap((one) => one.targets));
  const nodes = deployment.built('node');
  for (const target of targets) {
    const [host = '', port] = target.split(':');
    const service = nodes.find(([name]) => name === host)?.[1];
    if (service === undefined) fault(`prometheus.yml: ${target} is no node`);
    else if (port !== service.ports?.[0]?.split(':').at(-1)) fault(`prometheus.yml: ${target} is not its HTTP port`);
    else if (!networksOf(service).some((network) => networksOf(prometheus ?? {}).includes(network)))
      fault(`prometheus.yml: ${target} is in no network of Prometheus`);
  }
  if (targets.length !== nodes.length) fault(`prometheus.yml: ${targets.length} of ${nodes.length} nodes are scraped`);
  if (jobs.some((job) => job.metrics_path !== '/metrics')) fault('prometheus.yml: metrics are at /metrics');
}

/** Alerts ask for series and labels that nodes have. */
function checkAlerts({ texts }: Deployment, fault: (line: string) => unknown): void {
  const text = texts['deploy/prometheus/alerts.yml'];
  const { groups } = parse(text) as { groups: { rules: { alert: string; expr: string }[] }[] };
  const metrics = METRICS as Readonly<Record<string, MetricDefinition>>;
  for (const { alert, expr } of groups.flatMap(({ rules }) => rules)) {
    const named = [...expr.matchAll(/\breprise_[a-z0-9_]+/g)].map(([name]) => name);
    const known = named.flatMap((name) => metrics[name.replace(/_(bucket|sum|count)$/, '')]?.labels ?? []);
    for (const name of named) {
      if (metrics[name] === undefined) fault(`alerts.yml: ${alert} asks for ${name}, which no node has`);
    }
    const labels = [...expr.matchAll(/([a-z_]+)=~?"/g)].map(([, label = '']) => label);
    const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
    for (const label of [...labels, ...grouped]) {
      if (![...known, 'job', 'instance'].includes(label)) fault(`alerts.yml: ${alert} asks for the label ${label}`);
    }
  }
}

const SECRET_NAME = /(KEYS?|TOKEN|PASSWORD|SECRET)\b/i;

/** No secret is written in: names that hold one have no value, and nothing looks like a key. */
function checkSecrets({ texts }: Deployment, fault: (line: string) => unknown): void {
  for (const [path, text] of Object.entries(texts)) {
    for (const [at, line] of text.split('\n').entries()) {
      if (line.trimStart().startsWith('#')) continue;
      const [, name = '', value = ''] = /^\s*(?:ENV |ARG )?(\w+)\s*[=:]\s*(.*)$/.exec(line) ?? [];
      const isSecret = SECRET_NAME.test(name) && value !== '' && !/^\$\{\w+(:-)?\}$/.test(value);
      const isKey = /(?<![\w+/])[A-Za-z0-9+/]{43}=/.test(line) || /\bsk-[\w-]{16,}/.test(line);
      if (isSecret || isKey) fault(`${path}:${at + 1} has a secret in it`);
    }
  }
}
