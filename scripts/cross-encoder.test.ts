import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SystemClock } from '../runtime/host/system-clock.ts';
import { tinyCrossEncoder, tinyTokenizer } from '../runtime/host/testing/tiny-onnx.ts';
import { openVerifier } from '../runtime/host/verifier/open-verifier.ts';
import { QuietTelemetry } from '../simulation/world/quiet-telemetry.ts';

const SCRIPT = fileURLToPath(new URL('./cross-encoder.mjs', import.meta.url));
const AT = `/someone/tiny/resolve/${'a'.repeat(40)}`;
const FILES: Readonly<Record<string, Uint8Array>> = {
  [`${AT}/onnx/model.onnx`]: tinyCrossEncoder(),
  [`${AT}/tokenizer.json`]: Buffer.from(JSON.stringify(tinyTokenizer(['same']))),
};

const dataDir = mkdtempSync(join(tmpdir(), 'reprise-encoder-'));
const server = createServer((request, response) => {
  const content = FILES[request.url ?? ''];
  response.statusCode = content === undefined ? 404 : 200;
  response.end(content);
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(dataDir, { recursive: true });
});

function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { ...process.env, REPRISE_MODEL_BASE_URL: base, REPRISE_DATA_DIR: dataDir };
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, ...args], { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

describe('scripts/cross-encoder.mjs', () => {
  it('fetches a model that a node can verify with', async () => {
    const { code, out } = await run('tiny', `someone/tiny@${'a'.repeat(40)}`);
    const modelDir = join(dataDir, 'models');
    expect([code, out.trim()]).toEqual([0, join(modelDir, 'tiny', 'model.onnx')]);
    const clock = new SystemClock();
    const config = { kind: 'cross-encoder', model: '', name: 'tiny', modelDir, windowTokens: 64, threads: 1 } as const;
    const verifier = await openVerifier(
      { ...config, executionProviders: ['cpu'] },
      { clock, telemetry: new QuietTelemetry(), models: noModels },
    );
    if ('missing' in verifier) throw new Error(verifier.missing);
    const deadlineAtMs = clock.monotonicMs() + 60_000;
    expect(await verifier.verify('same', 'same', { deadlineAtMs })).toBeGreaterThan(0.9);
    await verifier.close();
  });

  it('says why it has none', async () => {
    const { code, err } = await run('other', `someone/other@${'a'.repeat(40)}`);
    expect(code).toBe(1);
    expect(err).toContain('other could not be fetched: http:');
  });

  it.each([
    [['tiny']],
    [['tiny', 'someone/tiny']],
    [['tiny', 'someone/tiny@main']],
    [['../up', `a/b@${'a'.repeat(40)}`]],
  ])('takes no branch and no path: %j', async (args) => {
    const { code, err } = await run(...args);
    expect(code).toBe(2);
    expect(err).toContain('usage:');
  });
});

function noModels(): never {
  throw new Error('a cross-encoder asks no model');
}
