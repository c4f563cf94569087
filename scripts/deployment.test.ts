import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deploymentFaults, readDeployment, type DeploymentFile } from './lib/deployment.ts';
import { lastNamed, parseDockerfile, userOf, variablesOf } from './lib/dockerfile.ts';
import {
  hasProgram,
  ignoreRules,
  makeContext,
  mapped,
  runDockerfile,
  type DockerfileRun,
} from './lib/run-dockerfile.ts';
import { ROOT } from './lib/setup.mjs';

const texts = readDeployment(ROOT);
/** Packages and build take a minute on two free cores. */
const SET_UP_MS = 300_000;
const HAS_MAVEN = hasProgram('mvn');

describe('the deployment files', () => {
  it('fit each other, the configuration and the repository', () => {
    expect(deploymentFaults(ROOT, texts)).toEqual([]);
  });

  const PLANTED: readonly [file: DeploymentFile, from: string | RegExp, to: string, fault: string][] = [
    ['compose.yaml', 'REPRISE_DRAIN_MS:', 'REPRISE_DRAIN:', 'REPRISE_DRAIN is not known'],
    ['compose.yaml', "REPRISE_DRAIN_MS: '20000'", "REPRISE_DRAIN_MS: '28000'", 'killed after 30000 ms'],
    ['compose.yaml', '8081:8080', '8081:8081', 'node-2 publishes 8081'],
    ['compose.yaml', '127.0.0.1:8080:8080', '8080:8080', 'beyond loopback'],
    ['compose.yaml', 'members:5701', 'members:5702', 'looks for members at members:5702'],
    ['compose.yaml', 'aliases: [members]', 'aliases: [others]', 'looks for members at members:5701'],
    ['compose.yaml', 'internal: true', 'internal: false', 'reached from outside'],
    ['compose.yaml', 'reprise.majority=2', 'reprise.majority=1', 'takes 1 for a majority of 3'],
    ['compose.yaml', '-Dreprise.port=5701', '', "doesn't set reprise.port"],
    ['compose.yaml', ',member-3:5701', '', 'joins member-1:5701,member-2:5701, not'],
    ['compose.yaml', "EXPECTED: '3'", "EXPECTED: '4'", 'expects 4 members of 3'],
    ['compose.yaml', 'prometheus/alerts.yml:', 'prometheus/rules.yml:', "rules.yml, which isn't there"],
    ['compose.yaml', 'path: deploy/reprise.env', 'path: deploy/other.env', 'starts without deploy/reprise.env'],
    ['compose.yaml', 'required: true', 'required: false', 'starts without deploy/reprise.env'],
    ['compose.yaml', 'target: node', 'target: server', 'neither an image of a version nor a target'],
    ['compose.yaml', 'prometheus:v3.5.0', 'prometheus:latest', 'prometheus has neither an image of a version'],
    ['compose.yaml', 'member-3: { condition: service_healthy }', 'member-3: { condition: service_started }', 'healthy'],
    ['compose.yaml', 'NODE_OPTIONS:', `REPRISE_ADMIN_TOKEN: hunter2\n  NODE_OPTIONS:`, 'has a secret in it'],
    ['Dockerfile', 'COPY calibration calibration', 'COPY calibrations calibrations', "calibrations, which isn't there"],
    ['Dockerfile', 'dist/runtime/host/main.js', 'dist/runtime/host/server.js', "which the build doesn't make"],
    ['Dockerfile', '--from=model', '--from=models', 'no stage before it'],
    ['Dockerfile', 'EXPOSE 8080 50051', 'EXPOSE 8080 50052', 'it serves 8080, 50051'],
    ['Dockerfile', /^USER .*$/gm, '', "doesn't run as a user"],
    ['Dockerfile', 'NODE_ENV=production', 'NODE_ENV=development', 'NODE_ENV is not production'],
    ['Dockerfile', 'CMD ["node", "dist/runtime/host/main.js"]', 'CMD node dist/runtime/host/main.js', 'exec form'],
    ['deploy/reprise.yaml', 'dataDir: /var/lib/reprise', 'dataDir: /data', 'not on its volume'],
    ['deploy/reprise.yaml', 'host:', 'hots:', 'would not start'],
    ['deploy/reprise.env.example', 'REPRISE_API_KEYS=', 'REPRISE_APIKEYS=', 'REPRISE_APIKEYS is not known'],
    [
      'deploy/reprise.env.example',
      /^REPRISE_GRID_KEYS=$/gm,
      `REPRISE_GRID_KEYS=a:${'A'.repeat(43)}=`,
      'a secret in it',
    ],
    ['deploy/prometheus/prometheus.yml', 'node-2:8080', 'node-2:9090', 'node-2:9090 is not its HTTP port'],
    ['deploy/prometheus/prometheus.yml', 'node-2:8080', 'node-3:8080', 'node-3:8080 is no node'],
    ['deploy/prometheus/prometheus.yml', 'alerts.yml', 'rules.yml', '/etc/prometheus/rules.yml is not mounted'],
    [
      'deploy/prometheus/alerts.yml',
      'reprise_embedder_up ==',
      'reprise_embedder ==',
      'reprise_embedder, which no node',
    ],
    ['deploy/prometheus/alerts.yml', 'state="open"', 'status="open"', 'asks for the label status'],
  ];

  it.each(PLANTED)('%s: a planted fault is found (%s → %s)', (file, from, to, fault) => {
    const changed = texts[file].replaceAll(from, to);
    expect(changed).not.toBe(texts[file]);
    expect(deploymentFaults(ROOT, { ...texts, [file]: changed }).join('\n')).toContain(fault);
  });

  it('say what a node needs that nobody has filled in', () => {
    const example = texts['deploy/reprise.env.example'];
    for (const name of ['REPRISE_GRID_KEYS', 'REPRISE_API_KEYS', 'REPRISE_ADMIN_TOKEN']) {
      expect(example).toMatch(new RegExp(`^${name}=$`, 'mu'));
    }
    expect(readFileSync(join(ROOT, 'deploy/.gitignore'), 'utf8')).toContain('reprise.env\n');
  });

  it('keep secrets and tests out of the context', () => {
    const isWanted = ignoreRules(readFileSync(join(ROOT, '.dockerignore'), 'utf8'));
    expect(['runtime/errors.ts', 'deploy/reprise.yaml', 'package.json', '.npmrc'].every(isWanted)).toBe(true);
    const kept = ['deploy/reprise.env', '.git/config', 'node_modules/a/b.js', 'dist/a.js', 'runtime/a.test.ts', '.env'];
    expect(kept.filter(isWanted)).toEqual([]);
  });
});

