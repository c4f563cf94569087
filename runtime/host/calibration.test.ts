import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { FEATURE_VERSION } from '../semantic/features.ts';
import { sampleCalibration } from '../semantic/testing/calibration.ts';
import { loadCalibration } from './calibration.ts';
import { startTestServer } from './testing/test-server.ts';
import { TestEmbedder } from './testing/test-embedder.ts';

const folder = mkdtempSync(join(tmpdir(), 'reprise-calibration-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function file(content: unknown, name = `calibration-${(files += 1)}.json`): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const load = (calibration: string, embedderId = 'e-1') =>
  loadCalibration(
    {
      calibration,
      shippedDir: folder,
      verifier: {} as never,
      nearMissLog: { path: '', bytesMax: 1, filesMax: 1 },
      automaticNamespaces: [],
    },
    embedderId,
  );

describe('loadCalibration', () => {
  it('takes the shipped one of the embedder in use', async () => {
    file(sampleCalibration('e-1'), 'e-1.json');
    expect(await load('auto')).toMatchObject({ detail: 'calibrated: default', calibration: { embedderId: 'e-1' } });
  });

  it('is off where none comes for the embedder, which is no fault', async () => {
    const loaded = await load('auto', 'e-unknown');
    expect(loaded).toEqual({ detail: 'no calibration comes with Reprise for e-unknown', isUnfit: false });
  });

  it('is off, with a warning, where the shipped one is for other features', async () => {
    file({ ...sampleCalibration('e-2'), featureVersion: FEATURE_VERSION + 1 }, 'e-2.json');
    const loaded = await load('auto', 'e-2');
    expect(loaded.calibration).toBeUndefined();
    expect(loaded.isUnfit).toBe(true);
    expect(loaded.detail).toContain(`features of version ${FEATURE_VERSION + 1}, but ${FEATURE_VERSION} is in use`);
  });

  it('is off when it is switched off', async () => {
    expect(await load('off')).toEqual({ detail: 'calibration off', isUnfit: false });
  });

  it.each([
    ['of another embedder', { ...sampleCalibration('other') }, 'for the embedder other, but e-1 is in use'],
    ['of other features', { ...sampleCalibration('e-1'), featureVersion: 1 }, 'for features of version 1, but'],
    ['that is not JSON', '{', 'is not JSON'],
    ['that lacks a field', { ...sampleCalibration('e-1'), domains: 1 }, 'calibration.domains'],
  ])('a configured one %s fails', async (_, content, message) => {
    const path = file(content);
    await expect(load(path)).rejects.toMatchObject({ code: 'config_invalid' });
    await expect(load(path)).rejects.toThrow(message);
    await expect(load(path)).rejects.toThrow(path);
  });

  it('a configured one that is not there fails', async () => {
    await expect(load(join(folder, 'none.json'))).rejects.toThrow("can't be read");
  });
});

describe('the calibrations that come with Reprise', () => {
  const { shippedDir } = loadConfig({ file: false, env: {} }).semantic;

  it.each(readdirSync(shippedDir))('%s fits the embedder of its name and the features of today', async (name) => {
    const embedderId = name.replace(/\.json$/u, '');
    const config = { ...loadConfig({ file: false, env: {} }).semantic, calibration: join(shippedDir, name) };
    expect((await loadCalibration(config, embedderId)).calibration?.embedderId).toBe(embedderId);
  });
});

describe('a node with a calibration', () => {
  const start = (semantic: object, more: object = {}) =>
    startTestServer(
      { semantic, upstreams: { test: { url: 'http://127.0.0.1:9' } }, ...more },
      { embedder: new TestEmbedder() },
    );
  const semanticDetail = async (server: Awaited<ReturnType<typeof start>>): Promise<string> => {
    const { parts } = server.assembly.node.service.readiness();
    await server.close();
    return parts.find((part) => part.name === 'semantic')?.detail ?? '';
  };

  it('serves by itself, and says so to /readyz and in a metric', async () => {
    const server = await start({ calibration: file(sampleCalibration('test-embedder')) });
    expect((await server.get('/metrics')).text).toContain('reprise_calibration_in_force 1');
    expect(await semanticDetail(server)).toBe('serve by test-embedder; calibrated: default');
  });

  it('observes by itself without one', async () => {
    const server = await start({});
    expect((await server.get('/metrics')).text).toContain('reprise_calibration_in_force 0');
    expect(await semanticDetail(server)).toContain('observe by test-embedder; no calibration comes with Reprise');
  });

  it('does not start with one of another embedder, and names both', async () => {
    const path = file(sampleCalibration('other-embedder'));
    await expect(start({ calibration: path })).rejects.toThrow(/other-embedder.*test-embedder/);
  });
});
