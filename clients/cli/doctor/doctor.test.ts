import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig, type Config, type SettingsInput } from '../../../runtime/config/index.ts';
import { RepriseError } from '../../../runtime/errors.ts';
import { TestEmbedder } from '../../../runtime/host/testing/test-embedder.ts';
import { EXIT } from '../exit.ts';
import { isReprise } from '../node-connection.ts';
import { packageInfo } from '../package-info.ts';
import { runCaptured } from '../testing/captured-terminal.ts';
import { startCliServer, type CliServer } from '../testing/cli-server.ts';
import { examine, findingsText } from './doctor.ts';
import { embeddingModelFindings } from './embedding-model.ts';
import { portFindings } from './ports.ts';
import { dataDirFinding, nodeFinding, testDataFinding } from './surroundings.ts';
import { upstreamFindings } from './upstreams.ts';

let cli: CliServer;
let folder: string;
const servers: Server[] = [];

beforeAll(async () => {
  cli = await startCliServer();
  folder = mkdtempSync(join(tmpdir(), 'reprise-doctor-'));
});
afterAll(async () => {
  await cli.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

function configOf(overrides: SettingsInput, env: Record<string, string> = {}): Config {
  return loadConfig({ file: false, env, cwd: folder, overrides });
}

async function listen(handler: RequestListener): Promise<number> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

describe('doctor on ports', () => {
  it('knows a running Reprise on both', async () => {
    const config = configOf({ server: { httpPort: cli.server.http.port, grpcPort: cli.server.grpc.port } });
    const findings = await portFindings(config, isReprise);
    expect(findings.map(({ state }) => state)).toEqual(['ok', 'ok']);
    expect(findings.every(({ detail }) => detail.includes('held by a Reprise'))).toBe(true);
  });

  it('fails on another program, naming the variable to change', async () => {
    const port = await listen((_request, response) => response.end('{"ready":true}'));
    const other = await listen((_request, response) => response.end());
    const [http, grpc] = await portFindings(configOf({ server: { httpPort: port, grpcPort: other } }), isReprise);
    expect(http).toMatchObject({ state: 'fail', advice: expect.stringContaining('REPRISE_HTTP_PORT') as string });
    expect(grpc).toMatchObject({ state: 'fail', advice: expect.stringContaining('REPRISE_GRPC_PORT') as string });
  });

  it('takes any free one', async () => {
    const findings = await portFindings(configOf({ server: { httpPort: 0, grpcPort: 0 } }), isReprise);
    expect(findings.map(({ state }) => state)).toEqual(['ok', 'ok']);
  });

  it('fails on an address that is none of ours', async () => {
    const server = { host: '203.0.113.1', allowOpen: true, httpPort: 40_001, grpcPort: 40_002 };
    const [http] = await portFindings(configOf({ server }), isReprise);
    expect(http).toMatchObject({ state: 'fail', detail: expect.stringContaining('EADDRNOTAVAIL') as string });
  });
});

describe('doctor on upstreams', () => {
  const judge = async (handler: RequestListener, env: Record<string, string> = {}, timeoutMs = 5_000) => {
    const port = await listen(handler);
    const config = configOf({}, { REPRISE_UPSTREAM_URL: `http://127.0.0.1:${port}`, ...env });
    const [finding] = await upstreamFindings(config, timeoutMs);
    return finding;
  };

  it('is content with one that lists its models for our credential', async () => {
    const seen: (string | undefined)[] = [];
    const handler: RequestListener = (request, response) => {
      seen.push(request.url, request.headers.authorization);
      response.end('{"data":[]}');
    };
    expect(await judge(handler, { REPRISE_UPSTREAM_KEY: 'upstream-key' })).toMatchObject({ state: 'ok' });
    expect(seen).toEqual(['/v1/models', 'Bearer upstream-key']);
  });

  it.each([
    [401, 'fail'],
    [403, 'fail'],
    [404, 'warn'],
    [500, 'warn'],
  ])('answering %d: %s, without the credential', async (status, state) => {
    const handler: RequestListener = (_request, response) => response.writeHead(status).end();
    const finding = await judge(handler, { REPRISE_UPSTREAM_KEY: 'upstream-key' });
    expect(finding).toMatchObject({ state, advice: expect.any(String) as string });
    expect(JSON.stringify(finding)).not.toContain('upstream-key');
  });

  it('fails on one that says nothing, or is not there', async () => {
    expect(await judge(() => undefined, {}, 50)).toMatchObject({
      state: 'fail',
      detail: expect.stringContaining('no answer in time') as string,
    });
    const [gone] = await upstreamFindings(configOf({}, { REPRISE_UPSTREAM_URL: 'http://127.0.0.1:1' }));
    expect(gone).toMatchObject({ state: 'fail', detail: expect.stringContaining('ECONNREFUSED') as string });
  });

  it('expects a refusal where callers bring their own credential', async () => {
    const port = await listen((_request, response) => response.writeHead(401).end());
    const upstreams = { own: { url: `http://127.0.0.1:${port}` } };
    const [finding] = await upstreamFindings(configOf({ identity: { mode: 'forward' }, upstreams }));
    expect(finding).toMatchObject({ state: 'ok' });
  });

  it('names the demo model where there is none', async () => {
    expect(await upstreamFindings(configOf({}))).toMatchObject([{ state: 'info' }]);
  });
});

describe('doctor on the embedding model', () => {
  const { root } = packageInfo();
  const embedder = { modelDir: '' };
  const works = () => Promise.resolve({ embedder: new MeaningfulEmbedder() });

  it('warns of missing files, and says how to get them', async () => {
    const config = configOf({ semantic: { embedder: { modelDir: join(folder, 'none') } } });
    const findings = await embeddingModelFindings(config, root, works);
    expect(findings).toMatchObject([{ state: 'warn', advice: expect.stringContaining('npm start') as string }]);
  });

  it('fails on files that are not the pinned ones', async () => {
    const modelDir = join(folder, 'broken');
    mkdirSync(join(modelDir, 'all-minilm-l6-v2-q'), { recursive: true });
    for (const file of ['model.onnx', 'tokenizer.json']) {
      writeFileSync(join(modelDir, 'all-minilm-l6-v2-q', file), 'cut');
    }
    const findings = await embeddingModelFindings(configOf({ semantic: { embedder: { modelDir } } }), root, works);
    expect(findings).toMatchObject([{ state: 'fail', detail: expect.stringContaining('SHA-256') as string }]);
  });

  it('tries one that nothing is pinned for', async () => {
    const config = configOf({ semantic: { embedder: { ...embedder, name: 'own-model' } } });
    expect(await embeddingModelFindings(config, root, works)).toMatchObject([{ state: 'ok' }]);
  });

  it('fails on one that makes no difference between texts', async () => {
    const config = configOf({ semantic: { embedder: { ...embedder, name: 'own-model' } } });
    const blind = new TestEmbedder();
    blind.next = (texts) => Promise.resolve(texts.map(() => blind.vectors(['same'])[0] ?? NO_EMBEDDING));
    const findings = await embeddingModelFindings(config, root, () => Promise.resolve({ embedder: blind }));
    expect(findings).toMatchObject([{ state: 'fail', detail: expect.stringContaining("can't tell") as string }]);
  });

  it('warns of one that does not load', async () => {
    const config = configOf({ semantic: { embedder: { ...embedder, name: 'own-model' } } });
    const findings = await embeddingModelFindings(config, root, () => Promise.resolve({ missing: "it isn't there" }));
    expect(findings).toMatchObject([{ state: 'warn', detail: "it isn't there" }]);
  });

  it('needs none where semantic matching is off', async () => {
    const findings = await embeddingModelFindings(configOf({ semantic: { mode: 'off' } }), root, works);
    expect(findings).toMatchObject([{ state: 'info' }]);
  });
});

describe('doctor on surroundings', () => {
  it('wants a Node.js that is new enough', () => {
    const info = packageInfo();
    expect(nodeFinding(info)).toMatchObject({ state: 'ok' });
    expect(nodeFinding(info, '18.19.0')).toMatchObject({ state: 'fail' });
  });

  it('wants a data folder that can be written, or made', async () => {
    expect(await dataDirFinding(folder)).toMatchObject({ state: 'ok' });
    expect(await dataDirFinding(join(folder, 'a', 'b'))).toMatchObject({ state: 'ok' });
    writeFileSync(join(folder, 'file'), '');
    expect(await dataDirFinding(join(folder, 'file'))).toMatchObject({ state: 'fail' });
  });

  it('warns of test data that is named and missing', () => {
    expect(testDataFinding(packageInfo(), join(folder, 'nowhere'))).toMatchObject([{ state: 'warn' }]);
    expect(testDataFinding(packageInfo(), folder)).toMatchObject([{ state: 'info', detail: folder }]);
  });
});

describe('doctor as a whole', () => {
  it('goes on without what a broken configuration hides', async () => {
    const findings = await examine({
      info: packageInfo(),
      loadConfig: () => {
        throw new RepriseError('config_invalid', 'server.port is not a known setting.');
      },
      testData: undefined,
      openEmbedder: () => Promise.resolve({ missing: 'not asked' }),
      isRepriseGrpc: () => Promise.resolve(false),
      onProgress: () => undefined,
    });
    expect(findings.find(({ name }) => name === 'configuration')).toMatchObject({ state: 'fail' });
    expect(findings.map(({ name }) => name)).toEqual(expect.arrayContaining(['Node.js', 'Java', 'Maven']));
    expect(findingsText(findings)).toMatch(/^fail +configuration +server\.port .*\n +→ /m);
  });

  it('exits with the code for what must be mended', async () => {
    const port = await listen((_request, response) => response.end());
    const file = join(folder, 'reprise.yaml');
    writeFileSync(file, `server: { httpPort: ${port}, grpcPort: 0 }\nsemantic: { mode: off }\ndataDir: ${folder}\n`);
    const run = await runCaptured(['doctor', '--config', file, '--json']);
    expect(run.code).toBe(EXIT.foundWrong);
    expect(run.json()).toMatchObject({ well: false });
    writeFileSync(file, `server: { httpPort: 0, grpcPort: 0 }\nsemantic: { mode: off }\ndataDir: ${folder}\n`);
    const well = await runCaptured(['doctor', '--config', file]);
    expect(well.code).toBe(EXIT.done);
  });
});

const NO_EMBEDDING = { vector: new Float32Array(16), tokenCount: 0, truncated: false };

/** Gives texts that share a word near vectors. */
class MeaningfulEmbedder extends TestEmbedder {
  override vectors(texts: readonly string[]) {
    return super.vectors(texts.map((text) => (text.includes('password') ? 'password' : text)));
  }
}