describe('the steps of the Dockerfile, in a clean clone', () => {
  const stages = parseDockerfile(texts.Dockerfile);
  const node = stages.find(({ name }) => name === 'node')!;
  let folder = '';
  let done: DockerfileRun;
  let running: ChildProcess | undefined;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'reprise-image-'));
    chmodSync(folder, 0o755);
    const context = join(folder, 'context');
    makeContext(ROOT, context);
    done = runDockerfile(stages, {
      context,
      into: join(folder, 'stages'),
      args: { MODEL: 'none' },
      until: 'node',
      except: HAS_MAVEN ? [] : ['member-jar', 'member'],
    });
    const leftOut = ['the fetch of the embedding model (MODEL=none)', ...done.leftOut];
    if (!HAS_MAVEN) leftOut.push('the stages of the member (there is no Maven)');
    for (const line of leftOut) console.log(`Left out: ${line}`);
  }, SET_UP_MS);
  afterEach(async () => {
    if (running?.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

  it('leave in the image what runs, and neither sources nor tools', () => {
    const app = join(done.rootOf('node'), 'app');
    expect(readdirSync(app).sort()).toEqual(
      ['LICENSE', 'calibration', 'dist', 'models', 'node_modules', 'package.json', 'scripts'].sort(),
    );
    for (const name of ['typescript', 'vitest', 'vite'])
      expect(existsSync(join(app, 'node_modules', name))).toBe(false);
    expect(existsSync(join(app, 'node_modules', 'hazelcast-client'))).toBe(true);
    const platforms = join(app, 'node_modules', 'onnxruntime-node', 'bin', 'napi-v6');
    expect(readdirSync(join(platforms, 'linux'))).toEqual([process.arch]);
    for (const other of ['darwin', 'win32']) expect(readdirSync(join(platforms, other))).toEqual([]);
  });

  it.runIf(HAS_MAVEN)('put the jar of the member where its class path says', () => {
    const jars = readdirSync(join(done.rootOf('member'), 'opt/reprise/lib'));
    expect(jars.filter((name) => /^hazelcast-5\.\d+\.\d+\.jar$/u.test(name))).toHaveLength(1);
    expect(existsSync(join(done.rootOf('member'), 'opt/reprise/hazelcast.yaml'))).toBe(true);
  });

  it('give a node that serves as somebody else than root, is found healthy, and ends well at SIGTERM', async () => {
    const root = done.rootOf('node');
    const [uid = 0, gid = 0] = userOf(node).split(':').map(Number);
    const port = await freePort();
    const settings = join(root, 'etc/reprise/reprise.yaml');
    writeFileSync(`${settings}.mapped`, mapped(readFileSync(settings, 'utf8'), root));
    const user = process.getuid?.() === 0 ? { uid, gid } : {};
    chownSync(join(root, 'var/lib/reprise'), user.uid ?? process.getuid!(), user.gid ?? process.getgid!());
    const env = {
      PATH: process.env['PATH'],
      ...variablesOf(node, 'ENV'),
      REPRISE_CONFIG: `${settings}.mapped`,
      REPRISE_API_KEYS: 'secret:acme',
      REPRISE_HTTP_PORT: String(port),
      REPRISE_GRPC_PORT: '0',
    };
    const cwd = join(root, 'app');
    const [command = '', ...args] = lastNamed(node, 'CMD')?.words ?? [];
    running = spawn(command, args, { cwd, env, ...user, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [running.stdout, running.stderr]) stream?.on('data', (part) => (output += String(part)));
    const exited = once(running, 'exit') as Promise<[number | null, string | null]>;
    await until(async () => {
      if (running?.exitCode !== null) throw new Error(`it ended: ${output}`);
      return await fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
    const [check = '', ...checkArgs] = lastNamed(node, 'HEALTHCHECK')?.words ?? [];
    const healthy = await exitCode(spawn(check, checkArgs, { cwd, env, ...user, stdio: 'ignore' }));
    const elsewhere = { ...env, REPRISE_HTTP_PORT: String(await freePort()) };
    const unhealthy = await exitCode(spawn(check, checkArgs, { cwd, env: elsewhere, ...user, stdio: 'ignore' }));
    expect([healthy, unhealthy]).toEqual([0, 1]);
    const body = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] });
    const headers = { 'content-type': 'application/json', authorization: 'Bearer secret' };
    const url = `http://127.0.0.1:${port}/v1/chat/completions`;
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    running.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(output).toContain('Stopped.');
  }, 60_000);
});

function exitCode(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', resolve));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits for a condition, for half a minute. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  const endAtMs = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > endAtMs) throw new Error('it took too long');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
