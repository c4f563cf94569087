import { describe, expect, it } from 'vitest';
import { clientSettings, embeddingEnvironment } from './client-settings.ts';
import { loadConfig } from './load.ts';

describe('clientSettings', () => {
  it('has nothing where nothing is set, or only white space', () => {
    expect(clientSettings({ REPRISE_ADDRESS: ' ' })).toEqual({});
  });

  it('prefers a key to the admin token, and hides both', () => {
    const both = clientSettings({ REPRISE_API_KEY: 'key', REPRISE_ADMIN_TOKEN: 'token' });
    expect(both.credential?.reveal()).toBe('key');
    expect(clientSettings({ REPRISE_ADMIN_TOKEN: 'token' }).credential?.reveal()).toBe('token');
    expect(JSON.stringify(both)).not.toContain('key');
  });

  it('reads variables that a node started beside it accepts', () => {
    const env = { REPRISE_ADDRESS: 'cache:50051', REPRISE_API_KEY: 'key', REPRISE_TEST_DATA: '/data' };
    expect(() => loadConfig({ file: false, env })).not.toThrow();
    expect(clientSettings(env)).toMatchObject({ address: 'cache:50051', testData: '/data' });
  });
});

describe('embeddingEnvironment', () => {
  it('leaves out what would lead to another upstream or tenant', () => {
    const env = embeddingEnvironment({
      REPRISE_DATA_DIR: '/d',
      REPRISE_UPSTREAM_URL: 'https://a',
      REPRISE_API_KEYS: 'k:t',
    });
    const config = loadConfig({ file: false, env });
    expect(config.dataDir).toBe('/d');
    expect(config.upstreams).toEqual({});
    expect(config.identity.mode).toBe('local');
  });
});
