import { afterEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { configuredModels } from './configured-models.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { SilentTelemetry, respondJson, startUpstream } from './testing/test-upstream.ts';
import type { TestUpstream } from './testing/test-upstream.ts';

let upstream: TestUpstream | undefined;
afterEach(() => upstream?.close());

function modelsOf(env: Record<string, string>) {
  return configuredModels(loadConfig({ env }), { clock: new ManualClock(), telemetry: new SilentTelemetry() });
}

describe('configuredModels', () => {
  it('is the demo model where nothing is configured', async () => {
    const models = modelsOf({});
    expect(models.resolve('anything', 'chat.completions')).toMatchObject({ upstream: 'demo' });
    expect(await models.list()).toEqual(['demo']);
  });

  it('leads to a configured upstream with its key', async () => {
    upstream = await startUpstream((_, response) => respondJson(response, { data: [{ id: 'theirs' }] }));
    const models = modelsOf({ REPRISE_UPSTREAM_URL: upstream.url, REPRISE_UPSTREAM_KEY: 'own' });
    expect(await models.list()).toEqual(['theirs']);
    expect(upstream.seen[0]?.headers.authorization).toBe('Bearer own');
    await models.close();
  });
});
